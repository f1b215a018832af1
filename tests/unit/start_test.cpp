// Tasks begun from plain code: a callback, a future, a blocked thread.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::Resource;
using testing::ResourceCount;

Task<int> value_after(Duration duration) {
  co_await delay(duration);
  co_return 3;
}
Task<int> error_after(Duration duration) {
  co_await delay(duration);
  throw std::runtime_error("broken");
}

TEST(StartTest, TheHandlerSeesEachOfTheThreeEndsOnce) {
  CoroWorld world;
  std::vector<std::string> ends;
  auto note = [&ends](Outcome<int> outcome) {
    ends.emplace_back(outcome.has_value() ? "value" : outcome.is_error() ? "error" : "cancelled");
  };
  start(world.scope(), value_after(1ms), note);
  start(world.scope(), error_after(2ms), note);
  Job cancelled = start(world.scope(), value_after(1h), note);
  world.advance(3ms);
  cancelled.cancel();
  world.run_until_idle();
  EXPECT_EQ(ends, (std::vector<std::string>{"value", "error", "cancelled"}));
  EXPECT_TRUE(world.errors().empty());  // the handler had it
}

TEST(StartTest, AMoveOnlyValueReachesTheHandler) {
  ResourceCount count;
  CoroWorld world;
  int number = 0;
  auto make = [](ResourceCount& counted) -> Task<Resource> { co_return Resource(counted, 7); };
  start(world.scope(), make(count),
        [&number](Outcome<Resource> outcome) { number = std::move(outcome).value().number(); });
  world.run_ready();
  EXPECT_EQ(number, 7);
  EXPECT_EQ(count.live, 0);
}

TEST(StartTest, AFutureGetsTheValueTheErrorAndAborted) {
  CoroWorld world;
  Owner owner = world.open("page");
  std::future<int> value = start_future(owner, value_after(1ms));
  std::future<int> error = start_future(owner, error_after(1ms));
  std::future<int> cancelled = start_future(owner, value_after(1h));
  world.advance(2ms);
  owner.cancel();
  world.run_until_idle();
  EXPECT_EQ(value.get(), 3);
  EXPECT_THROW(error.get(), std::runtime_error);
  try {
    cancelled.get();
    ADD_FAILURE() << "no error";
  } catch (const Error& aborted) {
    EXPECT_EQ(aborted.code(), ErrorCode::kAborted);
  }
}

TEST(StartTest, ADroppedFutureDoesNotBlock) {
  CoroWorld world;
  {
    const std::future<int> dropped = start_future(world.scope(), value_after(1h));
  }
  SUCCEED();
}

TEST(StartTest, AfterTheEndItIsClosed) {
  CoroWorld world;
  EXPECT_TRUE(world.root().end(10s, &world.dispatcher()));
  EXPECT_THROW(start(world.scope(), value_after(1ms), [](const Outcome<int>&) {}), Error);
}

TEST(BlockOnTest, PumpsItsOwnDispatcherAndGivesTheEnd) {
  CoroWorld world;
  EXPECT_EQ(block_on(world.scope(), value_after(0ms)), 3);
  EXPECT_THROW(block_on(world.scope(), error_after(0ms)), std::runtime_error);
  auto cancels_itself = [](Scope scope) -> Task<void> {
    scope.cancel();
    co_await checkpoint();
  };
  EXPECT_THROW(block_on(world.scope(), cancels_itself), Error);
}

TEST(BlockOnTest, OnAPool) {
  ThreadPool pool(2);
  TimerThread timers;
  Root root(pool, timers, nullptr);
  EXPECT_EQ(block_on(root.scope(), value_after(1ms)), 3);
  EXPECT_TRUE(root.end(10s, nullptr));
}

TEST(BlockOnDeathTest, AWorkerThatBlocksEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto block_inside = [] {
    ThreadPool pool(1);
    testing::VirtualTimers timers;
    Root root(pool, timers, nullptr);
    auto body = [](Scope scope) -> Task<void> {
      block_on(scope, value_after(0ms));
      co_return;
    };
    block_on(root.scope(), body);
  };
  EXPECT_DEATH(block_inside(), "must not block");
}

TEST(OnCompletionTest, IsCalledOnceWithTheEndAlsoWhereItIsLate) {
  CoroWorld world;
  Job job = world.scope().launch(value_after, 1ms);
  int calls = 0;
  job.on_completion([&calls](const Outcome<void>& outcome) { calls += outcome.has_value() ? 1 : 100; });
  world.advance(2ms);
  EXPECT_EQ(calls, 1);
  job.on_completion([&calls](const Outcome<void>& outcome) { calls += outcome.has_value() ? 1 : 100; });
  EXPECT_EQ(calls, 2);
}

TEST(OnCompletionTest, AHandlerMayRegisterAnother) {
  CoroWorld world;
  Job job = world.scope().launch(value_after, 1ms);
  int calls = 0;
  job.on_completion([&calls, job](const Outcome<void>&) {
    ++calls;
    job.on_completion([&calls](const Outcome<void>&) { ++calls; });
  });
  world.advance(2ms);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace tenure
