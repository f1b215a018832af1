#pragma once

#include <tenure/base/lock.hpp>
#include <tenure/base/time.hpp>

namespace tenure {

/// Something that happens at a point in time. Intrusive: adding allocates nothing.
///
/// Returns   `arm()`, called under the queue's lock as the node is added: whether it still should be. `claim()`, called
///           under the lock when the time has come: whether `fire()` is to follow; it also makes sure that the node
///           lives until then. `fire()` is called with no lock held.
/// Errors    none leave either.
/// Cancel    `TimerQueue::remove` before the claim; a claim can't be taken back.
/// Threads   the queue's.
class TimerNode {
 public:
  [[nodiscard]] TimePoint at() const noexcept { return at_; }

 protected:
  TimerNode() = default;
  ~TimerNode() = default;
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;

 private:
  friend class TimerQueue;
  virtual bool arm() noexcept { return true; }
  virtual bool claim() noexcept = 0;
  virtual void fire() noexcept = 0;

  TimePoint at_{};
  TimerNode* first_child_ = nullptr;  // a pairing heap: leftmost child, siblings, and the way back
  TimerNode* next_ = nullptr;
  TimerNode* previous_ = nullptr;  // the parent for a first child
  bool queued_ = false;
};

/// A clock, and what is to happen by it, soonest first.
///
/// Returns   `add`: whether the node was armed, after which it may be gone. `remove`: whether it was still waiting.
/// Errors    none; nothing is allocated.
/// Cancel    `remove` returning false means that the node has been claimed.
/// Threads   any.
class TimerQueue : public Clock {
 public:
  bool add(TimerNode& node, TimePoint at) noexcept;
  bool remove(TimerNode& node) noexcept;

 protected:
  TimerQueue() = default;
  ~TimerQueue() override = default;

  static constexpr TimePoint kNever = TimePoint::max();

  /// Fires, one after the other, all that is due at `now`.
  void fire_due(TimePoint now) noexcept;
  [[nodiscard]] TimePoint next_at() noexcept;
  /// The soonest point in time has come nearer. Called with no lock held.
  virtual void sooner() noexcept = 0;

 private:
  static TimerNode* meld(TimerNode* a, TimerNode* b) noexcept;
  static TimerNode* meld_siblings(TimerNode* first) noexcept;
  void unlink(TimerNode& node) noexcept TENURE_REQUIRES(lock_);

  Lock lock_;
  TimerNode* root_ TENURE_GUARDED_BY(lock_) = nullptr;
};

}  // namespace tenure
