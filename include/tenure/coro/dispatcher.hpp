#pragma once

#include <cstddef>

#include <tenure/coro/work_item.hpp>

namespace tenure {

/// Where coroutines run: a thread pool, an event loop, a view that limits another one.
///
/// Returns   nothing; an item that was posted will run.
/// Errors    posting never fails: a dispatcher that can't take work any more hands it to its fallback.
/// Cancel    posting is no cancellation point.
/// Threads   any thread may post, but never under a lock: an inline dispatcher runs user code in `post` (I9).
/// Lifetime  outlives every job that was started on it.
/// Source    kotlinx.coroutines CoroutineDispatcher.
class Dispatcher {
 public:
  Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  virtual ~Dispatcher() = default;

  virtual void post(WorkItem& item) noexcept = 0;
  /// As `post`, but behind all that is ready: for a coroutine that yields.
  virtual void post_behind(WorkItem& item) noexcept { post(item); }
  virtual void post_all(WorkQueue items) noexcept {
    while (WorkItem* item = items.pop()) post(*item);
  }
  /// Whether the calling thread is the one thread to which this dispatcher is confined.
  [[nodiscard]] virtual bool is_here() const noexcept { return false; }
  /// Runs, here and now, the queued items that only unwind: all, or those of `job` and below it. Called where
  /// `is_here()` (I8), also from inside a destructor that this runs.
  virtual void run_unwinding(const WorkItem* /*job*/) noexcept {}
  /// Runs what is ready, where the calling thread is the one; says how many. For who waits on that thread.
  virtual std::size_t run_ready() noexcept { return 0; }
};

}  // namespace tenure
