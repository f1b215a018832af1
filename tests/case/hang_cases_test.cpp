// C: calls that never return, shutdown from a worker, and the order of the runtime's own end.
#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(Case, C2_ARunThatNeverReturnsCostsOneSession) {
  RealRuntime real(FakeScript{.hang_run_at = {1}}, 100ms);
  Owner page = real.runtime->open("page");
  Session hung = real.load(page.scope(), "hung.fake");
  const auto run = begin_run(page.scope(), hung);
  real.engine.await_hung(1);
  run.cancel();
  real.runtime->block_on([](Job job) -> Task<void> { co_await job.join(); }, run.job());
  EXPECT_EQ(run.state(), JobState::kCancelled) << "the caller is released while the run hangs";
  const std::string end = real.end(real.runtime->scope().async(close_within, hung, 10ms));
  EXPECT_EQ(end, "deadline_exceeded") << "close has a deadline of its own";
  EXPECT_EQ(real.close(hung), "deadline_exceeded") << "and ends by itself at the hard limit";
  EXPECT_EQ(hung.state(), SessionState::kQuarantined);
  EXPECT_GT(real.runtime->ledger().totals().quarantined, 0);
  Session second = real.load("second.fake");
  EXPECT_EQ(real.end(begin_run(real.runtime->scope(), second)), "value");
  EXPECT_EQ(real.close(second), "value");
  const auto begin = std::chrono::steady_clock::now();
  const ShutdownReport report = real.runtime->shutdown(200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_FALSE(report.is_complete);
  EXPECT_GE(report.left.size(), 3U) << "the device, the instance, the context and the lane";
  real.engine.release_hung();
  real.finish();
}

/// Drops a runtime where it is destroyed.
struct DropsRuntime {
  DropsRuntime(std::unique_ptr<Runtime>& runtime, std::atomic<bool>& is_dropped)
      : runtime(&runtime), is_dropped(&is_dropped) {}
  DropsRuntime(DropsRuntime&& other) noexcept
      : runtime(std::exchange(other.runtime, nullptr)), is_dropped(other.is_dropped) {}
  DropsRuntime& operator=(DropsRuntime&&) = delete;
  ~DropsRuntime() {
    if (runtime == nullptr) return;
    runtime->reset();
    is_dropped->store(true);
  }
  std::unique_ptr<Runtime>* runtime;
  std::atomic<bool>* is_dropped;
};

TEST(Case, C4_TheRuntimeIsDroppedOnAWorkerOfItsOwn) {
  enum class Where : std::uint8_t { kCallback, kTaskDestructor, kLane };
  for (const Where where : {Where::kCallback, Where::kTaskDestructor, Where::kLane}) {
    RealRuntime real(FakeScript{.run_time = 1ms});
    std::atomic<bool> is_dropped{false};
    Session session = real.load();
    const Scope scope = real.runtime->scope();
    switch (where) {
      case Where::kCallback:
        start(scope, run_once(session, 1.0F), [&](const Outcome<float>&) {
          real.runtime.reset();
          is_dropped = true;
        });
        break;
      case Where::kTaskDestructor:
        scope.launch(
            [](Session model, DropsRuntime) -> Task<void> {
              Task<float> run = run_once(model, 1.0F);
              co_await std::move(run);
            },
            session, DropsRuntime(real.runtime, is_dropped));
        break;
      case Where::kLane:
        real.engine.set_script({.compute = [&](auto, auto) {
          if (is_dropped) return;
          real.runtime.reset();
          is_dropped = true;
        }});
        static_cast<void>(begin_run(scope, session));
        break;
    }
    while (!is_dropped) std::this_thread::yield();
    while (real.engine.native_counts() != NativeCounts{}) std::this_thread::yield();
    expect_clean(real.engine);
    EXPECT_EQ(session.state() == SessionState::kReady, false);
  }
}

Task<void> wait_long() { co_await delay(1h); }

TEST(Case, C5_ShutdownFinishesEveryTaskThatWaitsForATimer) {
  std::mt19937_64 random(stress_seed());
  RealRuntime real;
  constexpr int kTasks = 1000;
  std::vector<std::future<int>> futures;
  std::atomic<int> over{0};
  Owner page = real.runtime->open("page");
  for (int i = 0; i < kTasks; ++i) {
    const Duration limit = std::chrono::microseconds(random() % 50000);
    futures.push_back(start_future(page, [](Duration after, std::atomic<int>& count, int number) -> Task<int> {
      Task<void> forever = wait_long();
      Outcome<void> outcome = co_await as_outcome(with_timeout(after, std::move(forever)));
      EXPECT_EQ(end_of(outcome), "deadline_exceeded");
      ++count;
      co_return number;
    }(limit, over, i)));
  }
  while (over < kTasks / 2) std::this_thread::yield();
  EXPECT_TRUE(real.runtime->shutdown(60s).is_complete);
  int values = 0;
  int aborted = 0;
  for (auto& future : futures) {
    ASSERT_EQ(future.wait_for(0s), std::future_status::ready) << "a joiner would wait for ever";
    try {
      static_cast<void>(future.get());
      ++values;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kAborted);
      ++aborted;
    }
  }
  EXPECT_EQ(values + aborted, kTasks);
  EXPECT_GE(values, kTasks / 2);
  // What is posted afterwards says so, and is never dropped in silence.
  EXPECT_THROW(static_cast<void>(start_future(page, wait_long())), Error);
}

}  // namespace
}  // namespace tenure
