// The app's main thread over a hand-made event loop: its turns, its end, and calls that come after it.
#include <deque>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <thread>

namespace tenure {
namespace {

using namespace std::chrono_literals;

// An event loop as an app has one: a list of calls, pumped by the test. Once it has ended it refuses posts.
class AppLoop {
 public:
  MainDispatcher::PostFunction post_function() {
    return [this](MainDispatcher::Callback run, void* argument) {
      const LockGuard guard(lock_);
      if (has_ended_) return false;
      calls_.emplace_back(run, argument);
      most_ = std::max(most_, calls_.size());
      return true;
    };
  }
  bool turn() {
    std::pair<MainDispatcher::Callback, void*> call;
    {
      const LockGuard guard(lock_);
      if (calls_.empty()) return false;
      call = calls_.front();
      calls_.pop_front();
    }
    call.first(call.second);
    return true;
  }
  void run_until_empty() {
    while (turn()) {
    }
  }
  void end() {
    const LockGuard guard(lock_);
    has_ended_ = true;
  }
  std::size_t waiting() {
    const LockGuard guard(lock_);
    return calls_.size();
  }
  std::size_t most() {
    const LockGuard guard(lock_);
    return most_;
  }

 private:
  Lock lock_;
  std::deque<std::pair<MainDispatcher::Callback, void*>> calls_ TENURE_GUARDED_BY(lock_);
  std::size_t most_ TENURE_GUARDED_BY(lock_) = 0;
  bool has_ended_ TENURE_GUARDED_BY(lock_) = false;
};

Task<void> yield_often(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}
Task<void> note_thread(std::uint32_t& thread) {
  struct Guard {
    std::uint32_t& thread;
    ~Guard() { thread = os::thread_number(); }
  } guard{thread};
  co_await delay(1h);
}

struct MainWorld {
  AppLoop loop;
  LoopDispatcher fallback;
  testing::VirtualTimers timers;
  MainDispatcher main{loop.post_function(), fallback};
  Root root{main, timers, nullptr};

  ~MainWorld() { EXPECT_TRUE(root.end(0s, nullptr) || root.end(10s, &main) || root.end(10s, &fallback)); }
};

TEST(MainDispatcherTest, RunsInTheLoopsTurns) {
  MainWorld world;
  Job job = world.root.scope().launch(yield_often, 3);
  EXPECT_EQ(world.loop.waiting(), 1U);
  world.loop.run_until_empty();
  EXPECT_EQ(job.state(), JobState::kCompleted);
}

// One call at a time is on its way, however long coroutines keep the loop busy.
TEST(MainDispatcherTest, ItDoesNotFloodTheLoop) {
  MainWorld world;
  world.root.scope().launch(yield_often, 1000);
  world.loop.run_until_empty();
  EXPECT_EQ(world.loop.most(), 1U);
}

TEST(MainDispatcherTest, PostsFromOtherThreadsAllRun) {
  MainWorld world;
  std::atomic<int> ran{0};
  auto count = [](std::atomic<int>& counted) -> Task<void> {
    ++counted;
    co_return;
  };
  constexpr int kEach = 2000;
  auto post = [&] {
    for (int i = 0; i < kEach; ++i) world.root.scope().launch(count, std::ref(ran));
  };
  std::thread a(post);
  std::thread b(post);
  while (ran < 2 * kEach) {
    if (!world.loop.turn()) std::this_thread::yield();
  }
  a.join();
  b.join();
  EXPECT_EQ(ran, 2 * kEach);
}

TEST(MainDispatcherTest, I8_AnOwnerEndsOnTheMainThreadWithoutATurnOfTheLoop) {
  MainWorld world;
  std::uint32_t thread = 0;
  Owner owner = world.root.open("page", world.main);
  owner.launch(note_thread, std::ref(thread));
  world.loop.run_until_empty();
  owner.cancel();
  EXPECT_EQ(thread, os::thread_number());
  world.loop.run_until_empty();
}

TEST(MainDispatcherTest, ALoopThatHasEndedHandsTheUnwindingToTheFallback) {
  MainWorld world;
  std::uint32_t thread = 0;
  Job job = world.root.scope().launch(note_thread, std::ref(thread));
  world.loop.run_until_empty();
  world.loop.end();
  std::thread canceller([&job] { job.cancel(); });  // elsewhere, so that the main thread does not unwind it at once
  canceller.join();
  EXPECT_EQ(thread, 0U);
  EXPECT_GT(world.fallback.run_ready(), 0U);
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(thread, os::thread_number());
}

TEST(MainDispatcherTest, WhatIsLaunchedAfterItsEndNeverBegins) {
  MainWorld world;
  world.loop.end();
  bool has_begun = false;
  auto body = [](bool& begun) -> Task<void> {
    begun = true;
    co_return;
  };
  Job job = world.root.scope().launch(body, std::ref(has_begun));
  while (world.fallback.run_ready() > 0) {
  }
  EXPECT_FALSE(has_begun);
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

TEST(MainDispatcherTest, APostFunctionThatThrowsIsARefusal) {
  LoopDispatcher fallback;
  testing::VirtualTimers timers;
  MainDispatcher main([](MainDispatcher::Callback, void*) -> bool { throw std::bad_alloc(); }, fallback);
  Root root(main, timers, nullptr);
  Job job = root.scope().launch(yield_often, 1);
  EXPECT_TRUE(root.end(10s, &fallback));
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

TEST(MainDispatcherTest, ACallAfterItsEndDoesNothing) {
  AppLoop loop;
  {
    LoopDispatcher fallback;
    testing::VirtualTimers timers;
    MainDispatcher main(loop.post_function(), fallback);
    Root root(main, timers, nullptr);
    root.scope().launch(yield_often, 1);
    EXPECT_TRUE(root.end(10s, &main));
  }
  EXPECT_EQ(loop.waiting(), 1U);
  loop.run_until_empty();
}

}  // namespace
}  // namespace tenure
