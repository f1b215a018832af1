// D and G: work goes with its owner; a load that failed is not used.
#include <tenure/testing/world.hpp>

#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(Case, D5_TheOwnerGoesWhileSomeoneElseHoldsTheStream) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .stops = Stops::kPerNode}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.run(load_session(page.scope(), "model.fake")).value();
  const Channel<float> tokens{kUnlimited};
  auto stream = page.async(
      [](Session model, Sender<float> out) -> Task<int> {
        for (int i = 0;; ++i) {
          Task<float> run = run_once(model, static_cast<float>(i));
          const float token = co_await std::move(run);
          co_await out.send(token);
        }
      },
      session, tokens.sender());
  world.advance(55ms);
  page = Owner();
  world.run_until_idle();
  const std::uint64_t begun = engine.report().runs_begun;
  world.advance(1s);
  EXPECT_EQ(engine.report().runs_begun, begun) << "the work goes on behind its owner";
  EXPECT_EQ(begun, 6U);
  EXPECT_EQ(stream.state(), JobState::kCancelled);
  EXPECT_EQ(end_of(world, std::move(stream)), "aborted") << "the holder hears that others cancelled it";
  // The text so far is the holder's.
  std::vector<float> so_far;
  while (auto token = tokens.try_receive()) so_far.push_back(*token);
  EXPECT_EQ(so_far, (std::vector<float>{0, 2, 4, 6, 8}));
  expect_clean(engine);
}

struct Stage {
  const char* name;
  FakeScript script;
  std::string end;
};

TEST(Case, G15_AfterAFailedLoadTheHandleSaysSoAndReloads) {
  const std::vector<Stage> stages = {
      {"file", {.require_file = true}, "not_found"},
      {"format", {.fail_load = ErrorCode::kDataLoss}, "data_loss"},
      {"memory", {.fail_load = ErrorCode::kResourceExhausted}, "resource_exhausted"},
      {"delegate", {.fail_device = ErrorCode::kUnavailable}, "unavailable"},
      {"warm-up", {.fail_context = ErrorCode::kEngine}, "engine"},
  };
  for (const Stage& stage : stages) {
    SCOPED_TRACE(stage.name);
    FakeEngine engine{stage.script};
    World world{engine};
    Owner page = world.open("page");
    SessionSlot slot{page};
    slot.load("model.fake");
    EXPECT_EQ(end_of(world.run(slot.run(some_inputs()))), stage.end);
    EXPECT_EQ(end_of(world.run(slot.session())), stage.end);
    auto cancelled = world.scope().async(slot.run(some_inputs()));
    cancelled.cancel();
    world.settle();
    EXPECT_TRUE(cancelled.job().is_complete());
    slot.clear();
    slot.clear();
    EXPECT_THROW(static_cast<void>(slot.run(some_inputs())), Error);
    engine.set_script({});
    slot.load("good.fake");
    EXPECT_EQ(end_of(world.run(slot.run(some_inputs()))), "value");
    page.cancel();
    world.run_until_idle();
    expect_clean(engine);
  }
}

}  // namespace
}  // namespace tenure
