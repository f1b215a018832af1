// A time limit against the result, against the outer cancel, and what became of native work it left behind.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/coro/receipt.hpp>
#include <tenure/testing/coro_test.hpp>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::Resource;
using testing::ResourceCount;

Task<Resource> resource_after(Duration duration, ResourceCount& count) {
  co_await delay(duration);
  co_return Resource(count);
}
Task<void> wait_long() { co_await delay(1h); }

CORO_TEST(TimeoutTest, AValueInTimeWinsAndTheTimerIsGone) {
  ResourceCount count;
  {
    Outcome<Resource> outcome = co_await as_outcome(with_timeout(10ms, resource_after(9ms, count)));
    EXPECT_TRUE(outcome.has_value());
    EXPECT_EQ(world.timers().next(), TimePoint::max());
  }
  EXPECT_EQ(count.live, 0);
}

CORO_TEST(TimeoutTest, ALimitThatPassedGivesAnErrorAndTheJobLivesOn) {
  ResourceCount count;
  Outcome<Resource> outcome = co_await as_outcome(with_timeout(10ms, resource_after(11ms, count)));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(count.made, 0);
  co_await checkpoint();
  EXPECT_FALSE(scope.is_cancelled());
}

// The limit and the value come at the same point in time, in whichever order: a value that came is not lost.
CORO_TEST(TimeoutTest, AtTheSameInstantEitherWinsAndNothingLeaks) {
  ResourceCount count;
  for (int round = 0; round < 100; ++round) {
    Outcome<Resource> outcome = co_await as_outcome(with_timeout(10ms, resource_after(10ms, count)));
    EXPECT_TRUE(outcome.has_value() || outcome.code() == ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(count.live, outcome.has_value() ? 1 : 0);
  }
  EXPECT_EQ(count.live, 0);
}

// The body comes to its value although the limit passed while it ran.
CORO_TEST(TimeoutTest, AValueWinsOverALimitThatPassedMeanwhile) {
  auto compute = [](CoroWorld& inner) -> Task<int> {
    inner.timers().move_to(inner.timers().now() + 20ms);  // fires the limit while this runs
    co_return 3;
  };
  EXPECT_EQ(co_await with_timeout(10ms, compute, std::ref(world)), 3);
}

CORO_TEST(TimeoutTest, AnErrorAfterTheLimitIsReportedAndTheLimitStands) {
  auto compute = [](CoroWorld& inner) -> Task<int> {
    inner.timers().move_to(inner.timers().now() + 20ms);
    throw std::runtime_error("too late");
    co_return 3;
  };
  Outcome<int> outcome = co_await as_outcome(with_timeout(10ms, compute, std::ref(world)));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(world.errors(), std::vector<std::string>{"too late"});
}

CORO_TEST(TimeoutTest, AnErrorBeforeTheLimitIsTheEnd) {
  auto broken = []() -> Task<int> {
    co_await delay(1ms);
    throw std::runtime_error("broken");
  };
  Outcome<int> outcome = co_await as_outcome(with_timeout(10ms, broken));
  EXPECT_TRUE(outcome.is_error());
  EXPECT_EQ(outcome.code(), std::nullopt);
}

Task<void> limited(bool& went_on, bool& saw_error) {
  try {
    co_await with_timeout(10ms, wait_long);
  } catch (...) {
    saw_error = true;
  }
  went_on = true;
}

TEST(TimeoutTest, AnOuterCancelBeatsALimitThatHasPassed) {
  CoroWorld world;
  bool went_on = false;
  bool saw_error = false;
  Job job = world.scope().launch(limited, std::ref(went_on), std::ref(saw_error));
  world.run_ready();
  job.cancel();
  world.timers().move_to(TimePoint(1h));
  world.run_ready();
  EXPECT_FALSE(went_on);
  EXPECT_FALSE(saw_error);
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

CORO_TEST(TimeoutTest, TheInnerLimitOfTwoIsAnErrorInsideTheOuter) {
  auto inner = []() -> Task<int> {
    Outcome<void> outcome = co_await as_outcome(with_timeout(5ms, wait_long));
    co_return outcome.code() == ErrorCode::kDeadlineExceeded ? 1 : 0;
  };
  EXPECT_EQ(co_await with_timeout(10ms, inner), 1);
}

CORO_TEST(TimeoutTest, TheOuterLimitOfTwoUnwindsTheInner) {
  bool went_on = false;
  auto inner = [](bool& on) -> Task<void> {
    Outcome<void> outcome = co_await as_outcome(with_timeout(1h, wait_long));
    static_cast<void>(outcome);
    on = true;
  };
  Outcome<void> outcome = co_await as_outcome(with_timeout(10ms, inner, std::ref(went_on)));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(world.timers().next(), TimePoint::max());
}

CORO_TEST(TimeoutTest, ItCancelsTheChildrenOfItsBodyToo) {
  auto body = [](Scope inner) -> Task<void> {
    inner.launch(wait_long);
    co_return;
  };
  Outcome<void> outcome = co_await as_outcome(with_timeout(10ms, body));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(world.elapsed(), 10ms);
}

CORO_TEST(TimeoutTest, ZeroRunsUpToTheFirstWaitAndForeverNeverFires) {
  auto seven = []() -> Task<int> { co_return 7; };
  EXPECT_EQ(co_await with_timeout(0ms, seven), 7);
  EXPECT_EQ(co_await with_timeout(Duration::max(), seven), 7);
  Outcome<void> outcome = co_await as_outcome(with_timeout(0ms, wait_long));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THROW(static_cast<void>(with_timeout(-1ms, seven)), Error);
}

CORO_TEST(TimeoutTest, AnEndThatLeftNothingNativeBehindHasNoReceipt) {
  Outcome<void> outcome = co_await as_outcome(with_timeout(1ms, wait_long));
  Outcome<CancelReceipt> receipt = co_await as_outcome(outcome.receipt());
  EXPECT_EQ(receipt.code(), ErrorCode::kFailedPrecondition);
  Outcome<void> value = Outcome<void>::of_value({});
  receipt = co_await as_outcome(value.receipt());
  EXPECT_EQ(receipt.code(), ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tenure
