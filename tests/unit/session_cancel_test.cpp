// Layered cancellation: where a request is when its cancel comes, what becomes of it, and what its receipt says.
#include <tenure/coro/confined_dispatcher.hpp>
#include <tenure/testing/world.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

struct Limited {
  std::string end;
  Duration released_after{0};
  CancelReceipt receipt;
};

Task<Limited> run_for_at_most(Scope scope, Session session, Duration limit) {
  const TimePoint begin = scope.now();
  Task<float> run = run_once(session, 1.0F);
  Outcome<float> outcome = co_await as_outcome(with_timeout(limit, std::move(run)));
  Limited result;
  result.end = end_of(outcome);
  result.released_after = scope.now() - begin;
  Task<CancelReceipt> receipt = outcome.receipt();
  result.receipt = co_await std::move(receipt);
  co_return result;
}

TEST(SessionCancelTest, I12_AQueuedRequestIsDroppedAndNativeCodeNeverSeesIt) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
  World world{engine};
  Session session = world.load();
  auto first = begin_run(world.scope(), session);
  world.settle();
  const Limited limited = world.run(run_for_at_most, session, 12ms).value();
  EXPECT_EQ(limited.end, "deadline_exceeded");
  EXPECT_EQ(limited.released_after, 12ms);
  EXPECT_EQ(limited.receipt.effect, CancelEffect::kDropped);
  EXPECT_EQ(limited.receipt.steps, 0U);
  EXPECT_EQ(limited.receipt.until_quiet, 0ms);
  EXPECT_EQ(end_of(world, std::move(first)), "value") << "the run of another was not stopped";
  world.run_until_idle();
  EXPECT_EQ(engine.report().runs_begun, 1U);
  EXPECT_EQ(world.runtime().ledger().runs().cancelled[0], 1U);
}

TEST(SessionCancelTest, ARunThatCanBeStoppedIsStoppedAtItsNextStep) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode, .steps = 10}};
  World world{engine};
  Session session = world.load();
  const Limited limited = world.run(run_for_at_most, session, 12ms).value();
  EXPECT_EQ(limited.released_after, 12ms) << "its caller doesn't wait for the step";
  EXPECT_EQ(limited.receipt.effect, CancelEffect::kStopped);
  EXPECT_EQ(limited.receipt.steps, 3U);
  EXPECT_EQ(limited.receipt.until_quiet, 3ms);
  EXPECT_EQ(to_string(limited.receipt), to_string(CancelReceipt{CancelEffect::kStopped, 3, 3ms}));
  EXPECT_EQ(engine.report().runs_stopped, 1U);
}

TEST(SessionCancelTest, ARunThatCanNotBeStoppedRunsToItsEndAndItsOutputsAreDropped) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  const Limited limited = world.run(run_for_at_most, session, 12ms).value();
  EXPECT_EQ(limited.released_after, 12ms);
  EXPECT_EQ(limited.receipt.effect, CancelEffect::kDiscarded);
  EXPECT_EQ(limited.receipt.until_quiet, 38ms);
  EXPECT_EQ(world.elapsed(), 50ms);
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
}

TEST(SessionCancelTest, ARunThatDoesNotComeBackIsQuarantinedAndTheReceiptSaysSo) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  const Limited limited = world.run(run_for_at_most, session, 1s).value();
  EXPECT_EQ(limited.released_after, 1s);
  EXPECT_EQ(limited.receipt.effect, CancelEffect::kQuarantined);
  EXPECT_EQ(limited.receipt.until_quiet, 4s) << "the hard limit, 5 s from its start";
}

TEST(SessionCancelTest, ARunThatFailsAfterItsCancelIsDiscarded) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .fail_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  const Limited limited = world.run(run_for_at_most, session, 12ms).value();
  EXPECT_EQ(limited.end, "deadline_exceeded");
  EXPECT_EQ(limited.receipt.effect, CancelEffect::kDiscarded);
  EXPECT_TRUE(world.errors().empty()) << "nobody is left to hear of its error";
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
}

