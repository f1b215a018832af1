#pragma once

#include <memory>
#include <vector>

#include <tenure/resource/lane_threads.hpp>
#include <tenure/testing/fake_engine.hpp>
#include <tenure/testing/virtual_timers.hpp>

namespace tenure::testing {

/// Knows which lanes move, which sleep in a fake native call and until when.
class VirtualLanes final : public LaneObserver, public FakeTime {
 public:
  explicit VirtualLanes(VirtualTimers& timers) noexcept : timers_(&timers) {}

  void lane_got_work() noexcept override { moving_.fetch_add(1, std::memory_order_acq_rel); }
  void lane_waits() noexcept override {
    // release: who sees that nothing moves sees what the lane did.
    moving_.fetch_sub(1, std::memory_order_acq_rel);
    changed_.notify_all();
  }

  void sleep(Duration duration, StopSignal& stop) override;
  [[nodiscard]] TimePoint now() override { return timers_->now(); }
  void hang_begins() override { lane_waits(); }
  void hang_ends() override { lane_got_work(); }

  /// Blocks until every lane waits, sleeps or hangs.
  void await_quiet() const noexcept;
  [[nodiscard]] bool is_quiet() const noexcept { return moving_.load(std::memory_order_acquire) == 0; }
  /// When the first sleeper wakes, or TimePoint::max().
  [[nodiscard]] TimePoint next() const noexcept;
  /// Wakes the one that is due first, at `now`. False: none is due.
  bool wake_one(TimePoint now) noexcept;
  /// The virtual clock goes away: what still sleeps, or comes later, sleeps no more.
  void detach() noexcept;

 private:
  struct Sleeper {
    TimePoint until;
    Event event;
    bool is_awake = false;  // guarded by the lock
  };

  VirtualTimers* timers_;
  Atomic<int> moving_{0};
  Event changed_;
  mutable Lock lock_;
  bool is_detached_ TENURE_GUARDED_BY(lock_) = false;
  std::vector<Sleeper*> sleepers_ TENURE_GUARDED_BY(lock_);
};

}  // namespace tenure::testing
