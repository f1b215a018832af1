#include <gtest/gtest.h>

#include <mutex>
#include <tenure/engine/views.hpp>
#include <thread>

#include "engines/fake/fake_engine.hpp"
#include "support/expect_error.hpp"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

/// Time that passes only by being slept, on the thread that sleeps.
class CountedTime final : public FakeTime {
 public:
  void sleep(Duration duration, StopSignal& stop) override {
    const std::lock_guard lock(mutex_);
    passed_ += duration;
    if (passed_ >= stop_at_) stop.request();
  }
  TimePoint now() override {
    const std::lock_guard lock(mutex_);
    return TimePoint{} + passed_;
  }
  void stop_at(Duration moment) { stop_at_ = moment; }

 private:
  std::mutex mutex_;
  Duration passed_{0};
  Duration stop_at_ = Duration::max();
};

/// A model on the fake engine, with one input and one output of four numbers.
struct Rig {
  explicit Rig(FakeEngine& engine) {
    ModelSource source;
    source.file = "model.fake";
    StopSignal stop;
    device = engine.open_device("cpu");
    instance = device->load(source, {}, stop);
    context = instance->create_context();
  }
  RunEnd run() {
    StopSignal stop;
    return run(stop);
  }
  RunEnd run(StopSignal& stop) {
    const std::vector<ConstTensorView> inputs{view_of(std::as_const(x))};
    const std::vector<TensorView> outputs{view_of(y)};
    return context->run(inputs, outputs, stop);
  }

  std::unique_ptr<EngineDevice> device;
  std::unique_ptr<EngineInstance> instance;
  std::unique_ptr<EngineContext> context;
  Tensor x{{.name = "x", .type = ElementType::kFloat32, .shape = {1, 4}}};
  Tensor y{{.name = "y", .type = ElementType::kFloat32, .shape = {1, 4}}};
};

void expect_clean(const FakeEngine& engine) {
  const FakeReport report = engine.report();
  EXPECT_EQ(report.out_of_order, 0U);
  EXPECT_EQ(report.thread_violations, 0U);
  EXPECT_EQ(report.overlapping_runs, 0U);
  EXPECT_EQ(report.touches_after_free, 0U);
  EXPECT_EQ(report.runs_begun, report.runs_ended);
  EXPECT_EQ(engine.native_counts(), NativeCounts{});
}

TEST(FakeEngineTest, LogsWhatIsDoneToItInOrder) {
  FakeEngine engine;
  {
    Rig rig(engine);
    rig.x.view<float>()[2] = 3.0F;
    EXPECT_EQ(rig.run(), RunEnd::kDone);
    EXPECT_EQ(rig.y.view<float>()[2], 6.0F);
    rig.context.reset();
    rig.instance.reset();
  }
  EXPECT_EQ(engine.log(), (Log{"device made", "model loaded", "context made", "run", "run ended", "context freed",
                               "instance freed", "device freed"}));
  EXPECT_EQ(engine.log_from("run ended"), (Log{"run ended", "context freed", "instance freed", "device freed"}));
  expect_clean(engine);
}

TEST(FakeEngineTest, TakesItsTimeAndStopsAtACheckpoint) {
  const auto time = std::make_shared<CountedTime>();
  FakeEngine engine{{.run_time = 50ms, .stops = Stops::kPerNode, .steps = 7}, time};
  Rig rig(engine);
  EXPECT_EQ(rig.run(), RunEnd::kDone);
  EXPECT_EQ(time->now(), TimePoint{} + 50ms);
  time->stop_at(60ms);
  StopSignal stop;
  EXPECT_EQ(rig.run(stop), RunEnd::kStopped);
  EXPECT_EQ(stop.steps(), 2U);
  EXPECT_EQ(engine.log().back(), "run stopped");
  EXPECT_EQ(engine.report().runs_stopped, 1U);
}

TEST(FakeEngineTest, NeverStopsWhereTheScriptSaysSo) {
  const auto time = std::make_shared<CountedTime>();
  FakeEngine engine{{.run_time = 50ms}, time};
  Rig rig(engine);
  time->stop_at(1ms);
  StopSignal stop;
  EXPECT_EQ(rig.run(stop), RunEnd::kDone);
  EXPECT_TRUE(stop.requested());
}

TEST(FakeEngineTest, FailsWhereTheScriptSaysSo) {
  FakeEngine engine{{.fail_run_at = {2}, .device_lost_at = 4}};
  Rig rig(engine);
  EXPECT_EQ(rig.run(), RunEnd::kDone);
  expect_error(ErrorCode::kEngine, [&] { rig.run(); }, "run 2");
  EXPECT_EQ(rig.run(), RunEnd::kDone);
  expect_error(ErrorCode::kDeviceLost, [&] { rig.run(); });
  expect_error(ErrorCode::kDeviceLost, [&] { rig.run(); });
  Rig after(engine);
  EXPECT_EQ(after.run(), RunEnd::kDone);
  EXPECT_EQ(engine.report().runs_failed, 3U);
}

TEST(FakeEngineTest, RefusesDeviceLoadOrContextWithNothingLeft) {
  FakeEngine engine{{.fail_device = ErrorCode::kResourceExhausted}};
  expect_error(ErrorCode::kResourceExhausted, [&] { (void)engine.open_device("cpu"); });
  engine.set_script({.fail_load = ErrorCode::kDataLoss});
  expect_error(ErrorCode::kDataLoss, [&] { Rig rig(engine); }, "model.fake");
  engine.set_script({.fail_context = ErrorCode::kEngine});
  expect_error(ErrorCode::kEngine, [&] { Rig rig(engine); });
  engine.set_script({.refuse_accelerator = true});
  expect_error(ErrorCode::kUnavailable, [&] { (void)engine.open_device("gpu"); });
  EXPECT_FALSE(engine.devices()[1].available);
  expect_clean(engine);
}