// Its caller's dispatcher is pumped by the test, so that the answer is on its way for as long as the test likes.
TEST(SessionCancelTest, I15_ACancelDuringDeliveryDropsTheOutputs) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  LoopDispatcher screen;
  Session session = world.load();
  {
    Owner page = world.runtime().open("page", screen);
    const auto run = page.async(run_once, session, 1.0F, RunOptions{});
    screen.run_ready();
    world.advance(10ms);
    EXPECT_EQ(engine.report().runs_ended, 1U);
    EXPECT_FALSE(run.job().is_complete()) << "the answer waits for the screen";
    page.cancel();
    EXPECT_EQ(run.state(), JobState::kCancelled);
    while (screen.run_ready() > 0) world.settle();
    EXPECT_TRUE(page.job().is_complete());
  }
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
  EXPECT_EQ(world.runtime().ledger().runs().done, 2U);
}

TEST(SessionCancelTest, ATimeLimitDuringDeliveryHasAReceiptOfADiscardedRun) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  LoopDispatcher screen;
  Session session = world.load();
  Owner page = world.runtime().open("page", screen);
  auto limited = page.async(run_for_at_most, session, 12ms);
  screen.run_ready();
  world.advance(15ms);
  while (screen.run_ready() > 0) world.settle();
  ASSERT_TRUE(limited.job().is_complete());
  const Limited result = world.run(await_deferred<Limited>, std::move(limited)).value();
  EXPECT_EQ(result.end, "deadline_exceeded");
  EXPECT_EQ(result.receipt.effect, CancelEffect::kDiscarded);
  EXPECT_EQ(result.receipt.until_quiet, 0ms) << "nothing native was left";
  page.cancel();
  while (screen.run_ready() > 0) world.settle();
}

TEST(SessionCancelTest, ACancelBeforeTheSubmissionSubmitsNothing) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  Owner page = world.open("page");
  page.cancel();
  world.settle();
  EXPECT_THROW(static_cast<void>(begin_run(page.scope(), session)), Error);
  Owner other = world.open("other");
  const auto run = begin_run(other.scope(), session);
  other.cancel();
  EXPECT_EQ(run.state(), JobState::kCancelled);
  world.run_until_idle();
  EXPECT_EQ(engine.report().runs_begun, 0U);
}

TEST(SessionCancelTest, ACancelThenACloseAndACloseThenACancelAreOneEnd) {
  for (const bool closes_first : {false, true}) {
    FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
    World world{engine};
    Session session = world.load();
    auto running = begin_run(world.scope(), session);
    world.settle();
    auto waiting = begin_run(world.scope(), session);
    world.advance(12ms);
    if (closes_first) session.request_close();
    running.cancel();
    waiting.cancel();
    session.request_close();
    world.run_until_idle();
    EXPECT_TRUE(running.job().is_complete());
    EXPECT_TRUE(waiting.job().is_complete());
    const RunTotals runs = world.runtime().ledger().runs();
    EXPECT_EQ(runs.cancelled, (std::array<std::uint64_t, 4>{1, 1, 0, 0}));
    EXPECT_EQ(session.state(), SessionState::kClosed);
  }
}

TEST(SessionCancelTest, I12_OneOfTwoLanesIsStoppedAndTheOtherGoesOn) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode, .concurrent_runs = true}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 2;
  Session session = world.load(spec);
  auto stopped = begin_run(world.scope(), session);
  auto kept = begin_run(world.scope(), session);
  world.advance(12ms);
  stopped.cancel();
  EXPECT_EQ(end_of(world, std::move(kept)), "value");
  EXPECT_EQ(engine.report().runs_stopped, 1U);
}

TEST(SessionCancelTest, AFutureOfACancelledRunSaysAborted) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  Owner page = world.open("page");
  std::future<float> cancelled = start_future(page, run_once(session, 1.0F));
  std::future<float> finished = start_future(world.scope(), run_once(session, 2.0F));
  world.advance(10ms);
  page.cancel();
  world.run_until_idle();
  ASSERT_EQ(cancelled.wait_for(0s), std::future_status::ready);
  ASSERT_EQ(finished.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(finished.get(), 4.0F);
  try {
    cancelled.get();
    ADD_FAILURE() << "a cancelled run gave a value";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
  }
}

TEST(SessionCancelTest, ACallbackHearsOfAClose) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  Log ends;
  for (int i = 0; i < 3; ++i) {
    start(world.scope(), run_once(session, 1.0F),
          [&](const Outcome<float>& outcome) { ends.push_back(end_of(outcome)); });
  }
  world.advance(10ms);
  session.request_close();
  world.run_until_idle();
  EXPECT_EQ(ends, (Log{"closed", "closed", "closed"}));
}

}  // namespace
}  // namespace tenure
