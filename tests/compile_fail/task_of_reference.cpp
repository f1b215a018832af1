// expect-error: a task.s result is a value
#include <tenure/coro.hpp>

namespace {

#ifdef TENURE_CONTROL
using Result = int;
#else
using Result = int&;
#endif
tenure::Task<Result> answer(Result value) { co_return value; }
[[maybe_unused]] auto* const kUsed = &answer;

}  // namespace
