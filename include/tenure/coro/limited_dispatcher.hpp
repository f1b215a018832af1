#pragma once

#include <memory>
#include <vector>

#include <tenure/base/lock.hpp>
#include <tenure/coro/dispatcher.hpp>

namespace tenure {

/// A view of another dispatcher that runs at most `parallelism` items at a time; with one, it serialises.
///
/// Returns   nothing.
/// Errors    kInvalidArgument: a parallelism below 1.
/// Cancel    see Dispatcher.
/// Threads   any may post.
/// Lifetime  outlives what is started on it; ended before the dispatcher under it.
/// Source    kotlinx.coroutines limitedParallelism.
class LimitedDispatcher final : public Dispatcher {
 public:
  LimitedDispatcher(Dispatcher& base, int parallelism);
  ~LimitedDispatcher() override;
  void post(WorkItem& item) noexcept override;

 private:
  class Slot;
  /// The next item for a slot; without one the slot is put back.
  WorkItem* next(Slot& slot) noexcept;
  [[nodiscard]] bool is_idle() noexcept;

  Dispatcher& base_;
  Lock lock_;
  WorkQueue waiting_ TENURE_GUARDED_BY(lock_);
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_slots_ TENURE_GUARDED_BY(lock_);
};

/// At most `parallelism` coroutines of this view run at a time on `base`.
[[nodiscard]] inline std::unique_ptr<LimitedDispatcher> limited_parallelism(Dispatcher& base, int parallelism) {
  return std::make_unique<LimitedDispatcher>(base, parallelism);
}

}  // namespace tenure
