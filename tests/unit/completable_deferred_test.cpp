// A result that someone supplies: first wins, all waiters wake, nobody hangs.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;

Task<int> wait_for(Pending<int> pending) { co_return co_await pending; }

TEST(CompletableDeferredTest, TheFirstCompletionWinsAndWakesAll) {
  CoroWorld world;
  CompletableDeferred<int> deferred;
  std::vector<Deferred<int>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(world.scope().async(wait_for, deferred.pending()));
  world.run_ready();
  EXPECT_FALSE(deferred.is_done());
  EXPECT_TRUE(deferred.complete(4));
  EXPECT_FALSE(deferred.complete(5));
  EXPECT_FALSE(deferred.fail(std::make_exception_ptr(std::runtime_error("late"))));
  world.run_ready();
  for (const Deferred<int>& each : waiting) EXPECT_EQ(each.state(), JobState::kCompleted);
  EXPECT_EQ(world.run(wait_for, deferred.pending()).value(), 4);
}

TEST(CompletableDeferredTest, AFailureIsThrownByEachAwait) {
  CoroWorld world;
  CompletableDeferred<int> deferred;
  EXPECT_TRUE(deferred.fail(std::make_exception_ptr(std::runtime_error("broken"))));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(describe(world.run(wait_for, deferred.pending()).error()), "broken");
}

TEST(CompletableDeferredTest, WithTheLastCompleterGoneItIsAborted) {
  CoroWorld world;
  std::optional<CompletableDeferred<int>> first(std::in_place);
  std::optional<CompletableDeferred<int>> second(*first);
  const Pending<int> pending = first->pending();
  Deferred<int> waiting = world.scope().async(wait_for, pending);
  world.run_ready();
  first.reset();
  world.run_ready();
  EXPECT_EQ(waiting.state(), JobState::kActive);
  second.reset();
  world.run_ready();
  EXPECT_EQ(waiting.state(), JobState::kFailed);
  EXPECT_EQ(world.run(wait_for, pending).code(), ErrorCode::kAborted);
}

TEST(CompletableDeferredTest, ACancelledWaiterLeavesTheOthersUnharmed) {
  CoroWorld world;
  CompletableDeferred<int> deferred;
  Deferred<int> gone = world.scope().async(wait_for, deferred.pending());
  Deferred<int> stays = world.scope().async(wait_for, deferred.pending());
  world.run_ready();
  gone.cancel();
  EXPECT_TRUE(deferred.complete(1));
  world.run_ready();
  EXPECT_EQ(gone.state(), JobState::kCancelled);
  EXPECT_EQ(stays.state(), JobState::kCompleted);
}

TEST(CompletableDeferredTest, ACancelAfterTheWakeUpAndBeforeTheTurnUnwinds) {
  CoroWorld world;
  CompletableDeferred<int> deferred;
  Deferred<int> waiting = world.scope().async(wait_for, deferred.pending());
  world.run_ready();
  deferred.complete(1);
  waiting.cancel();
  world.run_ready();
  EXPECT_EQ(waiting.state(), JobState::kCancelled);
}

CORO_TEST(CompletableDeferredTest, AResultOfNothingIsAnEvent) {
  CompletableDeferred<> event;
  auto complete = [](CompletableDeferred<> done) -> Task<void> {
    co_await delay(1ms);
    done.complete();
  };
  scope.launch(complete, event);
  co_await event;
  EXPECT_TRUE(event.is_done());
  EXPECT_EQ(world.elapsed(), 1ms);
}

}  // namespace
}  // namespace tenure
