// A: closing, dropping and destroying while inference is in flight.
#include <tenure/coro/confined_dispatcher.hpp>
#include <tenure/testing/world.hpp>

#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(Case, A1_CloseDuringRuns) {
  std::mt19937_64 random(stress_seed());
  RealRuntime real;
  for (int round = 0; round < scaled(100); ++round) {
    const Stops stops = round % 2 == 0 ? Stops::kNever : Stops::kPerNode;
    real.engine.set_script({.run_time = 3ms, .stops = stops, .late_write = true});
    Session session = real.load();
    std::atomic<bool> is_closed{false};
    std::thread w([&] {
      while (true) {
        const bool began_after_close = is_closed;
        const std::string end = real.end(begin_run(real.runtime->scope(), session));
        EXPECT_TRUE(end == "value" || end == "closed") << end;
        if (began_after_close) {
          EXPECT_EQ(end, "closed");
        }
        if (end == "closed") return;
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));  // a moment of the run, in real time
    EXPECT_EQ(real.close(session), "value");
    EXPECT_EQ(real.engine.report().runs_begun, real.engine.report().runs_ended) << "close came back during a run";
    EXPECT_EQ(real.engine.native_counts(), NativeCounts{});
    is_closed = true;
    w.join();
  }
  real.finish();
}

/// Two pages by turns, each with a model and a stream of runs; time is virtual.
struct Page {
  Page(World& world, const char* name) : owner(world.open(name)) {
    session = world.run(load_session(owner.scope(), ModelSpec(std::string(name) + ".fake"))).value();
    stream = owner.launch(
        [](Session model, int& tokens) -> Task<void> {
          while (true) {
            Task<float> run = run_once(model, 1.0F);
            co_await std::move(run);
            ++tokens;
          }
        },
        session, std::ref(tokens));
  }
  int tokens = 0;
  Owner owner;
  Session session;
  Job stream;
};

TEST(Case, A4_PagesWithAStreamEachAreSwitched) {
  FakeEngine engine{FakeScript{.run_time = 20ms, .stops = Stops::kPerNode}};
  World world{engine};
  std::mt19937_64 random(world.seed());
  auto shown = std::make_unique<Page>(world, "page0");
  for (int i = 1; i <= 300; ++i) {
    auto next = std::make_unique<Page>(world, i % 2 == 0 ? "page0" : "page1");
    world.advance(std::chrono::milliseconds(random() % 500));
    const int tokens_before = next->tokens;
    auto closing = world.scope().async(shown->owner.close());
    EXPECT_EQ(end_of(world, std::move(closing)), "value");
    EXPECT_EQ(shown->stream.state(), JobState::kCancelled);
    EXPECT_EQ(shown->session.state(), SessionState::kClosed);
    EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 1, .contexts = 1}))
        << "of the other page";
    world.advance(100ms);
    EXPECT_GE(next->tokens, tokens_before + 4) << "the other page's stream was disturbed";
    shown = std::move(next);
  }
}

TEST(Case, A5_AProducerGoesOnAfterTheClose) {
  FakeEngine engine{FakeScript{.run_time = 40ms}};
  World world{engine};
  Session session = world.load();
  Log ends;
  const auto submit = [&] {  // never throws: a frame after the close is a cheap status
    start(world.scope(), run_once(session, 1.0F),
          [&](const Outcome<float>& outcome) { ends.push_back(end_of(outcome)); });
  };
  for (int frame = 0; frame < 3; ++frame) {
    submit();
    world.advance(16ms);
  }
  session.request_close();
  const std::uint64_t begun = engine.report().runs_begun;
  const std::size_t told = ends.size();
  for (int frame = 0; frame < 60; ++frame) {
    submit();
    world.settle();
    EXPECT_EQ(ends.size(), told + 2 + static_cast<std::size_t>(frame) + 1) << "a frame after close is answered at once";
    EXPECT_EQ(ends.back(), "closed");
    world.advance(16ms);
  }
  EXPECT_EQ(engine.report().runs_begun, begun) << "a frame reached the engine after the close";
  EXPECT_EQ(session.state(), SessionState::kClosed);
  expect_clean(engine);
}

/// Drops its handle in its destructor, which may run while an exception flies.
struct Holder {
  explicit Holder(Session session) : held(std::move(session)) {}
  Session held;
};

// The run hangs until the test lets it go: whoever had waited for it would never have come back.
TEST(Case, A7_TheLastHandleIsDroppedWhereOneMayNotBlock) {
  enum class Where : std::uint8_t { kUnwinding, kEngineWorker, kEventLoop };
  for (const Where where : {Where::kUnwinding, Where::kEngineWorker, Where::kEventLoop}) {
    RealRuntime real(FakeScript{.hang_run_at = {1}});
    LoopDispatcher screen;
    Owner page = real.runtime->open("page", screen);
    std::optional<Session> session = real.load();
    Owner callers = real.runtime->open("callers");
    const auto run = begin_run(callers.scope(), *session);
    real.engine.await_hung(1);
    callers.cancel();  // the run's own frame goes, and its handle with it
    real.runtime->block_on([](Job job) -> Task<void> { co_await job.join(); }, run.job());
    switch (where) {
      case Where::kUnwinding:
        try {
          const Holder holder(std::move(*session));
          session.reset();
          throw std::runtime_error("unwinds the stack");
        } catch (const std::runtime_error&) {
          EXPECT_EQ(real.engine.hung_now(), 1U);
        }
        break;
      case Where::kEngineWorker: {
        Session other = real.load("other.fake");
        real.engine.set_script({.compute = [&](auto, auto) { session.reset(); }});
        EXPECT_EQ(real.end(begin_run(real.runtime->scope(), other)), "value");
        EXPECT_EQ(real.close(other), "value");
        break;
      }
      case Where::kEventLoop: {
        const Job job = page.launch([&]() -> Task<void> {
          session.reset();
          co_return;
        });
        while (!job.is_complete()) screen.run_for(10ms);
        break;
      }
    }
    EXPECT_FALSE(session.has_value());
    EXPECT_EQ(real.engine.hung_now(), 1U);
    EXPECT_EQ(real.engine.native_counts().contexts, 1) << "freed under its run";
    real.engine.release_hung();
    while (real.engine.native_counts() != NativeCounts{}) std::this_thread::yield();
    page.cancel();
    screen.run_ready();
    real.finish();
  }
}

}  // namespace
}  // namespace tenure
