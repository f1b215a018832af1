#include <algorithm>
#include <tenure/base/check.hpp>
#include <tenure/coro/thread_pool.hpp>

namespace tenure {
namespace {

struct Current {
  const ThreadPool* pool = nullptr;
  void* worker = nullptr;
};
constinit thread_local Current t_current{};

// Not inlined: the address of a thread-local must not be kept over a suspension that changes threads.
[[gnu::noinline]] Current& current() noexcept { return t_current; }

}  // namespace

bool detail::is_on_worker() noexcept { return current().pool != nullptr; }
bool ThreadPool::is_worker() const noexcept { return current().pool == this; }

ThreadPool::ThreadPool(int threads, const char* name) {
  TENURE_CHECK(threads > 0, "a thread pool has at least one thread");
  for (int i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>());
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, self = worker.get(), name] { work(*self, name); });
  }
}

ThreadPool::~ThreadPool() {
  TENURE_CHECK(!is_worker(), "a thread pool can't be destroyed by one of its own threads");
  is_stopping_.store(true, std::memory_order_seq_cst);
  event_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::post(WorkItem& item) noexcept {
  const Current here = current();
  if (here.pool != this) {
    post_behind(item);
    return;
  }
  auto& worker = *static_cast<Worker*>(here.worker);
  WorkItem* displaced = std::exchange(worker.next, &item);
  if (displaced != nullptr) post_behind(*displaced);
}

void ThreadPool::post_behind(WorkItem& item) noexcept {
  {
    const LockGuard guard(lock_);
    shared_.push(item);
    // seq_cst: a worker that parks counts itself in parked_ first and then looks here; we do it the other way round, so
    // one of the two sees the other.
    waiting_.store(shared_.size(), std::memory_order_seq_cst);
  }
  wake();
}

void ThreadPool::post_all(WorkQueue items) noexcept {
  if (items.size() == 1) {
    post(*items.pop());
    return;
  }
  auto wakes = static_cast<int>(std::min(items.size(), threads_.size()));
  {
    const LockGuard guard(lock_);
    shared_.append(items);
    waiting_.store(shared_.size(), std::memory_order_seq_cst);
  }
  // As many as there are items: one worker alone would run them one after the other while the others sleep.
  for (; wakes > 0 && parked_.load(std::memory_order_seq_cst) > 0; --wakes) event_.notify_one();
}

void ThreadPool::wake() noexcept {
  if (parked_.load(std::memory_order_seq_cst) > 0) event_.notify_one();
}

WorkItem* ThreadPool::take_shared() noexcept {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return nullptr;
  const LockGuard guard(lock_);
  WorkItem* item = shared_.pop();
  waiting_.store(shared_.size(), std::memory_order_seq_cst);
  return item;
}

WorkItem* ThreadPool::take(Worker& self) noexcept {
  if (self.next != nullptr && self.next_in_a_row < kMaxNextInARow) {
    ++self.next_in_a_row;
    return std::exchange(self.next, nullptr);
  }
  self.next_in_a_row = 0;
  WorkItem* item = take_shared();
  return item != nullptr ? item : std::exchange(self.next, nullptr);
}

WorkItem* ThreadPool::wait(Worker& self) noexcept {
  constexpr int kSpins = 50;
  constexpr int kPauses = 8;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (WorkItem* item = take(self)) return item;
    for (int pause = 0; pause < kPauses; ++pause) os::cpu_relax();
  }
  const std::uint32_t ticket = event_.ticket();
  parked_.fetch_add(1, std::memory_order_seq_cst);
  WorkItem* item = take(self);
  if (item == nullptr && !is_stopping_.load(std::memory_order_seq_cst)) event_.wait(ticket);
  parked_.fetch_sub(1, std::memory_order_seq_cst);
  return item;
}

void ThreadPool::work(Worker& self, const char* name) noexcept {
  os::set_thread_name(name);
  current() = Current{this, &self};
  while (true) {
    WorkItem* item = take(self);
    if (item == nullptr) item = wait(self);
    if (item != nullptr) {
      item->run();
    } else if (is_stopping_.load(std::memory_order_seq_cst)) {
      return;
    }
  }
}

}  // namespace tenure
