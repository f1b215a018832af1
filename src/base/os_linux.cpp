#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <tenure/base/os.hpp>

namespace tenure::os {
namespace {

std::atomic<std::uint32_t> g_fork_generation{0};

// Registered before main: a handler registered at first use could come after the fork that it should have seen.
const bool kForkHandlerRegistered = [] {
  return pthread_atfork(nullptr, nullptr, [] { g_fork_generation.fetch_add(1, std::memory_order_relaxed); }) == 0;
}();

timespec to_timespec(Duration duration) noexcept {
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(duration.count() / 1'000'000'000);
  spec.tv_nsec = static_cast<long>(duration.count() % 1'000'000'000);
  return spec;
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration timeout) noexcept {
  if (timeout.count() < 0) {
    futex(word, FUTEX_WAIT_PRIVATE, expected, nullptr);
    return;
  }
  const timespec spec = to_timespec(timeout);
  futex(word, FUTEX_WAIT_PRIVATE, expected, &spec);
}

void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE_PRIVATE, 1, nullptr); }
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
}

void set_thread_name(const char* name) noexcept {
  char cut[16] = {};
  std::strncpy(cut, name, sizeof(cut) - 1);
  pthread_setname_np(pthread_self(), cut);
}

std::uint32_t fork_generation() noexcept { return g_fork_generation.load(std::memory_order_relaxed); }

std::uint32_t thread_number() noexcept {
  static std::atomic<std::uint32_t> last{0};
  static thread_local const std::uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

Duration thread_cpu_time() noexcept {
  timespec spec{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spec);
  return std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec);
}

void give_back_free_memory() noexcept {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

std::size_t resident_bytes() noexcept {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int fields = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace tenure::os
