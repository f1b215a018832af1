#pragma once

#include <cstddef>

namespace tenure::detail {

/// Memory for coroutine frames and jobs, kept in per-thread lists by size; blocks of many go through a shared list, so
/// that a thread which only frees feeds one which only allocates. Off under the sanitizers, which then see each frame.
/// Errors: std::bad_alloc. Threads: any; a block may be freed on another thread than it was allocated on.
[[nodiscard]] void* allocate_frame(std::size_t bytes);
void free_frame(void* block, std::size_t bytes) noexcept;

/// Base of what is allocated from the frame pool.
struct Recycled {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { free_frame(block, bytes); }
};

}  // namespace tenure::detail
