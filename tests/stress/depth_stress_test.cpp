// H13 and I6: a million that end, or are woken, at once, on a thread with a small stack: no recursion anywhere.
#include <pthread.h>

#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::scaled;

// One dispatcher on one thread of 256 kB; with the sanitizers' larger frames, of four times that.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t kStack = 1 << 20;
constexpr int kWaiters = 60'000;
#else
constexpr std::size_t kStack = 1 << 18;
constexpr int kWaiters = 1'000'000;
#endif
#else
constexpr std::size_t kStack = 1 << 18;
constexpr int kWaiters = 1'000'000;
#endif

template <class F>
void on_small_stack(F function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  pthread_t thread{};
  auto enter = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, enter, &function), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

struct NoTimers final : TimerQueue {
  [[nodiscard]] TimePoint now() const noexcept override { return TimePoint{}; }
  void sooner() noexcept override {}
};

// Runs `body(scope, n)` on a loop of that thread.
template <class Body>
void run_small(Body body) {
  testing::stress_seed();
  const testing::Watchdog watchdog;
  on_small_stack([&] {
    LoopDispatcher loop;
    NoTimers timers;
    Root root(loop, timers, nullptr);
    block_on(root.scope(), body, scaled(kWaiters));
    EXPECT_TRUE(root.end(60s, &loop));
  });
}

Task<void> count_one(int& counted) {
  ++counted;
  co_return;
}
Task<void> launch_many(Scope scope, int& counted, int children) {
  for (int i = 0; i < children; ++i) scope.launch(count_one, std::ref(counted));
  co_return;
}

TEST(DepthStress, I6_AMillionChildrenCompleteWithoutRecursion) {
  run_small([](int n) -> Task<void> {
    int counted = 0;
    co_await coroutine_scope(launch_many, std::ref(counted), n);
    EXPECT_EQ(counted, n);
  });
}

Task<void> nest(Scope scope, int& counted, int depth) {
  if (depth > 0) scope.launch(nest, std::ref(counted), depth - 1);
  ++counted;
  co_return;
}

// A chain of jobs, each the only child of the one before: the last one's end completes all of them in a row.
TEST(DepthStress, I6_AChainOfJobsCompletesWithoutRecursion) {
  run_small([](int n) -> Task<void> {
    int counted = 0;
    co_await coroutine_scope(nest, std::ref(counted), n);
    EXPECT_EQ(counted, n + 1);
  });
}

Task<void> nest_and_wait(Scope scope, int& counted, int depth) {
  ++counted;
  if (depth > 0) scope.launch(nest_and_wait, std::ref(counted), depth - 1);
  co_await delay(1h);
}

TEST(DepthStress, I2_AChainOfJobsIsCancelledWithoutRecursion) {
  run_small([](Scope scope, int n) -> Task<void> {
    int counted = 0;
    n = std::min(n, 200'000);
    Job job = scope.launch(nest_and_wait, std::ref(counted), n);
    while (counted <= n) co_await yield_now();
    job.cancel();
    co_await job.join();
    EXPECT_EQ(job.state(), JobState::kCancelled);
  });
}

Task<void> lock_once(Mutex& mutex, int& counted) {
  MutexLock lock = co_await mutex.lock();
  ++counted;
}
Task<void> receive_once(Channel<int>& channel, int& counted) { counted += (co_await channel.receive()).value_or(0); }
Task<void> wait_once(Pending<void> pending, int& counted) {
  co_await pending;
  ++counted;
}
Task<void> join_once(Job job, int& counted) {
  co_await job.join();
  ++counted;
}

TEST(DepthStress, H13_AMutexHasAMillionWaiters) {
  run_small([](Scope scope, int n) -> Task<void> {
    int counted = 0;
    Mutex mutex;
    {
      MutexLock held = co_await mutex.lock();
      for (int i = 0; i < n; ++i) scope.launch(lock_once, std::ref(mutex), std::ref(counted));
      co_await yield_now();
      co_await yield_now();
      EXPECT_EQ(counted, 0);
      held.unlock();
      EXPECT_EQ(counted, 0);  // who releases goes on before who waits
    }
    while (counted < n) co_await yield_now();
  });
}

TEST(DepthStress, H13_AChannelHasAMillionReceivers) {
  run_small([](Scope scope, int n) -> Task<void> {
    int counted = 0;
    Channel<int> channel;
    for (int i = 0; i < n; ++i) scope.launch(receive_once, std::ref(channel), std::ref(counted));
    co_await yield_now();
    co_await yield_now();
    for (int i = 0; i < n / 2; ++i) EXPECT_EQ(channel.try_send(1), TrySend::kSent);
    while (counted < n / 2) co_await yield_now();
    channel.close();
    co_await yield_now();
    co_await yield_now();
    EXPECT_EQ(counted, n / 2);
  });
}

TEST(DepthStress, H13_ADeferredHasAMillionWaiters) {
  run_small([](Scope scope, int n) -> Task<void> {
    int counted = 0;
    CompletableDeferred<> deferred;
    for (int i = 0; i < n; ++i) scope.launch(wait_once, deferred.pending(), std::ref(counted));
    co_await yield_now();
    co_await yield_now();
    deferred.complete();
    EXPECT_EQ(counted, 0);
    while (counted < n) co_await yield_now();
  });
}

TEST(DepthStress, H13_AJobHasAMillionJoiners) {
  run_small([](Scope scope, int n) -> Task<void> {
    int counted = 0;
    auto stay = []() -> Task<void> { co_await delay(1h); };
    Job job = scope.launch(stay);
    for (int i = 0; i < n; ++i) scope.launch(join_once, job, std::ref(counted));
    co_await yield_now();
    co_await yield_now();
    EXPECT_EQ(counted, 0);
    job.cancel();
    while (counted < n) co_await yield_now();
  });
}

TEST(DepthStress, H13_AMillionWaitersAreCancelledAtOnce) {
  run_small([](Scope scope, int n) -> Task<void> {
    Mutex mutex;
    MutexLock held = co_await mutex.lock();
    int counted = 0;
    auto many = [](Scope inner, Mutex& shared, int& count, int waiters) -> Task<void> {
      for (int i = 0; i < waiters; ++i) inner.launch(lock_once, std::ref(shared), std::ref(count));
      co_return;
    };
    Job job = scope.launch(many, std::ref(mutex), std::ref(counted), n);
    co_await yield_now();
    co_await yield_now();
    co_await yield_now();
    job.cancel();
    co_await job.join();
    EXPECT_EQ(counted, 0);
  });
}

// Each child fails on its own under a supervisor: the cost of one failure must not grow with what is ready.
TEST(DepthStress, AHundredThousandChildrenFailInARow) {
  run_small([](Scope, int n) -> Task<void> {
    auto many = [](Scope scope, int children) -> Task<void> {
      auto fails = []() -> Task<void> {
        throw 1;
        co_return;
      };
      for (int i = 0; i < children; ++i) scope.launch(fails);
      co_return;
    };
    co_await supervisor_scope(many, n / 10);
  });
}

}  // namespace
}  // namespace tenure
