#pragma once

#include <atomic>
#include <cstdint>

namespace tenure {

/// The stop flag of one run, and only of that run: it is made with the run and ends with it, so it can't stick (I12).
///
/// Returns   `requested()`: whether the run was asked to stop.
/// Errors    none.
/// Cancel    `request()` is what a cancel of the request calls; it never waits and allocates nothing.
/// Threads   any; the engine polls `requested()` between its steps and counts them with `step()`.
class StopSignal {
 public:
  StopSignal() = default;
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void request() noexcept { requested_.store(true, std::memory_order_release); }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }

  /// The engine has come to another checkpoint (a node, a token, a batch). Restarts the hard limit of the call.
  void step() noexcept { steps_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
  std::atomic<std::uint64_t> steps_{0};  // read by the watchdog and the receipt; orders nothing
};

}  // namespace tenure
