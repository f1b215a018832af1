#pragma once

#include <thread>

#include <tenure/coro/timer_queue.hpp>

namespace tenure {

/// The timers of an app: the steady clock, and a thread that sleeps until the soonest one.
///
/// Returns   see TimerQueue.
/// Errors    std::system_error where the thread can't be had.
/// Cancel    see TimerQueue.
/// Threads   any; what fires does so on the timers' own thread, which only posts.
/// Lifetime  ended after all that waits in it, and before the dispatchers that it posts to.
class TimerThread final : public TimerQueue {
 public:
  TimerThread();
  ~TimerThread() override;
  [[nodiscard]] TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }

 private:
  void sooner() noexcept override { event_.notify_one(); }
  void work() noexcept;

  Event event_;
  Atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace tenure
