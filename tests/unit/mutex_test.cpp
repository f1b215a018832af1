// The mutex: order, hand-over, and waiters that are cancelled before, during and after it (trap 18).
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;

Task<void> hold(Mutex& mutex, std::vector<int>& log, int number, Duration duration = 0ms) {
  MutexLock lock = co_await mutex.lock();
  log.push_back(number);
  if (duration > 0ms) co_await delay(duration);
}

TEST(MutexTest, FirstComeFirstServed) {
  CoroWorld world;
  Mutex mutex;
  std::vector<int> log;
  ASSERT_TRUE(mutex.try_lock());
  for (int i = 0; i < 5; ++i) {
    world.scope().launch(hold, std::ref(mutex), std::ref(log), i, 1ms);
    world.run_ready();
  }
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  world.run_until_idle();
  EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(mutex.try_lock());
}

TEST(MutexTest, HandedToAWaiterThatIsCancelledItIsPassedOn) {
  CoroWorld world;
  Mutex mutex;
  std::vector<int> log;
  ASSERT_TRUE(mutex.try_lock());
  Job first = world.scope().launch(hold, std::ref(mutex), std::ref(log), 1, 0ms);
  world.run_ready();
  world.scope().launch(hold, std::ref(mutex), std::ref(log), 2, 0ms);
  world.run_ready();
  mutex.unlock();  // it is the first one's now, who has not yet run
  EXPECT_FALSE(mutex.try_lock());
  first.cancel();
  world.run_ready();
  EXPECT_EQ(log, std::vector<int>{2});
  EXPECT_TRUE(mutex.try_lock());
}

TEST(MutexTest, AWaiterThatWasCancelledFirstIsPassedBy) {
  CoroWorld world;
  Mutex mutex;
  std::vector<int> log;
  ASSERT_TRUE(mutex.try_lock());
  Job only = world.scope().launch(hold, std::ref(mutex), std::ref(log), 1, 0ms);
  world.run_ready();
  only.cancel();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  world.run_ready();
  EXPECT_TRUE(log.empty());
}

TEST(MutexTest, AHolderThatIsCancelledReleasesIt) {
  CoroWorld world;
  Mutex mutex;
  std::vector<int> log;
  Job holder = world.scope().launch(hold, std::ref(mutex), std::ref(log), 1, 1h);
  world.run_ready();
  world.scope().launch(hold, std::ref(mutex), std::ref(log), 2, 0ms);
  world.run_ready();
  holder.cancel();
  world.run_ready();
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
  EXPECT_TRUE(mutex.try_lock());
}

TEST(MutexTest, InACancelledJobItIsNotTaken) {
  CoroWorld world;
  Mutex mutex;
  auto body = [](Scope scope, Mutex& shared) -> Task<void> {
    scope.cancel();
    MutexLock lock = co_await shared.lock();
    ADD_FAILURE() << "went on";
  };
  EXPECT_TRUE(world.run(body, std::ref(mutex)).is_cancelled());
  EXPECT_TRUE(mutex.try_lock());
}

TEST(MutexTest, AFreeOneLetsOthersRunAfterAWhile) {
  CoroWorld world;
  Mutex mutex;
  bool seen = false;
  bool ran = false;
  auto hog = [](Mutex& shared, const bool& other, bool& saw) -> Task<void> {
    for (int i = 0; i < 1000; ++i) MutexLock lock = co_await shared.lock();
    saw = other;
  };
  auto small = [](bool& has_run) -> Task<void> {
    has_run = true;
    co_return;
  };
  world.scope().launch(hog, std::ref(mutex), std::cref(ran), std::ref(seen));
  world.scope().launch(small, std::ref(ran));
  world.run_ready();
  EXPECT_TRUE(seen);
}

CORO_TEST(MutexTest, TheLockIsMovedAndUnlockedOnce) {
  Mutex mutex;
  MutexLock lock = co_await mutex.lock();
  MutexLock moved(std::move(lock));
  EXPECT_FALSE(mutex.try_lock());
  moved.unlock();
  moved.unlock();
  EXPECT_TRUE(mutex.try_lock());
}

}  // namespace
}  // namespace tenure
