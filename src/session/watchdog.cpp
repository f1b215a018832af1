// A native call that never returns costs one lane, not the app (I14).
#include "session/session_core.hpp"

namespace tenure::detail {

void SessionCore::call_begins(Lane& lane, StopSignal& stop, Request* request) noexcept {
  const TimePoint now = host_.timers().now();
  lane.call_ = Lane::Call{.is_active = true, .since = now, .steps = stop.steps(), .stop = &stop, .request = request};
  if (is_watchdog_armed_) return;
  is_watchdog_armed_ = true;
  ref();  // the timer's
  host_.timers().add(*this, now + hard_limit_);
}

void SessionCore::call_ends(Lane& lane) noexcept { lane.call_ = Lane::Call{}; }

bool SessionCore::claim() noexcept { return true; }

void SessionCore::fire() noexcept {
  const SessionRef keep = SessionRef::adopt(*this);  // the timer's
  Answers answers;
  bool is_loading = false;
  bool is_quarantined = false;
  {
    const LockGuard guard(lock_);
    is_watchdog_armed_ = false;
    is_loading = state_ == SessionState::kLoading;
    const TimePoint now = host_.timers().now();
    TimePoint soonest = TimePoint::max();
    for (const auto& lane : lanes_) {
      Lane::Call& call = lane->call_;
      if (!call.is_active || call.is_overdue) continue;
      if (const std::uint64_t steps = call.stop->steps(); steps != call.steps) {
        call.steps = steps;  // it makes progress: the limit begins anew
        call.since = now;
      }
      if (call.since + hard_limit_ > now) {
        soonest = std::min(soonest, call.since + hard_limit_);
        continue;
      }
      is_quarantined = true;
      quarantine(*lane, answers);
    }
    if (soonest != TimePoint::max()) {
      is_watchdog_armed_ = true;
      ref();
      host_.timers().add(*this, soonest);
    }
  }
  if (!is_quarantined) return;
  const std::exception_ptr overdue = error(ErrorCode::kDeadlineExceeded,
                                           "a native call did not come back by its hard limit; what it uses is kept, "
                                           "charged and freed when it returns (quarantine)");
  if (is_loading) loaded_.fail(overdue);
  closed_.fail(overdue);
  answers.send();
  end_job();
}

void SessionCore::quarantine(Lane& lane, Answers& answers) noexcept {
  if (state_ != SessionState::kQuarantined) move_to(SessionState::kQuarantined);
  Lane::Call& call = lane.call_;
  call.is_overdue = true;
  if (instance_ != nullptr) instance_->record().set_quarantined(true);
  if (lane.context_ != nullptr) lane.context_->record().set_quarantined(true);
  drop_waiting(error(ErrorCode::kClosed, "it is quarantined: a native call did not come back"), answers);
  if (Request* request = call.request; request != nullptr) {
    const TimePoint now = host_.timers().now();
    const Duration waited = request->is_cancelled ? now - request->cancelled_at : Duration{0};
    request->is_cancelled = true;
    request->is_quarantined = true;
    host_.ledger.count_cancelled(CancelEffect::kQuarantined);
    request->stop.request();  // should it still look
    Reply& reply = answers.add(*request, Because::kQuarantined);
    reply.to_complete = CancelReceipt{CancelEffect::kQuarantined, request->stop.steps(), waited};
    if (request->is_borrowing) {
      reply.to_mark_stuck = JobRef(request->waiting_job);  // its frame stays: native code uses it
    } else {
      answer(*request,
             error(ErrorCode::kDeadlineExceeded, "the native call did not come back by its hard limit", request),
             reply);
    }
  }
  wake_all();
}

void SessionCore::stop_watchdog() noexcept {
  bool is_armed = false;
  {
    const LockGuard guard(lock_);
    is_armed = std::exchange(is_watchdog_armed_, false);
  }
  if (is_armed && host_.timers().remove(*this)) unref();
}

}  // namespace tenure::detail
