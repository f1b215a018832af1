// How a cancel goes down the tree.
#include <tenure/coro/job_node.hpp>
#include <thread>

#include "coro/post_batch.hpp"

namespace tenure::detail {

/// One cancel on its way down: a list of the jobs it has won, linked through them. It allocates nothing, and holds a
/// parent's lock for some children at a time only, so that children which complete get it too.
class CancelWalk {
 public:
  explicit CancelWalk(const std::exception_ptr& cause) noexcept : cause_(cause) {}

  /// Takes `job` if no other cancel has: exactly one cancel wins each job.
  void take(JobNode& job) noexcept {
    if (job.has(kCompletedFlag)) return;  // its end stands
    std::uint32_t word = job.wait_word_.load(std::memory_order_relaxed);
    do {
      if ((word & JobNode::kCancelledBit) != 0) return;
      // seq_cst: against add_listener(), which links first and then looks at this word (one of the two sees the other).
    } while (!job.wait_word_.compare_exchange_weak(word, (word | JobNode::kCancelledBit) & ~JobNode::kArmedBit,
                                                   std::memory_order_seq_cst, std::memory_order_relaxed));
    job.ref();
    job.taken_by_walk_ = (word & JobNode::kArmedBit) != 0;
    if (cause_ != nullptr || job.has(kBodyDone)) note(job);
    JobNode*& list = job.has(kResource) ? won_resources_ : won_;
    job.next_in_walk_ = list;
    list = &job;
  }

  /// Resources come last: who uses one is cancelled by then, and is unwound instead of hearing that it was closed.
  void run() noexcept {
    run(won_);
    run(won_resources_);
  }

  /// The confined dispatcher of the calling thread, where a job that was won belongs to it.
  [[nodiscard]] Dispatcher* here() const noexcept { return here_; }
  [[nodiscard]] bool has_won_children() const noexcept { return has_won_children_; }

 private:
  static constexpr int kSlice = 64;

  void run(JobNode*& list) noexcept {
    while (JobNode* job = list) {
      list = job->next_in_walk_;
      if (job->listeners_.load(std::memory_order_seq_cst) != nullptr) job->call_listeners();
      if (job->dispatcher_->is_here()) here_ = job->dispatcher_;
      if (job->taken_by_walk_) {
        job->step_ = JobNode::Step::kUnwind;
        batch_.add(*job);
      }
      take_children(*job);
      if (batch_.size() >= kSlice) batch_.flush();
      job->unref();
    }
    batch_.flush();
  }

  void note(JobNode& job) const noexcept {
    const LockGuard guard(job.lock_);
    if (job.has(kSealed)) return;                          // it came to its end first
    if (job.has(kBodyDone)) job.set_flag(kBodyCancelled);  // it waits for children that are now cut short
    if (cause_ != nullptr && !job.has(kFailedFlag)) job.error_ = cause_;
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
        if (child.has(kShielded)) continue;
        take(child);
        has_won_children_ = true;
      }
      is_done = job.cancel_cursor_ == nullptr;
    }
  }

  const std::exception_ptr& cause_;
  JobNode* won_ = nullptr;
  JobNode* won_resources_ = nullptr;
  Dispatcher* here_ = nullptr;
  bool has_won_children_ = false;
  PostBatch batch_;
};

namespace {

constinit thread_local int t_walks = 0;  // of this thread, one in the other: a listener may cancel

/// A walk while it posts. One that is on its way on another thread may not have posted yet what must be gone here.
class WalkInProgress {
 public:
  explicit WalkInProgress(JobTree& tree) noexcept : tree_(tree) {
    ++t_walks;
    tree_.walks.fetch_add(1, std::memory_order_relaxed);
  }
  WalkInProgress(const WalkInProgress&) = delete;
  WalkInProgress& operator=(const WalkInProgress&) = delete;
  ~WalkInProgress() {
    // release: who sees that no walk is left sees what it posted.
    tree_.walks.fetch_sub(1, std::memory_order_release);
    --t_walks;
  }

 private:
  JobTree& tree_;
};

/// Waits until no walk is on its way. Not from inside one: two threads would wait for each other.
void await_other_walks(JobTree& tree) noexcept {
  while (t_walks == 0 && tree.walks.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace

void JobNode::cancel(const std::exception_ptr& cause) noexcept {
  if (has(kCompletedFlag) || tree_->is_inert()) return;  // a handle may outlive the tree of a completed job
  const bool was_cancelled = is_cancelled();
  Dispatcher* here = dispatcher_->is_here() ? dispatcher_ : nullptr;
  {
    const WalkInProgress in_progress(*tree_);
    CancelWalk walk(cause);
    walk.take(*this);
    walk.run();
    if (walk.here() != nullptr) here = walk.here();
  }
  if (here == nullptr) return;
  // Where another thread's cancel came first, what it posts must be gone from here when we return (I8).
  if (was_cancelled) await_other_walks(*tree_);
  run_unwinding(*here);
}

void JobNode::cancel_children_of_failed() noexcept {
  const std::exception_ptr no_cause;  // its own error stands for it
  Dispatcher* here = nullptr;
  {
    const WalkInProgress in_progress(*tree_);
    CancelWalk walk(no_cause);
    walk.take(*this);
    walk.run();
    // Called by this job or by a child of it, so where it has no other children nothing of it waits to be unwound.
    if (walk.has_won_children()) here = walk.here();
  }
  if (here != nullptr) run_unwinding(*here);
}

void JobNode::run_unwinding(Dispatcher& here) noexcept {
  // From inside an unwinding of our own subtree: the caller's frame is one of those that are to go, and whoever began
  // goes on with the others. To do it here would recurse, once for each sibling whose destructor cancels. From inside
  // another unwinding only our own subtree goes, for the same reason.
  const Unwinding* const innermost = current_unwinding();
  for (const Unwinding* outer = innermost; outer != nullptr; outer = outer->outer) {
    if (outer->job != nullptr && is_ancestor_of(*outer->job)) return;
  }
  here.run_unwinding(innermost == nullptr ? nullptr : this);
}

namespace {
// In CancelListener::calling_, beside the number of the thread that calls.
constexpr std::uint32_t kSomeoneWaits = 1U << 31U;
}  // namespace

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
      listener->calling_.store(os::thread_number(),
                               std::memory_order_relaxed);  // read under this lock, or by this thread
    }
    bool removed_inside = false;
    listener->removed_inside_ = &removed_inside;
    listener->on_cancel();
    if (removed_inside) continue;  // it may be gone
    // release: who waits in remove_listener() sees all that the call wrote. After this the address is only a key, and a
    // call of the system for each listener would be most of what a cancel costs.
    const std::uint32_t caller = listener->calling_.exchange(0, std::memory_order_release);
    if ((caller & kSomeoneWaits) != 0) os::futex_wake_all(listener->calling_);
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
    const std::uint32_t waited_for = caller | kSomeoneWaits;
    if (caller == waited_for ||
        listener.calling_.compare_exchange_strong(caller, waited_for, std::memory_order_acquire)) {
      os::futex_wait(listener.calling_, waited_for);
      caller = listener.calling_.load(std::memory_order_acquire);
    }
  }
}

}  // namespace tenure::detail
