// How a load ends, and that nothing is left where it fails.
#include <tenure/testing/world.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

struct Refusal {
  const char* name;
  FakeScript script;
  std::string end;
};

TEST(SessionLoadTest, I13_WhateverIsRefusedLeavesNothing) {
  const std::vector<Refusal> refusals = {
      {"device", {.fail_device = ErrorCode::kDeviceLost}, "device_lost"},
      {"model", {.fail_load = ErrorCode::kDataLoss}, "data_loss"},
      {"context", {.fail_context = ErrorCode::kResourceExhausted}, "resource_exhausted"},
      {"file", {.require_file = true}, "not_found"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    FakeEngine engine{refusal.script};
    World world{engine};
    EXPECT_EQ(end_of(world.run(load_session(world.scope(), "model.fake"))), refusal.end);
    world.settle();
    expect_clean(engine);
    expect_empty(world.runtime().ledger());
    engine.set_script({});
    EXPECT_EQ(end_of(world.run(load_session(world.scope(), "model.fake"))), "value")
        << "the next load is as good as new";
  }
}

TEST(SessionLoadTest, ADeviceThatIsNotHereIsNamed) {
  FakeEngine engine{FakeScript{.refuse_accelerator = true}};
  World world{engine};
  ModelSpec spec("model.fake");
  spec.device = "gpu";
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), spec))), "unavailable");
  spec.device = "tpu";
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), spec))), "not_found");
  spec.device = "cpu";
  spec.engine = "nonesuch";
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), spec))), "unavailable");
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), "/no/such/model.bin"))), "not_found");
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), "/proc/self/exe"))), "invalid_argument");
  world.settle();
  expect_clean(engine);
}

TEST(SessionLoadTest, NoLanesIsAnInvalidArgument) {
  FakeEngine engine;
  World world{engine};
  ModelSpec spec("model.fake");
  spec.lanes = 0;
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), spec))), "invalid_argument");
}

TEST(SessionLoadTest, AScopeThatHasEndedTakesNoModel) {
  FakeEngine engine;
  World world{engine};
  std::optional<Scope> ended;
  const Job job = world.scope().launch([&](Scope scope) -> Task<void> {
    ended = scope;
    co_return;
  });
  world.settle();
  ASSERT_TRUE(job.is_complete());
  EXPECT_EQ(end_of(world.run(load_session(*ended, "model.fake"))), "closed");
  Owner page = world.open("page");
  page.cancel();
  world.settle();
  EXPECT_EQ(end_of(world.run(load_session(page.scope(), "model.fake"))), "closed");
  EXPECT_EQ(engine.log(), Log{});
}

TEST(SessionLoadTest, AScopeThatIsBeingCancelledTakesNoModel) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Owner page = world.open("page");
  Session first = world.run(load_session(page.scope(), "first.fake")).value();
  const auto run = begin_run(page.scope(), first);
  world.advance(10ms);
  page.cancel();  // its first session keeps it for 40 ms more
  auto outcome = world.run(load_session(page.scope(), "second.fake"));
  EXPECT_EQ(end_of(outcome), "closed");
  EXPECT_EQ(world.elapsed(), 10ms);
  world.run_until_idle();
  EXPECT_TRUE(page.job().is_complete());
  expect_clean(engine);
}

TEST(SessionLoadTest, I13_ADeviceIsSharedAndFreedAfterItsLastSession) {
  FakeEngine engine;
  World world{engine};
  Session first = world.load("first.fake");
  Session second = world.load("second.fake");
  EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 2, .contexts = 2}));
  ModelSpec other_device("third.fake");
  other_device.device = "gpu";
  Session third = world.load(other_device);
  EXPECT_EQ(engine.native_counts().devices, 2);
  EXPECT_EQ(end_of(world.run(close_session, first)), "value");
  EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 2, .instances = 2, .contexts = 2}));
  EXPECT_EQ(end_of(world.run(run_once, second, 1.0F, RunOptions{})), "value");
  EXPECT_EQ(end_of(world.run(close_session, second)), "value");
  EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 1, .contexts = 1}));
  EXPECT_EQ(end_of(world.run(close_session, third)), "value");
  expect_clean(engine);
}

TEST(SessionLoadTest, ADeviceThatIsLostFailsEachOfItsSessionsAtItsNextRun) {
  FakeEngine engine{FakeScript{.device_lost_at = 1}};
  World world{engine};
  Session first = world.load("first.fake");
  Session second = world.load("second.fake");
  EXPECT_EQ(end_of(world.run(run_once, first, 1.0F, RunOptions{})), "device_lost");
  EXPECT_EQ(end_of(world.run(run_once, second, 1.0F, RunOptions{})), "device_lost");
  world.settle();
  EXPECT_EQ(first.state(), SessionState::kClosed);
  EXPECT_EQ(end_of(world.run(run_once, second, 1.0F, RunOptions{})), "closed");
  expect_clean(engine);
  engine.set_script({});
  Session third = world.load("third.fake");
  EXPECT_EQ(end_of(world.run(run_once, third, 1.0F, RunOptions{})), "value") << "a new device is opened";
}

