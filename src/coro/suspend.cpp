#include <tenure/coro/suspend.hpp>

namespace tenure {
namespace {
Atomic<std::uint64_t> g_late_resumes{0};  // a count for people; orders nothing
}

std::uint64_t late_resumes() noexcept { return g_late_resumes.load(std::memory_order_relaxed); }

namespace detail {

void count_late_resume() noexcept { g_late_resumes.fetch_add(1, std::memory_order_relaxed); }

Handle SuspensionBase::park(PromiseBase& leaf, bool is_firm) noexcept {
  JobNode& job = *leaf.job;
  job_ = &job;
  // Before the frame can be taken: from then on the canceller, and nobody later, tells the other side.
  job.add_listener(*this);
  lock_.lock();
  if (state_ == State::kDone) {
    lock_.unlock();
    return handle_of(leaf);
  }
  is_parked_ = true;
  bool is_armed = true;
  if (is_firm) {
    job.arm_firm(leaf);
  } else {
    is_armed = job.arm(leaf);
  }
  if (!is_armed) is_parked_ = false;
  lock_.unlock();  // this object is counted by the frame: where the frame is gone, it may be too
  return is_armed ? std::noop_coroutine() : unwind(leaf);
}

bool SuspensionBase::begin_resume() noexcept {
  if (state_ != State::kOpen) return false;
  // A cancel that took the frame first has won.
  if (is_parked_ && !job_->claim()) return false;
  state_ = State::kDone;
  return true;
}

void SuspensionBase::wake() noexcept {
  bool is_parked = false;
  {
    const LockGuard guard(lock_);
    is_parked = is_parked_;
  }
  if (is_parked) job_->post();
}

void SuspensionBase::abandon() noexcept {
  if (job_ != nullptr) job_->remove_listener(*this);
  UniqueFunction<void()> dropped;  // its captures end outside the lock
  const LockGuard guard(lock_);
  if (state_ == State::kOpen) state_ = State::kAbandoned;
  dropped = std::move(on_cancel_);
}

void SuspensionBase::set_on_cancel(UniqueFunction<void()> handler) noexcept {
  {
    const LockGuard guard(lock_);
    if (!was_cancelled_ || state_ == State::kDone) {
      std::swap(on_cancel_, handler);
      return;
    }
  }
  if (handler) handler();  // the cancel has come by already
}

void SuspensionBase::on_cancel() noexcept {
  UniqueFunction<void()> handler;
  {
    const LockGuard guard(lock_);
    if (state_ != State::kOpen) return;
    was_cancelled_ = true;
    handler = std::move(on_cancel_);
  }
  if (handler) handler();
}

}  // namespace detail
}  // namespace tenure
