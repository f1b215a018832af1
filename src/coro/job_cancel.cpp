// How a cancel goes down the tree.
#include <tenure/coro/job_node.hpp>

#include "coro/post_batch.hpp"

namespace tenure::detail {

/// One cancel on its way down: a list of the jobs it has won, linked through them. It allocates nothing, and holds a
/// parent's lock for some children at a time only, so that children which complete get it too.
class CancelWalk {
 public:
  explicit CancelWalk(const std::exception_ptr& cause) noexcept : cause_(cause) {}

  /// Takes `job` if no other cancel has: exactly one cancel wins each job.
  void take(JobNode& job) noexcept {
    std::uint32_t word = job.wait_word_.load(std::memory_order_relaxed);
    do {
      if ((word & JobNode::kCancelledBit) != 0) return;
      // seq_cst: against add_listener(), which links first and then looks at this word (one of the two sees the other).
    } while (!job.wait_word_.compare_exchange_weak(word, (word | JobNode::kCancelledBit) & ~JobNode::kArmedBit,
                                                   std::memory_order_seq_cst, std::memory_order_relaxed));
    job.ref();
    if (job.has(kBodyDone)) job.set_flag(kBodyCancelled);  // it waits for children that are now cut short
    job.taken_by_walk_ = (word & JobNode::kArmedBit) != 0;
    if (cause_ != nullptr) note_cause(job);
    job.next_in_walk_ = won_;
    won_ = &job;
  }

  void run() noexcept {
    Dispatcher* here = nullptr;
    while (JobNode* job = won_) {
      won_ = job->next_in_walk_;
      if (job->listeners_.load(std::memory_order_seq_cst) != nullptr) job->call_listeners();
      if (job->dispatcher_->is_here()) here = job->dispatcher_;
      if (job->taken_by_walk_) {
        job->step_ = JobNode::Step::kUnwind;
        batch_.add(*job);
      }
      take_children(*job);
      if (batch_.size() >= kSlice) batch_.flush();
      job->unref();
    }
    batch_.flush();
    if (here != nullptr) here->run_unwinding();
  }

 private:
  static constexpr int kSlice = 64;

  void note_cause(JobNode& job) const noexcept {
    const LockGuard guard(job.lock_);
    if (!job.has(kFailedFlag)) job.error_ = cause_;
  }

  void take_children(JobNode& job) noexcept {
    {
      const LockGuard guard(job.lock_);
      job.cancel_cursor_ = job.first_child_;
    }
    bool is_done = false;
    while (!is_done) {
      const LockGuard guard(job.lock_);
      for (int taken = 0; job.cancel_cursor_ != nullptr && taken < kSlice; ++taken) {
        JobNode& child = *job.cancel_cursor_;
        job.cancel_cursor_ = child.next_sibling_;
        if (!child.has(kShielded)) take(child);
      }
      is_done = job.cancel_cursor_ == nullptr;
    }
  }

  const std::exception_ptr& cause_;
  JobNode* won_ = nullptr;
  PostBatch batch_;
};

void JobNode::cancel(const std::exception_ptr& cause) noexcept {
  CancelWalk walk(cause);
  walk.take(*this);
  walk.run();
}

void JobNode::call_listeners() noexcept {
  while (true) {
    CancelListener* listener = nullptr;
    {
      const LockGuard guard(lock_);
      listener = listeners_.load(std::memory_order_relaxed);
      if (listener == nullptr) return;
      listeners_.store(listener->next_, std::memory_order_relaxed);
      if (listener->next_ != nullptr) listener->next_->previous_ = nullptr;
      listener->linked_ = false;
      listener->calling_.store(os::thread_number(), std::memory_order_relaxed);  // read under this lock, or by this thread
    }
    bool removed_inside = false;
    listener->removed_inside_ = &removed_inside;
    listener->on_cancel();
    if (removed_inside) continue;  // it may be gone
    // release: who waits in remove_listener() sees all that the call wrote. After this the address is only a key.
    listener->calling_.store(0, std::memory_order_release);
    os::futex_wake_all(listener->calling_);
  }
}

void JobNode::add_listener(CancelListener& listener) noexcept {
  {
    const LockGuard guard(lock_);
    CancelListener* first = listeners_.load(std::memory_order_relaxed);
    listener.next_ = first;
    listener.previous_ = nullptr;
    if (first != nullptr) first->previous_ = &listener;
    listener.linked_ = true;
    // seq_cst: see CancelWalk::take().
    listeners_.store(&listener, std::memory_order_seq_cst);
  }
  if ((wait_word_.load(std::memory_order_seq_cst) & kCancelledBit) == 0) return;
  {
    const LockGuard guard(lock_);
    if (!listener.linked_) return;  // the walk has come by
    unlink_listener(listener);
  }
  listener.on_cancel();
}

void JobNode::unlink_listener(CancelListener& listener) noexcept {
  if (listener.previous_ == nullptr) {
    listeners_.store(listener.next_, std::memory_order_relaxed);
  } else {
    listener.previous_->next_ = listener.next_;
  }
  if (listener.next_ != nullptr) listener.next_->previous_ = listener.previous_;
  listener.linked_ = false;
}

void JobNode::remove_listener(CancelListener& listener) noexcept {
  {
    const LockGuard guard(lock_);
    if (listener.linked_) {
      unlink_listener(listener);
      return;
    }
  }
  std::uint32_t caller = listener.calling_.load(std::memory_order_acquire);
  if (caller == os::thread_number()) {
    *listener.removed_inside_ = true;
    return;
  }
  while (caller != 0) {
    os::futex_wait(listener.calling_, caller);
    caller = listener.calling_.load(std::memory_order_acquire);
  }
}

}  // namespace tenure::detail
