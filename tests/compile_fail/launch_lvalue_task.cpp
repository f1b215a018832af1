// expect-error: a task is moved in
#include <tenure/coro.hpp>

namespace {

tenure::Task<int> answer() { co_return 42; }

[[maybe_unused]] void launch(const tenure::Scope& scope) {
  tenure::Task<int> task = answer();
#ifdef TENURE_CONTROL
  scope.launch(std::move(task));
#else
  scope.launch(task);
#endif
}

}  // namespace
