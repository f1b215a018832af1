// A job as a dispatcher sees it: what its next step is.
#include <tenure/coro/job_node.hpp>

namespace tenure::detail {

bool JobNode::claim() noexcept {
  std::uint32_t word = wait_word_.load(std::memory_order_relaxed);
  while (true) {
    const std::uint32_t armed = word & (kFirmBit | kArmedBit);
    if (armed == 0) return false;
    // acquire: the claimer must see the leaf and the step that arm() wrote; release: what the claimer wrote before, the
    // resumed coroutine sees through the dispatcher's queue, and a concurrent cancel sees that it came too late.
    if (wait_word_.compare_exchange_weak(word, word & ~armed, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return true;
    }
  }
}

void JobNode::post_behind(PromiseBase& leaf, Step step) noexcept {
  leaf_ = &leaf;
  step_ = step;
  dispatcher_->post_behind(*this);
}

void JobNode::run() noexcept {
  budget_ = 0;
  switch (step_) {
    case Step::kStart:
      if (!is_cancelled()) {
        start();
        return;
      }
      drop_unstarted();
      set_flag(kBodyCancelled);
      finish_body();
      return;
    case Step::kResume:
      // A cancel between the claim and here still takes it: what was handed over goes to `on_undelivered`.
      (is_cancelled() ? unwind(*leaf_) : handle_of(*leaf_)).resume();
      return;
    case Step::kResumeAlways: handle_of(*leaf_).resume(); return;
    case Step::kUnwind: unwind(*leaf_).resume(); return;
    case Step::kScopeDone: resume_parent().resume(); return;
    case Step::kEpilogue: run_epilogue(); return;
  }
}

bool JobNode::is_unwinding() const noexcept {
  switch (step_) {
    case Step::kUnwind: return true;
    case Step::kStart:
    case Step::kResume: return is_cancelled();
    case Step::kScopeDone: return unwinds_parent();
    case Step::kResumeAlways:
    case Step::kEpilogue:  // a member of kept state may end its own owner: the state goes in a later turn
      return false;
  }
  return false;
}

bool JobNode::unwinds_parent() const noexcept {
  return has(kBodyCancelled) && !has(kFailedFlag) && !has(kShielded) && parent_job_->is_cancelled();
}

Handle JobNode::resume_parent() noexcept { return unwinds_parent() ? unwind(*Link::parent) : handle_of(*Link::parent); }

}  // namespace tenure::detail
