#pragma once

#include <chrono>

namespace tenure {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// Where time comes from: the steady clock in an app, a virtual one in a test.
///
/// Returns   `now()`: the present point in time, never going back.
/// Errors    none.
/// Cancel    no cancellation point.
/// Threads   any.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
};

}  // namespace tenure
