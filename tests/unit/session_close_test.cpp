// Close and drain: from any thread, at any moment, twice; what runs, what waits, and what is released.
#include <tenure/testing/world.hpp>

#include "support/scoped_session.hpp"
#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

const Log kReleased{"context freed", "instance freed", "device freed"};

TEST(SessionCloseTest, ADrainLetsWhatWasAcceptedFinishAndRaisesNoFlag) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
  World world{engine};
  ScopedSession scoped(world);
  std::vector<Deferred<float>> runs;
  runs.reserve(3);
  for (int i = 0; i < 3; ++i) runs.push_back(begin_run(world.scope(), scoped.session));
  world.advance(12ms);
  scoped.end_scope();
  EXPECT_EQ(scoped.session.state(), SessionState::kDraining);
  EXPECT_EQ(end_of(world, begin_run(world.scope(), scoped.session)), "closed") << "its intake is closed";
  EXPECT_EQ(world.elapsed(), 12ms);
  for (auto& run : runs) EXPECT_EQ(end_of(world, std::move(run)), "value");
  EXPECT_EQ(world.elapsed(), 150ms);
  world.settle();
  EXPECT_EQ(engine.report().runs_stopped, 0U);
  EXPECT_TRUE(scoped.scope_job().is_complete());
  expect_clean(engine);
}

TEST(SessionCloseTest, ACloseStopsWhatRunsAndDropsWhatWaits) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
  World world{engine};
  Session session = world.load();
  std::vector<Deferred<float>> runs;
  runs.reserve(3);
  for (int i = 0; i < 3; ++i) runs.push_back(begin_run(world.scope(), session));
  world.advance(12ms);
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  EXPECT_EQ(world.elapsed(), 15ms) << "the next step after 12 ms";
  for (auto& run : runs) EXPECT_EQ(end_of(world, std::move(run)), "closed");
  EXPECT_EQ(engine.report().runs_begun, 1U);
  EXPECT_EQ(engine.report().runs_stopped, 1U);
  expect_clean(engine);
}

TEST(SessionCloseTest, TheLastHandleDroppedDrainsIt) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
  World world{engine};
  Session session = world.load();
  auto first = begin_run(world.scope(), session);
  auto second = begin_run(world.scope(), session);
  world.advance(12ms);
  session = Session();
  EXPECT_EQ(end_of(world, std::move(first)), "value");
  EXPECT_EQ(end_of(world, std::move(second)), "value");
  world.settle();
  EXPECT_EQ(engine.report().runs_stopped, 0U);
  expect_clean(engine);
}

TEST(SessionCloseTest, TheLastHandleDroppedOnAnIdleSessionReleasesItAtOnce) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  const Session copy = session;
  session = Session();
  world.settle();
  EXPECT_EQ(copy.state(), SessionState::kReady) << "one handle is left";
  engine.clear_log();
  Session last = copy;
  const_cast<Session&>(copy) = Session();
  last = Session();
  world.settle();
  EXPECT_EQ(engine.log(), kReleased);
}

TEST(SessionCloseTest, CloseWhileItLoadsEndsTheLoad) {
  for (const bool stops : {false, true}) {
    FakeEngine engine{FakeScript{.load_time = 50ms, .load_stops = stops}};
    World world{engine};
    Owner page = world.open("page");
    auto load = page.async(load_session(page.scope(), "model.fake"));
    world.advance(12ms);
    page.cancel();
    EXPECT_TRUE(load.job().is_complete()) << "its caller is released now";
    EXPECT_EQ(end_of(world.run(&Owner::close, &page)), "value");
    EXPECT_EQ(world.elapsed(), stops ? 15ms : 50ms);
    expect_clean(engine);
  }
}

TEST(SessionCloseTest, CloseFromAnotherThreadWhileARunIsInFlight) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  auto run = begin_run(world.scope(), session);
  world.advance(10ms);
  std::thread([session] { session.request_close(); }).join();
  EXPECT_EQ(session.state(), SessionState::kClosing);
  EXPECT_EQ(end_of(world, std::move(run)), "closed");
  EXPECT_EQ(world.elapsed(), 10ms);
  world.run_until_idle();
  expect_clean(engine);
}

TEST(SessionCloseTest, CloseDuringAnotherCloseWaitsForTheSameEnd) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  auto run = begin_run(world.scope(), session);
  world.advance(10ms);
  std::vector<Deferred<void>> closings;
  closings.reserve(3);
  for (int i = 0; i < 3; ++i) closings.push_back(world.scope().async(close_session, session));
  world.settle();
  session.request_close();
  for (const auto& closing : closings) EXPECT_FALSE(closing.job().is_complete());
  for (auto& closing : closings) EXPECT_EQ(end_of(world, std::move(closing)), "value");
  EXPECT_EQ(world.elapsed(), 50ms);
  expect_clean(engine);
}

Task<float> run_then_close(Session session) {
  Task<float> run = run_once(session, 1.0F);
  const float result = co_await std::move(run);
  co_await session.close();
  co_return result;
}

