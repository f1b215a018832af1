// I18: the table in session_state.hpp, cell by cell, and each allowed move by what causes it.
#include <array>
#include <tenure/testing/world.hpp>

#include "support/scoped_session.hpp"
#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr std::array kStates = {SessionState::kLoading,    SessionState::kReady,  SessionState::kDraining,
                                SessionState::kClosing,    SessionState::kClosed, SessionState::kFailed,
                                SessionState::kQuarantined};

TEST(SessionStatesTest, I18_EachCellIsAsTheTableSays) {
  // To:                             Loading Ready Draining Closing Closed Failed Quarantined
  const std::array<std::string, 7> table = {"-x-x-xx",   // from kLoading
                                            "--xx-xx",   // kReady
                                            "---x-xx",   // kDraining
                                            "----x-x",   // kClosing
                                            "-------",   // kClosed
                                            "----x-x",   // kFailed
                                            "----x--"};  // kQuarantined
  for (std::size_t from = 0; from < kStates.size(); ++from) {
    for (std::size_t to = 0; to < kStates.size(); ++to) {
      EXPECT_EQ(may_move(kStates.at(from), kStates.at(to)), table.at(from).at(to) == 'x')
          << to_string(kStates.at(from)) << " to " << to_string(kStates.at(to));
    }
  }
}

TEST(SessionStatesTest, EveryStateHasAName) {
  for (const SessionState state : kStates) EXPECT_NE(to_string(state), "unknown");
  EXPECT_EQ(to_string(static_cast<SessionState>(99)), "unknown");
  EXPECT_FALSE(may_move(static_cast<SessionState>(99), SessionState::kClosed));
}

TEST(SessionStatesTest, LoadingBecomesReadyThenClosingThenClosed) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(session.state(), SessionState::kReady);
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "closing", "closed"}));
}

TEST(SessionStatesTest, LoadingBecomesFailedWhereTheEngineRefuses) {
  FakeEngine engine{FakeScript{.fail_load = ErrorCode::kDataLoss}};
  World world{engine};
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), "model.fake"))), "data_loss");
  world.settle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "failed", "closed"}));
}

TEST(SessionStatesTest, LoadingBecomesClosingWhereItsScopeIsCancelled) {
  FakeEngine engine{FakeScript{.load_time = 50ms}};
  World world{engine};
  Owner page = world.open("page");
  page.launch(load_session(page.scope(), "model.fake"));
  world.advance(10ms);
  page.cancel();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "closing"}));
  world.run_until_idle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "closing", "closed"}));
}

TEST(SessionStatesTest, LoadingBecomesQuarantinedAtTheHardLimit) {
  FakeEngine engine{FakeScript{.load_time = 6s}};
  World world{engine};
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), "model.fake"))), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 5s);
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "quarantined"}));
  world.run_until_idle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "quarantined", "closed"}));
}

TEST(SessionStatesTest, ReadyBecomesDrainingWithTheLastHandleThenClosingThenClosed) {
  FakeEngine engine;
  World world{engine};
  {
    const Session session = world.load();
  }
  world.settle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "draining", "closing", "closed"}));
}

TEST(SessionStatesTest, ReadyBecomesFailedWhereTheDeviceIsLost) {
  FakeEngine engine{FakeScript{.device_lost_at = 1}};
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "device_lost");
  world.settle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "failed", "closed"}));
}

TEST(SessionStatesTest, ReadyBecomesQuarantinedThenClosedWhereTheCallComesBack) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "deadline_exceeded");
  world.release_hung();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "quarantined", "closed"}));
}

TEST(SessionStatesTest, DrainingBecomesClosingWhereItIsClosedWithARunInFlight) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  ScopedSession scoped(world);
  auto run = begin_run(world.scope(), scoped.session);
  world.advance(10ms);
  scoped.end_scope();
  EXPECT_EQ(scoped.session.state(), SessionState::kDraining);
  scoped.session.request_close();
  EXPECT_EQ(scoped.session.state(), SessionState::kClosing);
  EXPECT_EQ(end_of(world, std::move(run)), "closed");
  world.run_until_idle();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "draining", "closing", "closed"}));
}

TEST(SessionStatesTest, DrainingBecomesFailedWhereTheDeviceIsLost) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .device_lost_at = 2}};
  World world{engine};
  ScopedSession scoped(world);
  auto first = begin_run(world.scope(), scoped.session);
  auto second = begin_run(world.scope(), scoped.session);
  world.settle();
  scoped.end_scope();
  world.run_until_idle();
  const Log ends{end_of(world, std::move(first)), end_of(world, std::move(second))};
  EXPECT_TRUE(ends == (Log{"value", "device_lost"}) || ends == (Log{"device_lost", "value"})) << ends[0] << ends[1];
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "draining", "failed", "closed"}));
}

TEST(SessionStatesTest, DrainingBecomesQuarantinedAtTheHardLimit) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  ScopedSession scoped(world);
  auto run = begin_run(world.scope(), scoped.session);
  world.settle();
  scoped.end_scope();
  EXPECT_EQ(end_of(world, std::move(run)), "deadline_exceeded");
  world.release_hung();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"),
            (Log{"loading", "ready", "draining", "quarantined", "closed"}));
}

TEST(SessionStatesTest, ClosingBecomesQuarantinedAtTheHardLimit) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  auto run = begin_run(world.scope(), session);
  world.advance(1s);
  EXPECT_EQ(end_of(world.run(close_session, session)), "deadline_exceeded");
  EXPECT_EQ(end_of(world, std::move(run)), "closed");
  world.release_hung();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "closing", "quarantined", "closed"}));
}

TEST(SessionStatesTest, FailedBecomesQuarantinedWhereAnotherLaneHangs) {
  FakeEngine engine{FakeScript{.concurrent_runs = true, .hang_run_at = {1}, .device_lost_at = 2}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 2;
  Session session = world.load(spec);
  auto hung = begin_run(world.scope(), session);
  world.settle();
  auto lost = begin_run(world.scope(), session);
  EXPECT_EQ(end_of(world, std::move(lost)), "device_lost");
  EXPECT_EQ(session.state(), SessionState::kFailed);
  EXPECT_EQ(end_of(world, std::move(hung)), "deadline_exceeded");
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  world.release_hung();
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), (Log{"loading", "ready", "failed", "quarantined", "closed"}));
}

TEST(SessionStatesTest, NothingMovesItOnceItIsClosed) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  const Log moves = moves_of(world.runtime().ledger(), "model");
  session.request_close();
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "closed");
  session = Session();
  world.advance(10s);
  EXPECT_EQ(moves_of(world.runtime().ledger(), "model"), moves);
}

}  // namespace
}  // namespace tenure
