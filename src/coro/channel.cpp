#include <tenure/coro/channel.hpp>

namespace tenure::detail {

void throw_channel_closed(const std::exception_ptr& cause) {
  throw Error(ErrorCode::kClosed, "the channel is closed", cause);
}

}  // namespace tenure::detail
