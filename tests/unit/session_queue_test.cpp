// The intake: who is next, how many may wait, and several lanes.
#include <tenure/testing/world.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

/// A fake whose runs tell the first number of their input, in the order in which they begin.
struct Recorder {
  explicit Recorder(FakeScript script) {
    script.compute = [this](std::span<const ConstTensorView> inputs, std::span<const TensorView>) {
      const std::lock_guard lock(mutex);
      begun.push_back(static_cast<int>(*reinterpret_cast<const float*>(inputs[0].bytes.data())));
    };
    engine.set_script(std::move(script));
  }
  FakeEngine engine;
  std::mutex mutex;
  std::vector<int> begun;
};

TEST(SessionQueueTest, RunsStartByPriorityThenDeadlineThenSubmission) {
  Recorder recorder(FakeScript{.run_time = 10ms});
  World world{recorder.engine};
  Session session = world.load();
  const TimePoint soon = TimePoint{} + 1h;
  const TimePoint late = TimePoint{} + 2h;
  const std::vector<RunOptions> options = {
      {},  // the first goes to the lane at once
      {},
      {.priority = -1, .deadline = soon},
      {.priority = 0, .deadline = late},
      {.priority = 0, .deadline = soon},
      {.priority = 1},
      {.priority = 0, .deadline = soon},
      {.priority = 1, .deadline = late},
      {},
      {.priority = -1},
  };
  std::vector<Deferred<float>> runs;
  runs.reserve(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    runs.push_back(begin_run(world.scope(), session, static_cast<float>(i), options[i]));
    world.settle();
  }
  EXPECT_EQ(session.waiting(), options.size() - 1);
  EXPECT_EQ(session.running(), 1U);
  world.run_until_idle();
  EXPECT_EQ(recorder.begun, (std::vector<int>{0, 7, 5, 4, 6, 3, 1, 8, 2, 9}));
}

TEST(SessionQueueTest, ACancelledRequestLeavesTheOthersInOrder) {
  Recorder recorder(FakeScript{.run_time = 10ms});
  World world{recorder.engine};
  Session session = world.load();
  std::vector<Deferred<float>> runs;
  runs.reserve(6);
  for (int i = 0; i < 6; ++i) {
    runs.push_back(begin_run(world.scope(), session, static_cast<float>(i)));
    world.settle();
  }
  for (const int i : {5, 1, 3}) runs[static_cast<std::size_t>(i)].cancel();  // last, first, middle of those that wait
  world.run_until_idle();
  EXPECT_EQ(recorder.begun, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(world.runtime().ledger().runs().cancelled[0], 3U);
}

TEST(SessionQueueTest, BeyondItsBoundTheIntakeSaysResourceExhausted) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.intake_bound = 2;
  Session session = world.load(spec);
  std::vector<Deferred<float>> runs;
  runs.reserve(4);
  for (int i = 0; i < 4; ++i) {
    runs.push_back(begin_run(world.scope(), session));
    world.settle();
  }
  EXPECT_EQ(session.waiting(), 2U);
  EXPECT_EQ(end_of(world, std::move(runs[3])), "resource_exhausted");
  EXPECT_EQ(world.elapsed(), 0ms) << "who is refused does not wait";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(end_of(world, std::move(runs[static_cast<std::size_t>(i)])), "value");
  EXPECT_EQ(end_of(world, begin_run(world.scope(), session)), "value") << "there is room again";
}

TEST(SessionQueueTest, ABoundOfZeroTakesWhatALaneIsFreeFor) {
  FakeEngine engine{FakeScript{.run_time = 10ms}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.intake_bound = 0;
  Session session = world.load(spec);
  auto first = begin_run(world.scope(), session);
  world.settle();
  auto second = begin_run(world.scope(), session);
  world.settle();
  EXPECT_EQ(end_of(world, std::move(second)), "resource_exhausted");
  EXPECT_EQ(end_of(world, std::move(first)), "value");
}

TEST(SessionQueueTest, TheBoundDoesNotCountWhatAFreeLaneIsAboutToTake) {
  for (int round = 0; round < 50; ++round) {
    FakeEngine engine{FakeScript{.run_time = 10ms}};
    World world{engine};
    ModelSpec spec("model.fake");
    spec.intake_bound = 1;
    Session session = world.load(spec);
    auto first = begin_run(world.scope(), session);
    auto second = begin_run(world.scope(), session);
    EXPECT_EQ(end_of(world, std::move(first)), "value");
    EXPECT_EQ(end_of(world, std::move(second)), "value");
  }
}

TEST(SessionQueueTest, SeveralLanesServeAConcurrentEngine) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .concurrent_runs = true}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 3;
  Session session = world.load(spec);
  world.settle();
  EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 1, .contexts = 3}));
  std::vector<Deferred<float>> runs;
  runs.reserve(6);
  for (int i = 0; i < 6; ++i) runs.push_back(begin_run(world.scope(), session, static_cast<float>(i)));
  world.advance(5ms);
  EXPECT_EQ(session.running(), 3U);
  EXPECT_EQ(session.waiting(), 3U);
  for (int i = 0; i < 6; ++i) {
    auto outcome = world.run(await_deferred<float>, std::move(runs[static_cast<std::size_t>(i)]));
    EXPECT_EQ(std::move(outcome).value(), 2.0F * static_cast<float>(i));
  }
  EXPECT_EQ(world.elapsed(), 20ms);
  EXPECT_EQ(engine.report().most_concurrent_runs, 3U);
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  expect_clean(engine);
}

TEST(SessionQueueTest, AnEngineThatRunsOneAtATimeOrIsThreadBoundGetsOneLane) {
  for (const bool is_bound : {false, true}) {
    FakeEngine engine{FakeScript{.run_time = 10ms, .thread_bound = is_bound, .concurrent_runs = is_bound}};
    World world{engine};
    ModelSpec spec("model.fake");
    spec.lanes = 3;
    Session session = world.load(spec);
    std::vector<Deferred<float>> runs;
    runs.reserve(3);
    for (int i = 0; i < 3; ++i) runs.push_back(begin_run(world.scope(), session));
    for (auto& run : runs) EXPECT_EQ(end_of(world, std::move(run)), "value");
    EXPECT_EQ(engine.report().most_concurrent_runs, 1U);
    EXPECT_EQ(end_of(world.run(close_session, session)), "value");
    expect_clean(engine);
  }
}

}  // namespace
}  // namespace tenure
