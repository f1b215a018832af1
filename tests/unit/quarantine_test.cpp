// I14: a native call that never returns costs one lane, not the app.
#include <tenure/testing/world.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(QuarantineTest, OfALoadTellsWhoWaitsAndIsReapedWhenItComesBack) {
  FakeEngine engine{FakeScript{.load_time = 8s}};
  World world{engine};
  Owner page = world.open("page");
  auto load = page.async(load_session(page.scope(), "model.fake"));
  EXPECT_EQ(end_of(world, std::move(load)), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 5s);
  page.cancel();
  world.settle();
  EXPECT_TRUE(page.job().is_complete()) << "its owner does not wait for it";
  EXPECT_EQ(engine.native_counts().devices, 1) << "the device stays under the hung load";
  world.advance(3s);
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

TEST(QuarantineTest, OfARunChargesWhatItKeepsAndSparesOtherSessions) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}, .instance_bytes = 1000, .context_bytes = 10}};
  World world{engine};
  Session hung = world.load("hung.fake");
  Session other = world.load("other.fake");
  auto run = begin_run(world.scope(), hung);
  auto waiting = begin_run(world.scope(), hung);
  world.advance(1s);
  EXPECT_EQ(end_of(world.run(run_once, other, 1.0F, RunOptions{})), "value");
  world.advance(4s);
  const Log ends{end_of(world, std::move(run)), end_of(world, std::move(waiting))};
  EXPECT_TRUE(ends == (Log{"deadline_exceeded", "closed"}) || ends == (Log{"closed", "deadline_exceeded"}));
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 2);
  EXPECT_EQ(world.runtime().ledger().totals().bytes, 2020U);
  EXPECT_EQ(end_of(world.run(run_once, other, 1.0F, RunOptions{})), "value");
  EXPECT_EQ(end_of(world.run(run_once, hung, 1.0F, RunOptions{})), "closed");
  EXPECT_EQ(end_of(world.run(close_session, hung)), "deadline_exceeded");
  EXPECT_EQ(end_of(world.run(close_session, other)), "value");
  world.release_hung();
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 0);
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

TEST(QuarantineTest, ProgressRestartsTheHardLimit) {
  // Ten steps of 4 s each: 40 s in all, and never 5 s without one.
  FakeEngine engine{FakeScript{.run_time = 40s, .stops = Stops::kPerNode, .steps = 10}};
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
  EXPECT_EQ(world.elapsed(), 40s);
  EXPECT_EQ(session.state(), SessionState::kReady);
  // Without steps the same time is too much.
  engine.set_script({.run_time = 40s});
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 45s);
}

TEST(QuarantineTest, TheHardLimitIsTheSpecsWhereItHasOne) {
  FakeEngine engine{FakeScript{.run_time = 200ms}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.hard_limit = 100ms;
  Session session = world.load(spec);
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 100ms);
}

TEST(QuarantineTest, ManyShortRunsNeverComeToTheLimit) {
  FakeEngine engine{FakeScript{.run_time = 3s}};
  World world{engine};
  Session session = world.load();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
  EXPECT_EQ(world.elapsed(), 30s);
  EXPECT_EQ(session.state(), SessionState::kReady);
}

TEST(QuarantineTest, OfTheSecondLaneWaitsForBothToComeBack) {
  FakeEngine engine{FakeScript{.concurrent_runs = true, .hang_run_at = {1, 2}}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 2;
  Session session = world.load(spec);
  auto first = begin_run(world.scope(), session);
  world.advance(2s);
  auto second = begin_run(world.scope(), session);
  world.advance(3s);
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  EXPECT_EQ(end_of(world, std::move(first)), "deadline_exceeded");
  EXPECT_FALSE(second.job().is_complete()) << "it has 2 s left";
  EXPECT_EQ(end_of(world, std::move(second)), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 7s);
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 3);
  world.release_hung();
  EXPECT_EQ(session.state(), SessionState::kClosed);
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

TEST(QuarantineTest, TheOtherLanesRunEndsWellBesideAHungOne) {
  FakeEngine engine{FakeScript{.run_time = 4s, .concurrent_runs = true, .hang_run_at = {1}}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 2;
  Session session = world.load(spec);
  auto hung = begin_run(world.scope(), session);
  world.advance(2s);
  auto good = begin_run(world.scope(), session);
  EXPECT_EQ(end_of(world, std::move(hung)), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 5s);
  EXPECT_EQ(end_of(world, std::move(good)), "value");
  EXPECT_EQ(world.elapsed(), 6s);
  world.release_hung();
  expect_clean(engine);
}

TEST(QuarantineTest, OfACancelledRunDoesNotAnswerTwice) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  Owner page = world.open("page");
  const auto run = begin_run(page.scope(), session);
  world.advance(1s);
  page.cancel();
  EXPECT_EQ(run.state(), JobState::kCancelled);
  world.advance(10s);
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  EXPECT_EQ(world.runtime().ledger().runs().cancelled, (std::array<std::uint64_t, 4>{0, 0, 0, 1}));
  world.release_hung();
  EXPECT_EQ(world.runtime().ledger().runs().cancelled, (std::array<std::uint64_t, 4>{0, 0, 0, 1}));
  EXPECT_EQ(session.state(), SessionState::kClosed);
}

TEST(QuarantineTest, ASessionDroppedWhileItHangsIsQuarantinedToo) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  {
    Owner page = world.open("page");
    Session session = world.run(load_session(page.scope(), "model.fake")).value();
    const auto run = begin_run(page.scope(), session);
    world.advance(1s);
  }
  world.advance(4s);
  EXPECT_EQ(world.runtime().ledger().totals().quarantined, 2);
  world.release_hung();
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

}  // namespace
}  // namespace tenure
