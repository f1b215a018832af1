// E: thread affinity, and buffers that live as long as native code uses them.
#include <tenure/testing/world.hpp>

#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

Task<int> call_often(Session session, int runs) {
  int done = 0;
  for (int i = 0; i < runs; ++i) {
    Task<float> run = run_once(session, static_cast<float>(i));
    const float result = co_await std::move(run);
    EXPECT_EQ(result, 2.0F * static_cast<float>(i));
    ++done;
  }
  co_return done;
}

TEST(Case, E1_AThreadBoundEngineIsAlwaysOnItsThread) {
  enum class ClosedBy : std::uint8_t { kAnotherThread, kOwner };
  for (const ClosedBy by : {ClosedBy::kAnotherThread, ClosedBy::kOwner}) {
    RealRuntime real(FakeScript{.thread_bound = true}, 60s, 8);
    Owner page = real.runtime->open("page");
    Session session = real.load(page.scope());
    Owner callers = real.runtime->open("callers");
    std::vector<Deferred<int>> calls;
    calls.reserve(16);
    const int runs = scaled(1000) / 16 + 1;
    for (int i = 0; i < 16; ++i) calls.push_back(callers.async(call_often, session, runs));
    for (auto& call : calls) EXPECT_EQ(real.runtime->block_on(await_deferred<int>, std::move(call)), runs);
    if (by == ClosedBy::kAnotherThread) {
      std::thread([&] { EXPECT_EQ(real.close(session), "value"); }).join();
    } else {
      page = Owner();
    }
    real.finish();  // no violation by load, context, run, or the freeing of any of them
  }
}

TEST(Case, E6_InputsThatGoOutOfScopeAtOnceAndOutputsThatAreWrittenLate) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .late_write = true}};
  World world{engine};
  Session session = world.load();
  std::vector<Deferred<Outputs>> runs;
  for (int i = 0; i < 50; ++i) {
    Inputs inputs = some_inputs(static_cast<float>(i));  // a local, given away and gone
    runs.push_back(world.scope().async(session.run(std::move(inputs))));
  }
  world.advance(5ms);
  for (std::size_t i = 0; i < runs.size(); i += 2) runs[i].cancel();
  for (std::size_t i = 1; i < runs.size(); i += 2) {
    auto outcome = world.run(await_deferred<Outputs>, std::move(runs[i]));
    ASSERT_TRUE(outcome.has_value());
    const Outputs outputs = std::move(outcome).value();
    EXPECT_EQ(outputs["y"].view<float>()[0], 2.0F * static_cast<float>(i));
  }
  for (std::size_t i = 0; i < runs.size(); i += 2) EXPECT_EQ(runs[i].state(), JobState::kCancelled);
}

// The caller's output buffers live in frames that a cancel takes: they stay while native code writes them.
TEST(Case, E6_LentBuffersStayUntilTheLateWriteIsOver) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .late_write = true}};
  World world{engine};
  Session session = world.load();
  Owner page = world.open("page");
  for (int i = 0; i < 50; ++i) {
    page.launch(
        [](Session model) -> Task<void> {
          std::vector<float> in(4, 1.0F);
          std::vector<float> out(4);
          co_await model.run(borrow(in), borrow(out));
        },
        session);
  }
  world.advance(5ms);
  page.cancel();
  world.settle();
  EXPECT_FALSE(page.job().is_complete()) << "one frame is still lent";
  world.advance(5ms);
  EXPECT_TRUE(page.job().is_complete());
  EXPECT_EQ(engine.report().runs_begun, 1U);
}

}  // namespace
}  // namespace tenure
