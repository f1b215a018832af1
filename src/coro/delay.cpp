#include <tenure/coro/delay.hpp>

namespace tenure::detail {

Handle DelayAwaiter::park(PromiseBase& leaf) noexcept {
  JobNode& job = *leaf.job;
  if (job.is_cancelled()) return unwind(leaf);
  if (duration_ <= Duration{0}) return handle_of(leaf);
  leaf_ = &leaf;
  TimerQueue& timers = job.tree().timers;
  timers_ = &timers;
  const TimePoint now = timers.now();
  const TimePoint at = duration_ < TimePoint::max() - now ? now + duration_ : TimePoint::max();
  if (!timers.add(*this, at)) return unwind(leaf);
  return std::noop_coroutine();  // this frame may be running elsewhere, or gone
}

}  // namespace tenure::detail
