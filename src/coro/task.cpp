#include <tenure/coro/task.hpp>

namespace tenure {
namespace {

constinit thread_local detail::Unwinding* t_unwinding = nullptr;

// Not inlined: the address of a thread-local must not be kept over a suspension that changes threads.
[[gnu::noinline]] detail::Unwinding*& innermost() noexcept { return t_unwinding; }

}  // namespace

bool is_unwinding() noexcept {
  const detail::Unwinding* unwinding = innermost();
  return unwinding != nullptr && unwinding->job != nullptr;
}

namespace detail {

const Unwinding* current_unwinding() noexcept { return innermost(); }
UnwindingMark::UnwindingMark(JobNode* job) noexcept : unwinding_{job, innermost()} { innermost() = &unwinding_; }
UnwindingMark::~UnwindingMark() { innermost() = unwinding_.outer; }

Handle unwind(PromiseBase& leaf) noexcept {
  PromiseBase* frame = &leaf;
  while (true) {
    Link& link = *frame->link;  // in the parent's frame or in a job: it outlives the child's frame
    link.child = nullptr;       // the parent's awaiter must not destroy it again
    {
      const UnwindingMark mark(frame->job);
      handle_of(*frame).destroy();
    }
    if (link.on_end != nullptr) return link.on_end(link, End::kCancelled);
    frame = link.parent;
  }
}

}  // namespace detail
}  // namespace tenure
