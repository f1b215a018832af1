#include <tenure/coro/confined_dispatcher.hpp>
#include <tenure/coro/task.hpp>

namespace tenure {

void ConfinedDispatcher::post(WorkItem& item) noexcept {
  bool was_empty = false;
  {
    const LockGuard guard(lock_);
    was_empty = ready_.empty();
    ready_.push(item);
  }
  if (was_empty) became_ready();
}

void ConfinedDispatcher::post_all(WorkQueue items) noexcept {
  if (items.empty()) return;
  bool was_empty = false;
  {
    const LockGuard guard(lock_);
    was_empty = ready_.empty();
    ready_.append(items);
  }
  if (was_empty) became_ready();
}

WorkQueue ConfinedDispatcher::take_all() noexcept {
  const LockGuard guard(lock_);
  return std::move(ready_);
}

std::size_t ConfinedDispatcher::run_ready() noexcept {
  // Only as many as are ready now, and left in the queue until their turn: a cancel by one of them finds the others.
  std::size_t turns = 0;
  {
    const LockGuard guard(lock_);
    turns = ready_.size();
  }
  std::size_t ran = 0;
  for (; ran < turns; ++ran) {
    WorkItem* item = nullptr;
    {
      const LockGuard guard(lock_);
      item = pick(ready_);
    }
    if (item == nullptr) break;
    item->run();
  }
  bool is_more = false;
  {
    const LockGuard guard(lock_);
    is_more = !ready_.empty();
  }
  if (is_more) became_ready();  // nobody else says so: it was not empty when they were posted
  return ran;
}

void ConfinedDispatcher::run_unwinding(const WorkItem* job) noexcept {
  const detail::UnwindingMark pause(nullptr);  // a clean-up that goes on here is user code, also inside a destructor
  while (true) {
    WorkQueue unwinding;
    {
      const LockGuard guard(lock_);
      WorkQueue others;
      while (WorkItem* item = ready_.pop()) {
        const bool is_wanted = job == nullptr ? item->is_unwinding() : item->is_unwinding_under(*job);
        (is_wanted ? unwinding : others).push(*item);
      }
      ready_.append(others);
    }
    if (unwinding.empty()) return;
    while (WorkItem* item = unwinding.pop()) item->run();
  }
}

/// One turn of the app's loop in which our queue is run. Counted by the dispatcher and by the call that is on its way,
/// which may come when the dispatcher is gone.
class MainDispatcher::Turn {
 public:
  explicit Turn(MainDispatcher& dispatcher) noexcept : dispatcher_(&dispatcher) {}
  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the other wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void detach() noexcept { dispatcher_.store(nullptr, std::memory_order_release); }
  static void run(void* self) noexcept {
    auto& turn = *static_cast<Turn*>(self);
    // acquire: pairs with detach(), which happens on this same thread or after it has ended.
    if (MainDispatcher* dispatcher = turn.dispatcher_.load(std::memory_order_acquire)) {
      dispatcher->is_on_its_way_.exchange(false, std::memory_order_acq_rel);  // see became_ready()
      dispatcher->run_ready();
    }
    turn.unref();
  }

 private:
  Atomic<MainDispatcher*> dispatcher_;
  Atomic<int> references_{1};
};

MainDispatcher::MainDispatcher(PostFunction post_function, Dispatcher& fallback)
    : post_function_(std::move(post_function)), fallback_(fallback), turn_(new Turn(*this)) {}

MainDispatcher::~MainDispatcher() {
  turn_->detach();
  turn_->unref();
}

void MainDispatcher::became_ready() noexcept {
  // One call at a time, else a coroutine that yields floods the loop. acq_rel, on both sides: whoever finds a call on its
  // way has posted its item before, and that call, which takes the mark back first, sees it.
  if (is_on_its_way_.exchange(true, std::memory_order_acq_rel)) return;
  turn_->ref();
  bool is_accepted = false;
  try {
    is_accepted = post_function_(&Turn::run, turn_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a loop that throws does not take it either
  }
  if (is_accepted) return;
  turn_->unref();
  is_on_its_way_.exchange(false, std::memory_order_acq_rel);
  hand_to_fallback();
}

void MainDispatcher::hand_to_fallback() noexcept {
  WorkQueue left = take_all();
  while (WorkItem* item = left.pop()) {
    item->refused();
    fallback_.post(*item);
  }
}

void LoopDispatcher::run() noexcept {
  while (!is_stopping_.load(std::memory_order_acquire)) run_for(Duration{-1});
  is_stopping_.store(false, std::memory_order_relaxed);
}

std::size_t LoopDispatcher::run_for(Duration limit) noexcept {
  const std::uint32_t ticket = event_.ticket();
  if (const std::size_t ran = run_ready()) return ran;
  if (is_stopping_.load(std::memory_order_acquire)) return 0;
  event_.wait(ticket, limit);
  return run_ready();
}

void LoopDispatcher::stop() noexcept {
  is_stopping_.store(true, std::memory_order_release);  // release: `run` sees what was written before the stop
  event_.notify_one();
}

}  // namespace tenure
