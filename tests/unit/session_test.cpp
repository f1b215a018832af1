#include <gtest/gtest.h>

#include <tenure/testing/world.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::FakeEngine;
using testing::FakeScript;
using testing::World;
using Log = std::vector<std::string>;

Inputs some_inputs(float first = 1.0F) {
  Tensor x(TensorSpec{"x", ElementType::kFloat32, {1, 4}});
  x.view<float>()[0] = first;
  Inputs inputs;
  inputs.add(std::move(x));
  return inputs;
}

Task<float> run_once(Session session, float value) {
  Inputs inputs = some_inputs(value);
  Outputs outputs = co_await session.run(std::move(inputs));
  co_return outputs["y"].view<float>()[0];
}

Task<float> load_and_run(Scope scope) {
  Session session = co_await scope.load("model.fake");
  co_return co_await run_once(session, 3.0F);
}

TEST(SessionTest, LoadsRunsAndReleasesInOrder) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  auto outcome = world.run(load_and_run);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(std::move(outcome).value(), 6.0F);
  EXPECT_EQ(engine.log(), (Log{"device made", "model loaded", "context made", "run", "run ended", "context freed",
                               "instance freed", "device freed"}));
}

TEST(SessionTest, I16_LeavingDuringARunReleasesTheCallerAtOnceAndTheModelInOrder) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.run(load_session(page.scope(), "model.fake")).value();
  Job run = page.launch(run_once, session, 1.0F);
  world.advance(10ms);
  page.cancel();
  EXPECT_TRUE(run.is_complete());  // its caller is released now, at 10 ms
  EXPECT_EQ(world.elapsed(), 10ms);
  EXPECT_FALSE(page.job().is_complete());
  world.advance(39ms);
  EXPECT_EQ(session.state(), SessionState::kClosing);
  world.advance(1ms);
  EXPECT_EQ(session.state(), SessionState::kClosed);
  EXPECT_TRUE(page.job().is_complete());
  EXPECT_EQ(engine.log_from("run"), (Log{"run", "run ended", "context freed", "instance freed", "device freed"}));
}

Task<void> run_with_limit(Session session, CancelReceipt& receipt, Duration& released_after, World& world) {
  Inputs inputs = some_inputs();
  Task<Outputs> run = session.run(std::move(inputs));
  Outcome<Outputs> outcome = co_await as_outcome(with_timeout(10ms, std::move(run)));
  released_after = world.elapsed();
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  receipt = co_await outcome.receipt();
}

TEST(SessionTest, ATimeLimitHasAReceipt) {
  for (const Stops stops : {Stops::kNever, Stops::kPerNode}) {
    FakeEngine engine{FakeScript{.run_time = 50ms, .stops = stops, .steps = 10}};
    World world{engine};
    Session session = world.load();
    CancelReceipt receipt;
    Duration released_after{0};
    const Duration begin = world.elapsed();
    auto outcome = world.run(run_with_limit, session, std::ref(receipt), std::ref(released_after), std::ref(world));
    EXPECT_TRUE(outcome.has_value());
    EXPECT_EQ(released_after - begin, 10ms);
    EXPECT_EQ(receipt.effect, stops == Stops::kNever ? CancelEffect::kDiscarded : CancelEffect::kStopped);
    EXPECT_GE(receipt.until_quiet, 0ms);
    EXPECT_EQ(world.run(run_once, session, 2.0F).value(), 4.0F) << "I12: the flag must not stick";
  }
}

TEST(SessionTest, QueuedRequestsEndWhenTheSessionIsClosed) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.load();
  std::vector<Deferred<float>> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(page.async(run_once, session, 1.0F));
  world.advance(10ms);
  EXPECT_EQ(session.waiting(), 4U);
  session.request_close();
  session.request_close();
  world.settle();
  for (auto& run : runs) {
    EXPECT_EQ(run.state(), JobState::kFailed);
    auto outcome = world.run([](Deferred<float> d) -> Task<float> { co_return co_await d; }, std::move(run));
    EXPECT_EQ(outcome.code(), ErrorCode::kClosed);
  }
  world.run_until_idle();
  EXPECT_EQ(engine.report().runs_begun, 1U);
  EXPECT_EQ(session.state(), SessionState::kClosed);
}

TEST(SessionTest, AFailedRunEndsThatRequestOnly) {
  FakeEngine engine{FakeScript{.fail_run_at = {2}}};
  World world{engine};
  Session session = world.load();
  EXPECT_TRUE(world.run(run_once, session, 1.0F).has_value());
  EXPECT_EQ(world.run(run_once, session, 1.0F).code(), ErrorCode::kEngine);
  EXPECT_TRUE(world.run(run_once, session, 1.0F).has_value());
}

Task<void> close(Session session) { co_await session.close(); }

TEST(SessionTest, I14_ACallThatNeverReturnsIsQuarantinedAndReapedWhenItDoes) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  Deferred<float> run = world.scope().async(run_once, session, 1.0F);
  world.advance(1s);
  EXPECT_EQ(world.run(close, session).code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 2);
  Session other = world.load();
  EXPECT_TRUE(world.run(run_once, other, 1.0F).has_value());
  world.release_hung();
  EXPECT_EQ(session.state(), SessionState::kClosed);
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 0);
  EXPECT_EQ(engine.native_counts().instances, 1);
}

Task<void> run_borrowed(Session session, std::vector<float>& in, std::vector<float>& out) {
  co_await session.run(borrow(in), borrow(out));
}

TEST(SessionTest, I16_LentTensorsKeepTheirCallerUntilNativeCodeHasLetGo) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .late_write = true}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.load();
  std::vector<float> in(4, 1.0F);
  std::vector<float> out(4);
  EXPECT_TRUE(world.run(run_borrowed, session, std::ref(in), std::ref(out)).has_value());
  EXPECT_EQ(out[0], 2.0F);
  Job run = page.launch(run_borrowed, session, std::ref(in), std::ref(out));
  world.advance(10ms);
  page.cancel();
  world.settle();
  EXPECT_FALSE(run.is_complete());
  world.advance(40ms);
  EXPECT_EQ(run.state(), JobState::kCancelled);
}

TEST(SessionTest, WrongInputsAreNamed) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  auto run_nothing = [](Session s) -> Task<void> { co_await s.run(Inputs{}); };
  EXPECT_EQ(world.run(run_nothing, session).code(), ErrorCode::kInvalidArgument);
}

TEST(SlotTest, AnotherLoadCancelsThePendingOne) {
  FakeEngine engine{FakeScript{.load_time = 20ms}};
  World world{engine};
  Owner page = world.open("page");
  {
    SessionSlot slot{page};
    slot.load("small.fake");
    world.advance(5ms);
    slot.load("large.fake");
    auto outcome = world.run(slot.run(some_inputs()));
    EXPECT_TRUE(outcome.has_value());
    slot.load("third.fake");
    world.run_until_idle();
    EXPECT_EQ(engine.native_counts().instances, 1);
  }
  world.run_until_idle();
  EXPECT_EQ(engine.native_counts().instances, 0);
}

TEST(SlotTest, AFailedLoadIsForWhoRuns) {
  FakeEngine engine{FakeScript{.fail_load = ErrorCode::kDataLoss}};
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  slot.load("broken.fake");
  EXPECT_EQ(world.run(slot.run(some_inputs())).code(), ErrorCode::kDataLoss);
  engine.set_script(FakeScript{});
  slot.load("good.fake");
  EXPECT_TRUE(world.run(slot.run(some_inputs())).has_value());
}

}  // namespace
}  // namespace tenure
