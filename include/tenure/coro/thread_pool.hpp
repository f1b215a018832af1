#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <tenure/base/lock.hpp>
#include <tenure/coro/dispatcher.hpp>

namespace tenure {

/// A dispatcher over threads of its own: the default one.
///
/// Returns   nothing.
/// Errors    std::system_error where a thread can't be had.
/// Cancel    see Dispatcher.
/// Threads   any may post. What a worker posts last, it runs next: a hand-over stays on a warm core.
/// Lifetime  destroyed by a thread that is not its own, when nothing is left to run.
class ThreadPool final : public Dispatcher {
 public:
  explicit ThreadPool(int threads, const char* name = "tenure");
  ~ThreadPool() override;

  void post(WorkItem& item) noexcept override;
  void post_behind(WorkItem& item) noexcept override;
  void post_all(WorkQueue items) noexcept override;

  /// Whether the calling thread is one of this pool's.
  [[nodiscard]] bool is_worker() const noexcept;

 private:
  struct Worker {
    WorkItem* next = nullptr;  // what it posted last
    int next_in_a_row = 0;
  };
  static constexpr int kMaxNextInARow = 32;  // then what waits for all gets its turn

  void work(Worker& self, const char* name) noexcept;
  WorkItem* take(Worker& self) noexcept;
  WorkItem* take_shared() noexcept;
  WorkItem* wait(Worker& self) noexcept;
  void wake() noexcept;

  Lock lock_;
  WorkQueue shared_ TENURE_GUARDED_BY(lock_);
  Atomic<std::size_t> waiting_{0};  // the size of shared_
  Atomic<int> parked_{0};
  Atomic<bool> is_stopping_{false};
  Event event_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

namespace detail {
/// Whether the calling thread is a dispatcher's worker, which must not be blocked for coroutines.
[[nodiscard]] bool is_on_worker() noexcept;
}  // namespace detail

}  // namespace tenure
