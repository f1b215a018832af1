#pragma once

#include <string>
#include <vector>

#include <tenure/base/lock.hpp>

namespace tenure::testing {

/// Pins the order of events: `at(1)`, `at(2)`, … `end(3)`. A gap, a repeat or a swap is kept as a failure.
///
/// Returns   `failure()`: what was out of order first; empty where all was in order.
/// Errors    none.
/// Cancel    no cancellation point.
/// Threads   any.
/// Source    kotlinx.coroutines' test base, `expect(n)` and `finish(n)`.
class OrderLog {
 public:
  void at(int step) {
    const LockGuard guard(lock_);
    if (step != next_ && failure_.empty()) {
      failure_ = "step " + std::to_string(step) + " came where step " + std::to_string(next_) + " was expected";
    }
    next_ = step + 1;
  }
  void end(int step) { at(step); }
  void note(std::string event) {
    const LockGuard guard(lock_);
    events_.push_back(std::move(event));
  }
  [[nodiscard]] std::vector<std::string> events() const {
    const LockGuard guard(lock_);
    return events_;
  }
  [[nodiscard]] std::string failure() const {
    const LockGuard guard(lock_);
    return failure_;
  }
  [[nodiscard]] int steps() const {
    const LockGuard guard(lock_);
    return next_ - 1;
  }

 private:
  mutable Lock lock_;
  int next_ TENURE_GUARDED_BY(lock_) = 1;
  std::string failure_ TENURE_GUARDED_BY(lock_);
  std::vector<std::string> events_ TENURE_GUARDED_BY(lock_);
};

}  // namespace tenure::testing
