#include <tenure/coro/mutex.hpp>

namespace tenure {

bool Mutex::try_lock() noexcept {
  const LockGuard guard(lock_);
  if (is_held_) return false;
  is_held_ = true;
  return true;
}

void Mutex::unlock() noexcept {
  detail::JobNode* next = nullptr;
  {
    const LockGuard guard(lock_);
    while (detail::Waiter* waiter = waiters_.pop()) {
      if (!waiter->job->claim()) continue;
      static_cast<detail::MutexAwaiter*>(waiter)->owns_ = true;
      next = waiter->job;
      break;
    }
    if (next == nullptr) is_held_ = false;
  }
  if (next != nullptr) next->post();
}

namespace detail {

MutexAwaiter::~MutexAwaiter() {
  if (job != nullptr) {
    const LockGuard guard(mutex_.lock_);
    if (linked) mutex_.waiters_.remove(*this);
  }
  if (owns_) mutex_.unlock();  // handed over, but this frame was cancelled before it saw that
}

Handle MutexAwaiter::park(PromiseBase& leaf) noexcept {
  JobNode& me = *leaf.job;
  if (me.is_cancelled()) return unwind(leaf);
  bool is_cancelled = false;
  {
    const LockGuard guard(mutex_.lock_);
    if (mutex_.is_held_) {
      job = &me;
      mutex_.waiters_.push(*this);
      if (me.arm(leaf)) return std::noop_coroutine();  // this frame may be running elsewhere, or gone
      mutex_.waiters_.remove(*this);
      is_cancelled = true;
    } else {
      mutex_.is_held_ = true;
      owns_ = true;
    }
  }
  if (is_cancelled) return unwind(leaf);
  if (!me.spend_budget()) return handle_of(leaf);
  me.post_behind(leaf, JobNode::Step::kResumeAlways);
  return std::noop_coroutine();
}

}  // namespace detail
}  // namespace tenure
