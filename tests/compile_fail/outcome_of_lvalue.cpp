// expect-error: what is awaited is moved in
#include <tenure/coro.hpp>

namespace {

tenure::Task<int> answer() { co_return 42; }

tenure::Task<bool> look() {
  tenure::Task<int> task = answer();
#ifdef TENURE_CONTROL
  tenure::Outcome<int> outcome = co_await tenure::as_outcome(std::move(task));
#else
  tenure::Outcome<int> outcome = co_await tenure::as_outcome(task);
#endif
  co_return outcome.has_value();
}
[[maybe_unused]] auto* const kUsed = &look;

}  // namespace
