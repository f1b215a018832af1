#pragma once

#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/os.hpp>
#include <tenure/base/thread_annotations.hpp>

namespace tenure {

/// A lock of four bytes for short critical sections; it spins a little, then sleeps. Not recursive.
///
/// Returns   nothing.
/// Errors    none; it allocates nothing, so that a cancel can take it when memory is out.
/// Cancel    no cancellation point; never held over a suspension.
/// Threads   any.
class TENURE_CAPABILITY("lock") Lock {
 public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() noexcept TENURE_ACQUIRE() {
    std::uint32_t expected = kFree;
    // acquire: what the last holder wrote before its unlock must be seen here.
    if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
      lock_slow();
  }
  void unlock() noexcept TENURE_RELEASE() {
    // release: pairs with the acquire above. A waiter's address is only used as a key for the wake-up, so the lock may
    // be gone by then without harm.
    if (word_.exchange(kFree, std::memory_order_release) == kContended) os::futex_wake_one(word_);
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kContended = 2;

  void lock_slow() noexcept;

  Atomic<std::uint32_t> word_{kFree};
};

/// Holds a Lock for a block.
class TENURE_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Lock& lock) noexcept TENURE_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() TENURE_RELEASE() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

/// A thread waits here for the next `notify`; the pair of `ticket` and `wait` loses none.
class Event {
 public:
  [[nodiscard]] std::uint32_t ticket() const noexcept { return word_.load(std::memory_order_seq_cst); }
  /// Sleeps until a notify after `ticket` was taken, or until `timeout` (negative: no limit).
  void wait(std::uint32_t ticket, Duration timeout = Duration{-1}) const noexcept {
    os::futex_wait(word_, ticket, timeout);
  }
  void notify_one() noexcept {
    word_.fetch_add(1, std::memory_order_seq_cst);
    os::futex_wake_one(word_);
  }
  void notify_all() noexcept {
    word_.fetch_add(1, std::memory_order_seq_cst);
    os::futex_wake_all(word_);
  }

 private:
  Atomic<std::uint32_t> word_{0};
};

}  // namespace tenure
