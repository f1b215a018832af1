#include <array>
#include <new>
#include <tenure/base/lock.hpp>
#include <tenure/coro/frame_pool.hpp>
#include <utility>

#ifndef TENURE_RECYCLE_FRAMES
#define TENURE_RECYCLE_FRAMES 1
#endif

namespace tenure::detail {

#if TENURE_RECYCLE_FRAMES
namespace {

constexpr std::size_t kGrain = 16;
constexpr std::size_t kClasses = 65;  // up to 1,024 bytes; larger frames are rare and go to the allocator
constexpr std::uint32_t kBatch = 64;  // blocks that change threads at once
constexpr std::uint32_t kMaxCached = 2 * kBatch;

struct Block {
  Block* next;
  Block* next_batch;
};

struct Cache {
  std::array<Block*, kClasses> head{};
  std::array<std::uint32_t, kClasses> count{};
  bool flushed = false;  // the thread is ending: what it still frees goes to the allocator
};
constinit thread_local Cache t_cache{};

struct Shared {
  Lock lock;
  std::array<Block*, kClasses> batches TENURE_GUARDED_BY(lock){};
};
constinit Shared g_shared{};

void free_list(Block* block) noexcept {
  while (block != nullptr) ::operator delete(std::exchange(block, block->next));
}

// Gives a thread's blocks back when it ends. Made on the slow path only, so that the fast one needs no guard.
struct Flusher {
  ~Flusher() {
    t_cache.flushed = true;
    for (Block*& head : t_cache.head) free_list(std::exchange(head, nullptr));
  }
};

[[gnu::noinline]] void arm_flusher() noexcept {
  static thread_local Flusher flusher;
  static_cast<void>(flusher);
}

[[gnu::noinline]] void* allocate_slow(std::size_t size_class) {
  arm_flusher();
  Block* batch = nullptr;
  {
    const LockGuard guard(g_shared.lock);
    batch = g_shared.batches[size_class];
    if (batch != nullptr) g_shared.batches[size_class] = batch->next_batch;
  }
  if (batch == nullptr || t_cache.flushed) {
    if (batch != nullptr) free_list(batch);
    return ::operator new(size_class * kGrain);
  }
  t_cache.head[size_class] = batch->next;
  t_cache.count[size_class] = kBatch - 1;
  return batch;
}

[[gnu::noinline]] void share_batch(std::size_t size_class) noexcept {
  Block* batch = t_cache.head[size_class];
  Block* last = batch;
  for (std::uint32_t i = 1; i < kBatch; ++i) last = last->next;
  t_cache.head[size_class] = std::exchange(last->next, nullptr);
  t_cache.count[size_class] -= kBatch;
  const LockGuard guard(g_shared.lock);
  batch->next_batch = g_shared.batches[size_class];
  g_shared.batches[size_class] = batch;
}

constexpr std::size_t class_of(std::size_t bytes) noexcept { return (bytes + kGrain - 1) / kGrain; }

}  // namespace

// Not inlined: the address of a thread-local must not be kept over a suspension that changes threads.
[[gnu::noinline]] void* allocate_frame(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  if (size_class >= kClasses) return ::operator new(bytes);
  Block* block = t_cache.head[size_class];
  if (block == nullptr) return allocate_slow(size_class);
  t_cache.head[size_class] = block->next;
  --t_cache.count[size_class];
  return block;
}

[[gnu::noinline]] void free_frame(void* memory, std::size_t bytes) noexcept {
  const std::size_t size_class = class_of(bytes);
  if (size_class >= kClasses || t_cache.flushed) {
    ::operator delete(memory);
    return;
  }
  auto* block = new (memory) Block{t_cache.head[size_class], nullptr};
  t_cache.head[size_class] = block;
  if (++t_cache.count[size_class] == 1) arm_flusher();  // a thread that only frees must give back too
  if (t_cache.count[size_class] >= kMaxCached) share_batch(size_class);
}

#else

void* allocate_frame(std::size_t bytes) { return ::operator new(bytes); }
void free_frame(void* block, std::size_t) noexcept { ::operator delete(block); }

#endif

}  // namespace tenure::detail
