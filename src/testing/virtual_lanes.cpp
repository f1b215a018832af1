#include "testing/virtual_lanes.hpp"

#include <algorithm>

namespace tenure::testing {

void VirtualLanes::sleep(Duration duration, StopSignal&) {
  if (duration <= Duration{0}) return;
  Sleeper sleeper;
  {
    const LockGuard guard(lock_);
    if (is_detached_) return;
    sleeper.until = timers_->now() + duration;
    sleepers_.push_back(&sleeper);
  }
  lane_waits();
  while (true) {
    const std::uint32_t ticket = sleeper.event.ticket();
    {
      const LockGuard guard(lock_);
      if (sleeper.is_awake) return;  // whoever woke it counts it as moving
    }
    sleeper.event.wait(ticket);
  }
}

void VirtualLanes::await_quiet() const noexcept {
  while (true) {
    const std::uint32_t ticket = changed_.ticket();
    if (is_quiet()) return;
    changed_.wait(ticket);
  }
}

TimePoint VirtualLanes::next() const noexcept {
  const LockGuard guard(lock_);
  TimePoint next = TimePoint::max();
  for (const Sleeper* sleeper : sleepers_) next = std::min(next, sleeper->until);
  return next;
}

bool VirtualLanes::wake_one(TimePoint now) noexcept {
  const LockGuard guard(lock_);
  const auto first = std::min_element(sleepers_.begin(), sleepers_.end(),
                                      [](const Sleeper* a, const Sleeper* b) { return a->until < b->until; });
  if (first == sleepers_.end() || (*first)->until > now) return false;
  Sleeper& sleeper = **first;
  sleepers_.erase(first);
  lane_got_work();
  sleeper.is_awake = true;
  sleeper.event.notify_one();  // under the lock: the sleeper's stack is its own again after it
  return true;
}

void VirtualLanes::detach() noexcept {
  {
    const LockGuard guard(lock_);
    is_detached_ = true;
  }
  while (wake_one(TimePoint::max())) {
  }
}

}  // namespace tenure::testing
