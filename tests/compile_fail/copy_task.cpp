// expect-error: deleted|call to implicitly-deleted copy constructor|use of deleted function
#include <tenure/coro.hpp>

namespace {

tenure::Task<int> answer() { co_return 42; }

[[maybe_unused]] void copy() {
  tenure::Task<int> task = answer();
#ifdef TENURE_CONTROL
  const tenure::Task<int> other = std::move(task);
#else
  const tenure::Task<int> other = task;
#endif
}

}  // namespace
