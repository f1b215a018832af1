#include <tenure/base/lock.hpp>

namespace tenure {

void Lock::lock_slow() noexcept {
  constexpr int kSpins = 100;
  for (int spin = 0; spin < kSpins; ++spin) {
    std::uint32_t expected = word_.load(std::memory_order_relaxed);
    if (expected == kFree &&
        word_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
    os::cpu_relax();
  }
  // From here on the word says "contended" even where nobody else waits: one wake-up too many is harmless, one too
  // few would hang.
  while (word_.exchange(kContended, std::memory_order_acquire) != kFree) os::futex_wait(word_, kContended);
}

}  // namespace tenure
