// expect-error: deleted
#include <tenure/coro.hpp>

namespace {

[[maybe_unused]] void copy(tenure::Deferred<int>& deferred) {
#ifdef TENURE_CONTROL
  const tenure::Deferred<int> other = std::move(deferred);
#else
  const tenure::Deferred<int> other = deferred;
#endif
}

}  // namespace
