// A slot holds one session; another load takes its place.
#include <tenure/testing/world.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

std::string code_thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code()));
  }
  return "nothing";
}

TEST(SessionSlotTest, AnEmptySlotSaysFailedPrecondition) {
  FakeEngine engine;
  World world{engine};
  Owner page = world.open("page");
  const SessionSlot slot{page};
  EXPECT_EQ(code_thrown([&] { static_cast<void>(slot.run(some_inputs())); }), "failed_precondition");
  EXPECT_EQ(code_thrown([&] { static_cast<void>(slot.session()); }), "failed_precondition");
}

TEST(SessionSlotTest, WhoWaitsForALoadThatIsReplacedHearsClosed) {
  FakeEngine engine{FakeScript{.load_time = 20ms}};
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  slot.load("first.fake");
  auto waiting = page.async(slot.run(some_inputs()));
  world.advance(10ms);
  slot.load("second.fake");
  EXPECT_EQ(end_of(world, std::move(waiting)), "closed");
  EXPECT_EQ(end_of(world.run(slot.run(some_inputs()))), "value");
  world.run_until_idle();
  EXPECT_EQ(engine.native_counts().instances, 1);
}

TEST(SessionSlotTest, AnotherLoadClosesTheOldSessionWithItsRuns) {
  FakeEngine engine{FakeScript{.run_time = 50ms, .stops = Stops::kPerNode}};
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  slot.load("first.fake");
  auto running = page.async(slot.run(some_inputs()));
  world.advance(12ms);
  slot.load("second.fake");
  auto next = page.async(slot.run(some_inputs()));
  EXPECT_EQ(end_of(world, std::move(running)), "closed");
  EXPECT_EQ(world.elapsed(), 12ms);
  EXPECT_EQ(end_of(world, std::move(next)), "value");
  EXPECT_EQ(engine.report().runs_stopped, 1U) << "the stop flag of the first did not stick (I12)";
}

TEST(SessionSlotTest, TheEndOfTheOwnerEndsThePendingLoadAndWhoWaitsElsewhere) {
  FakeEngine engine{FakeScript{.load_time = 20ms}};
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  slot.load("model.fake");
  auto outside = world.scope().async(slot.run(some_inputs()));
  world.advance(10ms);
  page.cancel();
  world.run_until_idle();
  ASSERT_TRUE(outside.job().is_complete()) << "nobody would ever answer it";
  EXPECT_NE(end_of(world, std::move(outside)), "value");
  expect_clean(engine);
}

TEST(SessionSlotTest, ALoadAfterTheEndOfTheOwnerSaysClosedAndIsForWhoRuns) {
  FakeEngine engine;
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  page.cancel();
  world.run_until_idle();
  const std::string thrown = code_thrown([&] { slot.load("model.fake"); });
  EXPECT_EQ(thrown, "closed");
  // Whatever load said, a run in the slot must not wait for ever.
  std::string end;
  try {
    auto run = world.scope().async(slot.run(some_inputs()));
    world.run_until_idle();
    ASSERT_TRUE(run.job().is_complete());
    end = end_of(world, std::move(run));
  } catch (const Error& error) {
    end = to_string(error.code());
  }
  EXPECT_TRUE(end == "closed" || end == "cancelled" || end == "failed_precondition") << end;
  EXPECT_EQ(engine.log(), Log{});
}

TEST(SessionSlotTest, ClearClosesAndTheSlotIsEmpty) {
  FakeEngine engine;
  World world{engine};
  Owner page = world.open("page");
  SessionSlot slot{page};
  slot.load("model.fake");
  Session session = world.run(slot.session()).value();
  EXPECT_EQ(session.state(), SessionState::kReady);
  slot.clear();
  slot.clear();
  world.run_until_idle();
  EXPECT_EQ(session.state(), SessionState::kClosed);
  EXPECT_EQ(code_thrown([&] { static_cast<void>(slot.session()); }), "failed_precondition");
  expect_clean(engine);
}

TEST(SessionSlotTest, ReloadedInARowOnlyTheLastOneStays) {
  for (const Duration pause : {Duration{0}, Duration{1ms}, Duration{20ms}}) {
    FakeEngine engine{FakeScript{.load_time = 10ms}};
    World world{engine};
    Owner page = world.open("page");
    SessionSlot slot{page};
    for (int i = 0; i < 10; ++i) {
      slot.load("model.fake");
      world.advance(pause);
    }
    EXPECT_EQ(end_of(world.run(slot.run(some_inputs()))), "value");
    world.run_until_idle();
    EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 1, .contexts = 1}));
  }
}

}  // namespace
}  // namespace tenure
