// expect-error: no member named 'await_ready'|discards qualifiers
#include <tenure/coro.hpp>

namespace {

tenure::Task<int> answer() { co_return 42; }

tenure::Task<int> twice() {
  tenure::Task<int> task = answer();
#ifdef TENURE_CONTROL
  co_return co_await std::move(task);
#else
  co_return co_await task;
#endif
}
[[maybe_unused]] auto* const kUsed = &twice;

}  // namespace
