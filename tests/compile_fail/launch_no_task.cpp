// expect-error: the callable must return a Task
#include <tenure/coro.hpp>

namespace {

[[maybe_unused]] void launch(const tenure::Scope& scope) {
#ifdef TENURE_CONTROL
  auto body = []() -> tenure::Task<int> { co_return 1; };
#else
  auto body = [] { return 1; };
#endif
  scope.launch(body);
}

}  // namespace
