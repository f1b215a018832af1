#include <tenure/coro/completable_deferred.hpp>

#include "coro/post_batch.hpp"

namespace tenure::detail {

void PromiseStateBase::unref_completer() noexcept {
  // acq_rel: the last one must see a completion by any other before it decides that there was none.
  if (completers_.fetch_sub(1, std::memory_order_acq_rel) != 1 || is_done()) return;
  try {
    fail(std::make_exception_ptr(Error(ErrorCode::kAborted, "nobody is left who could complete what was waited for")));
  } catch (...) {
    fail(std::current_exception());
  }
}

bool PromiseStateBase::fail(std::exception_ptr error) noexcept {
  return finish([&] { error_ = std::move(error); });
}

Handle PromiseStateBase::park(Waiter& waiter, PromiseBase& leaf) noexcept {
  JobNode& job = *leaf.job;
  lock_.lock();
  if (job.is_cancelled()) {
    lock_.unlock();
    return unwind(leaf);
  }
  if (is_done_) {
    lock_.unlock();
    if (!job.spend_budget()) return handle_of(leaf);
    job.post_behind(leaf, JobNode::Step::kResumeAlways);
    return std::noop_coroutine();
  }
  waiter.job = &job;
  waiters_.push(waiter);
  const bool is_armed = job.arm(leaf);
  if (!is_armed) waiters_.remove(waiter);
  lock_.unlock();
  return is_armed ? std::noop_coroutine() : unwind(leaf);
}

void PromiseStateBase::take_waiters(WaitList& woken) noexcept {
  while (Waiter* waiter = waiters_.pop()) {
    // Claimed here, under the lock that an awaiter's destructor takes: its frame stays until it is posted.
    if (waiter->job->claim()) woken.push(*waiter);
  }
}

void PromiseStateBase::post(WaitList& woken) noexcept {
  PostBatch batch;
  while (Waiter* waiter = woken.pop()) batch.add(*waiter->job);
}

}  // namespace tenure::detail