TEST(FakeEngineTest, AHungRunComesBackWhenItIsReleased) {
  FakeEngine engine{{.hang_run_at = {1}}};
  Rig rig(engine);
  std::thread lane([&] { EXPECT_EQ(rig.run(), RunEnd::kDone); });
  engine.await_hung(1);
  EXPECT_EQ(engine.hung_now(), 1U);
  EXPECT_EQ(engine.report().runs_ended, 0U);
  engine.release_hung();
  lane.join();
  EXPECT_EQ(engine.report().runs_ended, 1U);
}

TEST(FakeEngineTest, AHungRunMayOutliveTheEngine) {
  auto engine = std::make_unique<FakeEngine>(FakeScript{.hang_run_at = {1}});
  const FakeEngine kept = *engine;
  Rig rig(*engine);
  std::thread lane([&] { EXPECT_EQ(rig.run(), RunEnd::kDone); });
  engine->await_hung(1);
  engine.reset();
  FakeEngine(kept).release_hung();
  lane.join();
}

TEST(FakeEngineTest, SeesAReleaseOutOfOrder) {
  FakeEngine engine;
  Rig rig(engine);
  rig.instance.reset();
  EXPECT_EQ(engine.report().out_of_order, 1U);
  rig.context.reset();
  EXPECT_EQ(engine.report().out_of_order, 2U);
}

TEST(FakeEngineTest, SeesAContextFreedUnderItsRun) {
  FakeEngine engine{{.hang_run_at = {1}}};
  Rig rig(engine);
  EngineContext* context = rig.context.get();
  std::thread lane([&] {
    StopSignal stop;
    const std::vector<ConstTensorView> inputs{view_of(std::as_const(rig.x))};
    const std::vector<TensorView> outputs{view_of(rig.y)};
    context->run(inputs, outputs, stop);
  });
  engine.await_hung(1);
  rig.context.reset();
  engine.release_hung();
  lane.join();
  EXPECT_EQ(engine.report().out_of_order, 1U);
}

TEST(FakeEngineTest, SeesAnotherThreadWhereItIsThreadBound) {
  FakeEngine engine{{.thread_bound = true}};
  Rig rig(engine);
  EXPECT_EQ(rig.run(), RunEnd::kDone);
  EXPECT_EQ(engine.report().thread_violations, 0U);
  std::thread([&] { rig.run(); }).join();
  EXPECT_EQ(engine.report().thread_violations, 1U);
  std::thread([&] { rig.context.reset(); }).join();
  EXPECT_EQ(engine.report().thread_violations, 2U);
}

TEST(FakeEngineTest, SeesRunsThatOverlap) {
  FakeEngine engine{{.hang_run_at = {1}}};
  Rig rig(engine);
  const auto second = rig.instance->create_context();
  std::thread lane([&] { rig.run(); });
  engine.await_hung(1);
  StopSignal stop;
  Tensor y({.name = "y", .type = ElementType::kFloat32, .shape = {1, 4}});
  const std::vector<ConstTensorView> inputs{view_of(std::as_const(rig.x))};
  const std::vector<TensorView> outputs{view_of(y)};
  second->run(inputs, outputs, stop);
  engine.release_hung();
  lane.join();
  EXPECT_EQ(engine.report().overlapping_runs, 1U);
  EXPECT_EQ(engine.report().most_concurrent_runs, 2U);
}

TEST(FakeEngineTest, A8_TheWatchdogTouchesNothingFreedInTheRightOrder) {
  FakeEngine engine{{.watchdog = true}};
  for (int round = 0; round < 200; ++round) {
    Rig rig(engine);
    rig.run();
    engine.tick_watchdog();
    rig.context.reset();
    rig.instance.reset();
  }
  expect_clean(engine);
}

TEST(FakeEngineTest, A8_TheWatchdogSeesADeviceThatWentTooEarly) {
  FakeEngine engine{{.watchdog = true}};
  Rig rig(engine);
  rig.device.reset();
  engine.tick_watchdog();
  EXPECT_GT(engine.report().touches_after_free, 0U);
}

TEST(FakeEngineTest, AStoppedLoadLeavesNothing) {
  const auto time = std::make_shared<CountedTime>();
  FakeEngine engine{{.load_time = 100ms, .load_stops = true}, time};
  time->stop_at(35ms);
  expect_error(ErrorCode::kAborted, [&] { Rig rig(engine); }, "model.fake");
  EXPECT_EQ(time->now(), TimePoint{} + 40ms);
  expect_clean(engine);
}

TEST(FakeEngineTest, WritesItsOutputsAtTheVeryEndWhereTheScriptSaysSo) {
  FakeEngine engine{{.hang_run_at = {1}, .late_write = true}};
  Rig rig(engine);
  rig.x.view<float>()[0] = 1.0F;
  std::thread lane([&] { rig.run(); });
  engine.await_hung(1);
  EXPECT_EQ(rig.y.view<float>()[0], 0.0F);
  engine.release_hung();
  lane.join();
  EXPECT_EQ(rig.y.view<float>()[0], 2.0F);
}

}  // namespace
}  // namespace tenure::testing
