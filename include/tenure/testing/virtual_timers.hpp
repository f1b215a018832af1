#pragma once

#include <tenure/coro/timer_queue.hpp>

namespace tenure::testing {

/// Time that stands still until the test moves it.
///
/// Returns   `advance_to`: nothing; fires what is due on the way, each at its own time.
/// Errors    none.
/// Cancel    see TimerQueue.
/// Threads   `now` from any; moved by the test's thread only.
class VirtualTimers final : public TimerQueue {
 public:
  [[nodiscard]] TimePoint now() const noexcept override {
    return TimePoint(Duration(now_.load(std::memory_order_acquire)));
  }
  /// The point in time of the soonest timer, or TimePoint::max().
  [[nodiscard]] TimePoint next() noexcept { return next_at(); }
  void move_to(TimePoint point) noexcept {
    if (point > now()) now_.store(point.time_since_epoch().count(), std::memory_order_release);
    fire_due(now());
  }

 private:
  void sooner() noexcept override {}
  Atomic<Duration::rep> now_{0};  // release, acquire: who sees a time sees what was done before it
};

}  // namespace tenure::testing
