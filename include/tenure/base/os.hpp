#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/time.hpp>

/// The calls of the operating system that Tenure makes; everything else is portable C++.
namespace tenure::os {

/// Sleeps while `*word == expected`, until woken, until `timeout` (negative: no limit), or for no reason at all.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                Duration timeout = Duration{-1}) noexcept;
void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

/// Names the calling thread; cut to what the system takes (15 characters on Linux).
void set_thread_name(const char* name) noexcept;

/// How often the process has forked on the way to here: another number means that this is a child, in which the
/// threads of its parent do not exist.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

/// A number that no other thread of the process has or had; never 0.
[[nodiscard]] std::uint32_t thread_number() noexcept;

/// CPU time that the calling thread has used.
[[nodiscard]] Duration thread_cpu_time() noexcept;

/// Resident memory of the process in bytes.
[[nodiscard]] std::size_t resident_bytes() noexcept;

/// Returns memory that has been freed but kept by the allocator to the system. Takes its locks, some at a time.
void give_back_free_memory() noexcept;

/// One turn of a spin loop, gentle on the sibling hardware thread.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace tenure::os
