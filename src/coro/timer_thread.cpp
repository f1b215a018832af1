#include <tenure/coro/timer_thread.hpp>

namespace tenure {

TimerThread::TimerThread() : thread_([this] { work(); }) {}

TimerThread::~TimerThread() {
  is_stopping_.store(true, std::memory_order_seq_cst);
  event_.notify_one();
  thread_.join();
}

void TimerThread::work() noexcept {
  os::set_thread_name("tenure-timers");
  while (true) {
    const std::uint32_t ticket = event_.ticket();  // before the look: what is added after it ends the sleep
    fire_due(now());
    if (is_stopping_.load(std::memory_order_seq_cst)) return;
    const TimePoint next = next_at();
    if (next == kNever) {
      event_.wait(ticket);
    } else if (const Duration left = next - now(); left > Duration{0}) {
      event_.wait(ticket, left);
    }
  }
}

}  // namespace tenure