TEST(SessionCloseTest, OfSeveralLanesTheLastToComeBackIsWaitedFor) {
  for (int round = 0; round < 20; ++round) {
    FakeEngine engine{FakeScript{.run_time = 50ms, .concurrent_runs = true}};
    World world{engine};
    ModelSpec spec("model.fake");
    spec.lanes = 3;
    Session session = world.load(spec);
    std::vector<Deferred<float>> runs;
    runs.reserve(3);
    for (int i = 0; i < 3; ++i) {  // on whichever lane is first
      runs.push_back(begin_run(world.scope(), session));
      world.advance(10ms);
    }
    EXPECT_EQ(end_of(world.run(close_session, session)), "value");
    EXPECT_EQ(world.elapsed(), 70ms);
    expect_clean(engine);
  }
}

TEST(SessionCloseTest, CloseFromTheResultsOwnContinuation) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(world.run(run_then_close, session).value(), 2.0F);
  EXPECT_EQ(session.state(), SessionState::kClosed);
  expect_clean(engine);
}

TEST(SessionCloseTest, CloseFromACompletionCallback) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  Session session = world.load();
  std::string end;
  start(world.scope(), run_once(session, 1.0F), [&](const Outcome<float>& outcome) {
    end = end_of(outcome);
    session.request_close();
  });
  world.run_until_idle();
  EXPECT_EQ(end, "value");
  EXPECT_EQ(session.state(), SessionState::kClosed);
}

TEST(SessionCloseTest, ACloseWithADeadlineGoesOnBehindTheOneWhoGaveUp) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  auto run = begin_run(world.scope(), session);
  world.advance(10ms);
  EXPECT_EQ(end_of(world.run(close_within, session, 5ms)), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 15ms);
  EXPECT_EQ(session.state(), SessionState::kClosing);
  EXPECT_EQ(end_of(world.run(close_within, session, 1s)), "value");
  EXPECT_EQ(world.elapsed(), 50ms);
}

TEST(SessionCloseTest, WhoGivesUpWaitingForItsCloseIsReleasedWhileItGoesOn) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.load();
  auto run = begin_run(world.scope(), session);
  auto closing = page.async(close_session, session);
  world.advance(10ms);
  page.cancel();
  EXPECT_TRUE(closing.job().is_complete());
  world.run_until_idle();
  EXPECT_EQ(session.state(), SessionState::kClosed);
}

TEST(SessionCloseTest, AfterItsCloseEveryRunSaysClosedAndNothingReachesTheEngine) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "closed");
  std::vector<float> in(4);
  std::vector<float> out(4);
  EXPECT_EQ(end_of(world.run(run_borrowed, session, std::ref(in), std::ref(out))), "closed");
  EXPECT_EQ(engine.report().runs_begun, 0U);
}

TEST(SessionCloseTest, TheEndOfAScopeDrainsItsSessionBeforeTheScopeIsOver) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  auto body = [](Scope scope) -> Task<float> {
    Task<Session> load = scope.load("model.fake");
    Session session = co_await std::move(load);
    Deferred<float> left_behind = scope.async(run_once, session, 3.0F, RunOptions{});
    static_cast<void>(left_behind);
    Task<float> run = run_once(session, 1.0F);
    co_return co_await std::move(run);
  };
  auto outer = [&](FakeEngine& fake) -> Task<float> {
    auto scope = coroutine_scope(body);
    const float result = co_await std::move(scope);
    EXPECT_EQ(fake.native_counts(), NativeCounts{}) << "all is released before the scope's result is seen";
    co_return result;
  };
  EXPECT_EQ(world.run(outer, std::ref(engine)).value(), 2.0F);
  EXPECT_EQ(engine.report().runs_ended, 2U);
  EXPECT_EQ(engine.report().runs_stopped, 0U);
}

TEST(SessionCloseTest, ASessionReturnedOutOfItsScopeSaysClosed) {
  FakeEngine engine;
  World world{engine};
  auto load_in = [](Scope scope) -> Task<Session> {
    Task<Session> load = scope.load("model.fake");
    co_return co_await std::move(load);
  };
  auto outer = [&]() -> Task<Session> {
    auto scope = coroutine_scope(load_in);
    co_return co_await std::move(scope);
  };
  Session session = world.run(outer).value();
  EXPECT_EQ(session.state(), SessionState::kClosed);
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "closed");
}

TEST(SessionCloseTest, OwnersThatWaitForEachOthersSessionsDoNotHang) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Owner first = world.open("first");
  Owner second = world.open("second");
  Session a = world.run(load_session(first.scope(), "a.fake")).value();
  Session b = world.run(load_session(second.scope(), "b.fake")).value();
  const auto run_a = begin_run(second.scope(), a);
  const auto run_b = begin_run(first.scope(), b);
  world.advance(10ms);
  first.cancel();
  second.cancel();
  world.run_until_idle();
  EXPECT_TRUE(first.job().is_complete());
  EXPECT_TRUE(second.job().is_complete());
  expect_clean(engine);
}

}  // namespace
}  // namespace tenure
