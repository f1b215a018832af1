// The end of a session: closing, draining, and the release in order, from every path.
#include <tenure/base/check.hpp>

#include "session/session_core.hpp"
#include "session/session_job.hpp"

namespace tenure::detail {

void SessionCore::close() noexcept {
  Answers answers;
  bool was_loading = false;
  {
    const std::exception_ptr closed = error(ErrorCode::kClosed, "it was closed");
    const LockGuard guard(lock_);
    was_loading = state_ == SessionState::kLoading;
    if (!was_loading && !is_open()) return;
    move_to(SessionState::kClosing);
    if (was_loading) load_stop_.request();
    drop_waiting(closed, answers);
    stop_running(closed, answers);
    wake_all();
  }
  if (was_loading) loaded_.fail(error(ErrorCode::kClosed, "it was closed while it loaded"));
#if defined(TENURE_MUTATION_SKIP_JOIN)
  if (!was_loading) release_instance();
#endif
}

void SessionCore::drain() noexcept {
  {
    const LockGuard guard(lock_);
    if (state_ == SessionState::kReady) {
      move_to(SessionState::kDraining);
      wake_all();
      return;
    }
    if (state_ != SessionState::kLoading) return;
  }
  close();  // nothing has been accepted yet
}

void SessionCore::drop_waiting(const std::exception_ptr& error, Answers& answers) noexcept {
  while (Request* request = intake_.pop()) drop(*request, error, answers);
}

void SessionCore::stop_running(const std::exception_ptr& error, Answers& answers) noexcept {
  for (const auto& lane : lanes_) {
    Request* request = lane->call_.request;
    if (!lane->call_.is_active || request == nullptr || request->is_cancelled) continue;
    request->is_cancelled = true;
    request->cancelled_at = host_.timers().now();
    request->stop.request();
    // One that lends its tensors waits until native code has let go (I16).
    if (!request->is_borrowing) answer(*request, error, answers.add(*request, Because::kClosed));
  }
}

void SessionCore::fail(const std::exception_ptr& error) noexcept {
  Answers answers;
  const LockGuard guard(lock_);  // ends before the answers, which are sent with no lock held
  if (!is_open()) return;
  move_to(SessionState::kFailed);
  drop_waiting(error, answers);
  wake_all();
}

bool SessionCore::wake_one() noexcept {
  if (waiting_lanes_ == 0) return false;
  --waiting_lanes_;
  ++wake_ups_;
  host_.lane_got_work();
  return true;
}

void SessionCore::wake_all() noexcept {
  while (wake_one()) {
  }
  work_.notify_all();
}

void SessionCore::lane_ended(Lane& lane) noexcept {
  {
    const LockGuard guard(lock_);
    const bool is_last = --open_lanes_ == 0;
    if (lane.is_primary() && !is_last) host_.lane_waits();
    if (!lane.is_primary() && is_last) host_.lane_got_work();  // the primary lane's, which waits below
  }
  if (!lane.is_primary()) {
    lanes_ended_.notify_all();
    return;
  }
  while (true) {
    const std::uint32_t ticket = lanes_ended_.ticket();
    {
      const LockGuard guard(lock_);
      if (open_lanes_ == 0) break;
    }
    lanes_ended_.wait(ticket);
  }
  release_instance();
  finish();
}

void SessionCore::release_instance() noexcept {
  std::unique_ptr<InstanceTier> instance;
  {
    const LockGuard guard(lock_);
    if (state_ == SessionState::kDraining) move_to(SessionState::kClosing);
    instance = std::move(instance_);
    call_begins(*lanes_.front(), load_stop_, nullptr);  // on the primary lane; to free may hang as well (I14)
  }
  {
    const NativeCall call;
    instance.reset();
  }
  {
    const LockGuard guard(lock_);
    call_ends(*lanes_.front());
  }
  host_.give_back_memory();
}

void SessionCore::finish() noexcept {
  stop_watchdog();
  Request* abandoned = nullptr;
  {
    const LockGuard guard(lock_);
    move_to(SessionState::kClosed);
    abandoned = std::exchange(abandoned_, nullptr);
  }
  free_abandoned(abandoned);
  closed_.complete();
  end_job();
}

void SessionCore::end_job() noexcept {
  JobRef job;
  {
    const LockGuard guard(lock_);
    job = std::exchange(job_, JobRef());
  }
  if (job) static_cast<SessionJob*>(job.get())->end();
}

}  // namespace tenure::detail
