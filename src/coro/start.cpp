#include <tenure/coro/start.hpp>
#include <tenure/coro/thread_pool.hpp>

namespace tenure::detail {
namespace {

// Counted twice: by the waiting thread, which may give up, and by the job.
class WakeUp final : public CompletionHandler {
 public:
  void on_completion() noexcept override {
    is_done_.store(true, std::memory_order_release);  // release: the waiting thread sees all that the job did
    event_.notify_all();
    unref();
  }
  [[nodiscard]] bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
  [[nodiscard]] Event& event() noexcept { return event_; }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the other wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  Event event_;
  Atomic<bool> is_done_{false};
  Atomic<int> references_{2};
};

}  // namespace

bool wait_here(JobNode& job, Dispatcher* pumped, Duration limit) {
  TENURE_CHECK(!is_on_worker(), "a dispatcher's worker must not block for coroutines: it may be the one to run them");
  auto* wake_up = new WakeUp;
  if (!job.add_handler(*wake_up)) wake_up->on_completion();
  const bool is_pumping = pumped != nullptr && pumped->is_here();
  const auto begin = std::chrono::steady_clock::now();
  bool is_over = false;
  while (!wake_up->is_done() && !is_over) {
    Duration left{-1};
    if (limit >= Duration{0}) {
      left = limit - (std::chrono::steady_clock::now() - begin);
      if (left <= Duration{0}) is_over = true;
    }
    const std::uint32_t ticket = wake_up->event().ticket();
    if (is_over || wake_up->is_done() || (is_pumping && pumped->run_ready() > 0)) continue;
    // Nobody tells this event of a post to the pumped dispatcher: look again soon.
    constexpr Duration kLook = std::chrono::milliseconds(1);
    wake_up->event().wait(ticket, is_pumping && (left < Duration{0} || left > kLook) ? kLook : left);
  }
  const bool is_done = wake_up->is_done();
  wake_up->unref();
  return is_done;
}

}  // namespace tenure::detail
