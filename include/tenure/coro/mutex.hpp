#pragma once

#include <utility>

#include <tenure/coro/job_node.hpp>

namespace tenure {

class Mutex;

/// Holds a Mutex until its end.
class [[nodiscard]] MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept : mutex_(&mutex) {}
  MutexLock(MutexLock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  MutexLock& operator=(MutexLock&&) = delete;
  ~MutexLock() { unlock(); }
  void unlock() noexcept;

 private:
  Mutex* mutex_;
};

namespace detail {

class MutexAwaiter : public Waiter {
 public:
  explicit MutexAwaiter(Mutex& mutex) noexcept : mutex_(mutex) {}
  MutexAwaiter(const MutexAwaiter&) = delete;
  MutexAwaiter& operator=(const MutexAwaiter&) = delete;
  ~MutexAwaiter();

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    return park(self.promise());
  }
  MutexLock await_resume() noexcept {
    owns_ = false;  // the lock object does now
    return MutexLock(mutex_);
  }

 private:
  friend class tenure::Mutex;
  Handle park(PromiseBase& leaf) noexcept;
  Mutex& mutex_;
  bool owns_ = false;
};

}  // namespace detail

/// Mutual exclusion between coroutines; waiting suspends, it blocks no thread. First come, first served.
///
/// Returns   `lock()`: an awaitable for a MutexLock. `try_lock()`: whether it was free.
/// Errors    none.
/// Cancel    a cancellation point. A lock handed to a waiter that was cancelled is passed on.
/// Threads   any.
/// Lifetime  outlives its locks and waiters. Not recursive.
/// Source    kotlinx.coroutines Mutex.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  [[nodiscard]] detail::MutexAwaiter lock() noexcept { return detail::MutexAwaiter(*this); }
  [[nodiscard]] bool try_lock() noexcept;
  /// For a lock that try_lock took.
  void unlock() noexcept;

 private:
  friend class detail::MutexAwaiter;
  Lock lock_;
  bool is_held_ TENURE_GUARDED_BY(lock_) = false;
  detail::WaitList waiters_ TENURE_GUARDED_BY(lock_);
};

inline void MutexLock::unlock() noexcept {
  if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->unlock();
}

}  // namespace tenure
