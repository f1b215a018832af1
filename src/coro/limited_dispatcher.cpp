#include <tenure/base/error.hpp>
#include <tenure/coro/limited_dispatcher.hpp>
#include <thread>

namespace tenure {

/// One of the items that a view has in its base at a time; it runs the view's items one after the other.
class LimitedDispatcher::Slot final : public WorkItem {
 public:
  explicit Slot(LimitedDispatcher& view) noexcept : view_(view) {}

  void run() noexcept override {
    constexpr int kTurns = 16;  // then others of the base get theirs
    for (int turn = 0; turn < kTurns; ++turn) {
      WorkItem* item = view_.next(*this);
      if (item == nullptr) return;  // the slot is free, and may be posted or gone
      item->run();
    }
    view_.base_.post_behind(*this);
  }

 private:
  LimitedDispatcher& view_;
};

LimitedDispatcher::LimitedDispatcher(Dispatcher& base, int parallelism) : base_(base) {
  if (parallelism < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "limited_parallelism(" + std::to_string(parallelism) + "): expected at least 1");
  }
  free_slots_.reserve(static_cast<std::size_t>(parallelism));
  for (int i = 0; i < parallelism; ++i) {
    slots_.push_back(std::make_unique<Slot>(*this));
    free_slots_.push_back(slots_.back().get());
  }
}

LimitedDispatcher::~LimitedDispatcher() {
  while (!is_idle()) std::this_thread::yield();  // the last item has ended; its slot is on its way back
}

bool LimitedDispatcher::is_idle() noexcept {
  const LockGuard guard(lock_);
  return free_slots_.size() == slots_.size();
}

void LimitedDispatcher::post(WorkItem& item) noexcept {
  Slot* slot = nullptr;
  {
    const LockGuard guard(lock_);
    waiting_.push(item);
    if (!free_slots_.empty()) {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
  }
  if (slot != nullptr) base_.post(*slot);
}

WorkItem* LimitedDispatcher::next(Slot& slot) noexcept {
  const LockGuard guard(lock_);
  WorkItem* item = waiting_.pop();
  if (item == nullptr) free_slots_.push_back(&slot);  // reserved: allocates nothing
  return item;
}

}  // namespace tenure
