#include <tenure/coro/task.hpp>

namespace tenure {
namespace {

constinit thread_local int t_unwinding_depth = 0;

// Not inlined: the address of a thread-local must not be kept over a suspension that changes threads.
[[gnu::noinline]] int& unwinding_depth() noexcept { return t_unwinding_depth; }

}  // namespace

bool is_unwinding() noexcept { return unwinding_depth() > 0; }

namespace detail {

Handle unwind(PromiseBase& leaf) noexcept {
  PromiseBase* frame = &leaf;
  while (true) {
    Link& link = *frame->link;  // in the parent's frame or in a job: it outlives the child's frame
    link.child = nullptr;       // the parent's awaiter must not destroy it again
    ++unwinding_depth();
    handle_of(*frame).destroy();
    --unwinding_depth();
    if (link.on_end != nullptr) return link.on_end(link, End::kCancelled);
    frame = link.parent;
  }
}

}  // namespace detail
}  // namespace tenure
