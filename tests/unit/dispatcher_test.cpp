// Views that limit, pools that wake, and what of a coroutine runs where.
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <thread>

#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;

struct Gauge {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
};
Task<void> measured(Gauge& gauge, int turns) {
  for (int i = 0; i < turns; ++i) {
    const int now = ++gauge.now;
    int most = gauge.most;
    while (most < now && !gauge.most.compare_exchange_weak(most, now)) {
    }
    testing::pass(20);
    --gauge.now;
    co_await yield_now();
  }
  ++gauge.done;
}
Task<void> launch_measured(Scope scope, Gauge& gauge, int tasks) {
  for (int i = 0; i < tasks; ++i) scope.launch(measured, std::ref(gauge), 20);
  co_return;
}

TEST(LimitedDispatcherTest, NeverRunsMoreThanItSaysOnAPool) {
  ThreadPool pool(4);
  testing::VirtualTimers timers;
  for (int limit : {1, 2}) {
    const auto view = limited_parallelism(pool, limit);
    Gauge gauge;
    {
      Root root(*view, timers, nullptr);
      block_on(root.scope(), launch_measured, std::ref(gauge), 50);
      EXPECT_TRUE(root.end(60s, nullptr));
    }
    EXPECT_EQ(gauge.done, 50);
    EXPECT_LE(gauge.most, limit);
  }
}

TEST(LimitedDispatcherTest, KeepsTheOrderOfWhatItSerialises) {
  CoroWorld world;
  const auto view = limited_parallelism(world.dispatcher(), 1);
  std::vector<int> order;
  auto note = [](std::vector<int>& log, int number) -> Task<void> {
    log.push_back(number);
    co_return;
  };
  for (int i = 0; i < 40; ++i) world.scope().on(*view).launch(note, std::ref(order), i);
  world.run_until_idle();
  ASSERT_EQ(order.size(), 40U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(LimitedDispatcherTest, ALimitBelowOneIsRefused) {
  CoroWorld world;
  EXPECT_THROW(static_cast<void>(limited_parallelism(world.dispatcher(), 0)), Error);
}

// Two coroutines that are woken together must not wait for each other's worker while another one sleeps.
TEST(ThreadPoolTest, WhatIsPostedTogetherWakesAsManyWorkers) {
  const testing::Watchdog watchdog(30s);
  ThreadPool pool(2);
  testing::VirtualTimers timers;
  Root root(pool, timers, nullptr);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> waiting{0};
    std::atomic<int> arrived{0};
    CompletableDeferred<> gate;
    auto meet = [](Pending<void> open, std::atomic<int>& before, std::atomic<int>& here) -> Task<void> {
      ++before;
      co_await open;
      ++here;
      while (here < 2) std::this_thread::yield();  // a long computation, as far as the pool knows
    };
    Job a = root.scope().launch(meet, gate.pending(), std::ref(waiting), std::ref(arrived));
    Job b = root.scope().launch(meet, gate.pending(), std::ref(waiting), std::ref(arrived));
    while (waiting < 2) std::this_thread::yield();
    testing::pass(100'000);  // by now both workers are asleep, most likely
    gate.complete();
    while (arrived < 2) std::this_thread::yield();  // nothing else is posted that could wake the other one
    auto join = [](Job first, Job second) -> Task<void> {
      co_await first.join();
      co_await second.join();
    };
    block_on(root.scope(), join, a, b);
  }
  EXPECT_TRUE(root.end(60s, nullptr));
}

TEST(ThreadPoolTest, KnowsItsWorkers) {
  ThreadPool pool(1);
  ThreadPool other(1);
  testing::VirtualTimers timers;
  Root root(pool, timers, nullptr);
  auto look = [](ThreadPool& mine, ThreadPool& others) -> Task<bool> {
    co_return mine.is_worker() && !others.is_worker();
  };
  EXPECT_TRUE(block_on(root.scope(), look, std::ref(pool), std::ref(other)));
  EXPECT_FALSE(pool.is_worker());
  EXPECT_TRUE(root.end(60s, nullptr));
}

TEST(LoopDispatcherTest, RunsUntilItIsStopped) {
  LoopDispatcher loop;
  testing::VirtualTimers timers;
  Root root(loop, timers, nullptr);
  int turns = 0;
  auto body = [](LoopDispatcher& runs, int& counted) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      ++counted;
      co_await yield_now();
    }
    runs.stop();
  };
  root.scope().launch(body, std::ref(loop), std::ref(turns));
  loop.run();
  EXPECT_EQ(turns, 3);
  EXPECT_TRUE(root.end(60s, &loop));
}

}  // namespace
}  // namespace tenure