/// A fake whose instances refuse every context but the first.
class OneContextInstance final : public EngineInstance {
 public:
  explicit OneContextInstance(std::unique_ptr<EngineInstance> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] const ModelSignature& signature() const noexcept override { return inner_->signature(); }
  [[nodiscard]] Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes(); }
  std::unique_ptr<EngineContext> create_context() override {
    if (contexts_.fetch_add(1) > 0) throw Error(ErrorCode::kResourceExhausted, "one context is all there is");
    return inner_->create_context();
  }

 private:
  std::unique_ptr<EngineInstance> inner_;
  std::atomic<int> contexts_{0};
};

class OneContextDevice final : public EngineDevice {
 public:
  explicit OneContextDevice(std::unique_ptr<EngineDevice> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::string_view device() const noexcept override { return inner_->device(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes(); }
  std::unique_ptr<EngineInstance> load(const ModelSource& source, const InstanceOptions& options,
                                       StopSignal& stop) override {
    return std::make_unique<OneContextInstance>(inner_->load(source, options, stop));
  }

 private:
  std::unique_ptr<EngineDevice> inner_;
};

class OneContextEngine final : public Engine {
 public:
  explicit OneContextEngine(FakeEngine& inner) : inner_(inner) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "one context"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return inner_.devices(); }
  [[nodiscard]] bool recognises(const ModelSource& source) const override { return inner_.recognises(source); }
  std::unique_ptr<EngineDevice> open_device(std::string_view device) override {
    return std::make_unique<OneContextDevice>(inner_.open_device(device));
  }
  [[nodiscard]] NativeCounts native_counts() const noexcept override { return inner_.native_counts(); }

 private:
  FakeEngine& inner_;
};

TEST(SessionLoadTest, ARefusedContextOfAFurtherLaneLeavesFewerLanes) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .concurrent_runs = true}};
  World world{engine};
  world.runtime().add_engine(std::make_shared<OneContextEngine>(engine));
  ModelSpec spec("model.fake");
  spec.engine = "one context";
  spec.lanes = 3;
  Session session = world.load(spec);
  world.settle();
  EXPECT_EQ(engine.native_counts().contexts, 1);
  std::vector<Deferred<float>> runs;
  runs.reserve(3);
  for (int i = 0; i < 3; ++i) runs.push_back(begin_run(world.scope(), session));
  for (auto& run : runs) EXPECT_EQ(end_of(world, std::move(run)), "value");
  EXPECT_EQ(world.elapsed(), 30ms);
  EXPECT_EQ(end_of(world.run(close_session, session)), "value");
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

TEST(SessionLoadTest, TheLedgerSaysWhoMadeWhatWhereAndHowManyBytes) {
  FakeEngine engine{FakeScript{.device_bytes = 7, .instance_bytes = 100, .context_bytes = 10}};
  World world{engine};
  Owner page = world.open("page");
  Session session = world.run(load_session(page.scope(), "face.fake")).value();
  const std::vector<LedgerEntry> entries = world.runtime().ledger().entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].name, "fake cpu");
  EXPECT_EQ(entries[1].name, "face");
  EXPECT_EQ(entries[2].name, "face lane 0");
  EXPECT_EQ(entries[1].parent, entries[0].id);
  EXPECT_EQ(entries[2].parent, entries[1].id);
  for (const LedgerEntry& entry : entries) EXPECT_EQ(entry.creator, "page");
  EXPECT_EQ(world.runtime().ledger().totals().bytes, 117U);
  page.cancel();
  world.run_until_idle();
  expect_empty(world.runtime().ledger());
}

TEST(SessionLoadTest, OneOfSeveralLoadsIsCancelledAlone) {
  FakeEngine engine{FakeScript{.load_time = 20ms}};
  World world{engine};
  Owner page = world.open("page");
  std::vector<Deferred<Session>> loads;
  loads.reserve(4);
  for (int i = 0; i < 4; ++i) loads.push_back(page.async(load_session(page.scope(), "model.fake")));
  world.advance(10ms);
  loads[1].cancel();
  world.run_until_idle();
  EXPECT_EQ(engine.native_counts().instances, 3) << "the one that was cancelled is released";
  EXPECT_TRUE(loads[1].job().is_complete());
}

}  // namespace
}  // namespace tenure
