// A and B: the order of release, delegates that refuse, and whether memory comes back.
#include <tenure/testing/world.hpp>

#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

const Log kInOrder{"run", "run ended", "context freed", "instance freed", "device freed"};

TEST(Case, A8_ADriversThreadNeverTouchesWhatIsFreed) {
  RealRuntime real(FakeScript{.watchdog = true});
  std::atomic<bool> is_over{false};
  std::thread driver([&] {
    while (!is_over) {
      real.engine.tick_watchdog();
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < scaled(200); ++round) {
    real.engine.clear_log();
    Session session = real.load();
    EXPECT_EQ(real.end(begin_run(real.runtime->scope(), session)), "value");
    EXPECT_EQ(real.close(session), "value");
    EXPECT_EQ(real.engine.log_from("run"), kInOrder);
  }
  is_over = true;
  driver.join();
  real.finish();
}

TEST(Case, A9_TheCallersBytesMayGoRightAfterTheLoad) {
  FakeEngine engine{FakeScript{.require_file = true}};
  World world{engine};
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const char c : kFakeModel) bytes->push_back(static_cast<std::byte>(c));
  ModelSpec spec("memory.fake");
  spec.bytes = bytes;
  Session session = world.load(spec);
  spec.bytes.reset();
  std::ranges::fill(*bytes, std::byte{0xFF});
  bytes.reset();
  for (int i = 0; i < 10; ++i) {
    auto outcome = world.run(run_once, session, static_cast<float>(i), RunOptions{});
    EXPECT_EQ(std::move(outcome).value(), 2.0F * static_cast<float>(i));
  }
}

TEST(Case, A10_InterpreterBeforeDelegateInEveryCase) {
  FakeEngine engine;
  World world{engine};
  ModelSpec cpu("model.fake");
  ModelSpec gpu("model.fake");
  gpu.device = "gpu";
  {
    SCOPED_TRACE("open and close");
    Session session = world.load(gpu);
    EXPECT_EQ(end_of(world.run(run_once, session, 1.0F, RunOptions{})), "value");
    EXPECT_EQ(end_of(world.run(close_session, session)), "value");
    EXPECT_EQ(engine.log_from("run"), kInOrder);
    expect_clean(engine);
  }
  for (const FakeScript& refusal :
       {FakeScript{.fail_context = ErrorCode::kEngine}, FakeScript{.fail_load = ErrorCode::kEngine},
        FakeScript{.fail_device = ErrorCode::kEngine}}) {
    SCOPED_TRACE("a delegate that refuses to apply");
    engine.set_script(refusal);
    engine.clear_log();
    EXPECT_EQ(end_of(world.run(load_session(world.scope(), gpu))), "engine");
    world.settle();
    const Log log = engine.log();
    if (!log.empty()) {
      EXPECT_EQ(log.front(), "device made");
      EXPECT_EQ(log.back(), "device freed");
    }
    expect_clean(engine);
  }
  engine.set_script({});
  {
    SCOPED_TRACE("one delegate asked for twice, and two delegates");
    engine.clear_log();
    Session first = world.load(gpu);
    Session second = world.load(gpu);
    Session third = world.load(cpu);
    EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 2, .instances = 3, .contexts = 3}));
    EXPECT_EQ(end_of(world.run(close_session, first)), "value");
    EXPECT_EQ(engine.native_counts().devices, 2);
    EXPECT_EQ(end_of(world.run(close_session, second)), "value");
    EXPECT_EQ(engine.native_counts().devices, 1);
    EXPECT_EQ(end_of(world.run(close_session, third)), "value");
    expect_clean(engine);
  }
}

TEST(Case, B2_AnAcceleratorThatIsNotThereOrFailsLeavesNothing) {
  FakeEngine engine;
  World world{engine};
  ModelSpec gpu("model.fake");
  gpu.device = "gpu";
  Session first = world.load(gpu);
  EXPECT_EQ(world.runtime().ledger().entries().front().name, "fake gpu") << "which accelerator it is on";
  EXPECT_EQ(end_of(world.run(close_session, first)), "value");

  engine.set_script({.refuse_accelerator = true});
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), gpu))), "unavailable");
  EXPECT_FALSE(engine.devices()[1].available);
  EXPECT_FALSE(engine.devices()[1].reason.empty());
  Session second = world.load();  // the fallback is the app's choice, and says where it runs
  EXPECT_EQ(world.runtime().ledger().entries().front().name, "fake cpu");
  EXPECT_EQ(end_of(world.run(close_session, second)), "value");

  engine.set_script({.fail_device = ErrorCode::kEngine});
  EXPECT_EQ(end_of(world.run(load_session(world.scope(), gpu))), "engine");
  world.settle();
  expect_clean(engine);
  expect_empty(world.runtime().ledger());
}

TEST(Case, B4_OpenAndCloseGivesEveryByteBack) {
  FakeEngine engine{FakeScript{.device_bytes = 10, .instance_bytes = 1000, .context_bytes = 100, .require_file = true}};
  World world{engine};
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const char c : kFakeModel) bytes->push_back(static_cast<std::byte>(c));
  ModelSpec spec("memory.fake");
  spec.bytes = bytes;
  for (int round = 0; round < 300; ++round) {
    Session session = world.load(spec);
    EXPECT_EQ(world.runtime().ledger().totals().bytes, 1110U);
    EXPECT_EQ(bytes.use_count(), 2) << "the session holds what its engine has read, or copied, already";
    EXPECT_EQ(end_of(world.run(close_session, session)), "value");
    expect_empty(world.runtime().ledger());
  }
  spec.bytes.reset();
  world.settle();
  EXPECT_EQ(bytes.use_count(), 1) << "the model's bytes are held by something that is closed";
}

}  // namespace
}  // namespace tenure
