#pragma once

#include <cstdint>
#include <vector>

#include <tenure/base/lock.hpp>
#include <tenure/base/time.hpp>

namespace tenure {

/// What a lane does on its thread, from its first native call to its last.
class LaneWork {
 public:
  virtual void serve() noexcept = 0;

 protected:
  ~LaneWork() = default;
};

/// Told when lanes have something to do and when they wait: how virtual time knows that nothing moves any more.
///
/// Returns   nothing.
/// Errors    none.
/// Cancel    no cancellation point.
/// Threads   any.
class LaneObserver {
 public:
  virtual ~LaneObserver() = default;
  virtual void lane_got_work() noexcept = 0;
  virtual void lane_waits() noexcept = 0;
};

/// The threads on which native code runs: one for each open lane, kept for the next lane when one closes.
///
/// Returns   `stop`: how many threads are still in native code at the deadline; they are left alone, never killed.
/// Errors    std::system_error where a thread can't be had.
/// Cancel    no cancellation point.
/// Threads   any.
/// Lifetime  its memory is shared with its threads and lives until the last one has ended.
class LaneThreads {
 public:
  LaneThreads();
  LaneThreads(const LaneThreads&) = delete;
  LaneThreads& operator=(const LaneThreads&) = delete;
  ~LaneThreads();

  /// Runs `work.serve()` on a thread of its own. The thread outlives `work`.
  void start(LaneWork& work);
  int stop(Duration deadline) noexcept;
  /// Whether the calling thread is a lane's, of whichever runtime.
  [[nodiscard]] static bool is_lane() noexcept;

 private:
  struct Thread;
  struct Shared;
  static void run(Thread& self) noexcept;
  Shared* shared_;
};

}  // namespace tenure
