// The runtime's end: complete or not, what it says is left, and on which thread it stands. Real threads, real time.
#include <tenure/coro/confined_dispatcher.hpp>

#include "support/session_support.hpp"
#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

std::unique_ptr<Runtime> make_runtime(FakeEngine& engine, Duration hard_limit = 60s) {
  RuntimeOptions options;
  options.threads = 2;
  options.hard_limit = hard_limit;
  options.abort_on_disorder = true;
  options.on_error = [](const std::exception_ptr& error, const char*) { ADD_FAILURE() << describe(error); };
  auto runtime = std::make_unique<Runtime>(std::move(options));
  runtime->add_engine(engine.share());
  return runtime;
}

Session load(Runtime& runtime) { return runtime.block_on(load_session(runtime.scope(), "model.fake")); }

template <class Call>
std::string code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code()));
  }
  return "nothing";
}

TEST(RuntimeTest, ShutdownReleasesAllAndSaysSoTwice) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.run_time = 1ms}};
  auto runtime = make_runtime(engine);
  const Owner page = runtime->open("page");
  const Session session = runtime->block_on(load_session(page.scope(), "model.fake"));
  const auto run = begin_run(page.scope(), session);
  const ShutdownReport report = runtime->shutdown(60s);
  EXPECT_TRUE(report.is_complete);
  EXPECT_TRUE(report.left.empty());
  EXPECT_TRUE(run.job().is_complete());
  expect_clean(engine);
  expect_empty(runtime->ledger());
  EXPECT_TRUE(runtime->shutdown(0s).is_complete);
}

TEST(RuntimeTest, ShutdownWhileAModelLoads) {
  const Watchdog watchdog;
  for (const bool stops : {false, true}) {
    FakeEngine engine{FakeScript{.load_time = 20ms, .load_stops = stops}};
    auto runtime = make_runtime(engine);
    const Owner page = runtime->open("page");
    const auto loading = page.async(load_session(page.scope(), "model.fake"));
    EXPECT_TRUE(runtime->shutdown(60s).is_complete);
    EXPECT_TRUE(loading.job().is_complete());
    expect_clean(engine);
  }
}

TEST(RuntimeTest, I14_AShutdownThatIsIncompleteSaysWhatItLeftAndCanBeResumed) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  auto runtime = make_runtime(engine, 20ms);
  Owner page = runtime->open("page");
  Session session = runtime->block_on(load_session(page.scope(), "face.fake"));
  const auto run = begin_run(page.scope(), session);
  engine.await_hung(1);
  const auto begin = std::chrono::steady_clock::now();
  const ShutdownReport report = runtime->shutdown(200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_FALSE(report.is_complete);
  std::string left;
  for (const std::string& line : report.left) left += line + "\n";
  for (const char* part : {"device \"fake cpu\"", "instance \"face\" of \"page\"", "1024 bytes, quarantined",
                           "context \"face lane 0\"", "1 lane(s) in native code"}) {
    EXPECT_NE(left.find(part), std::string::npos) << part << " is not in:\n" << left;
  }
  EXPECT_FALSE(runtime->shutdown(10ms).is_complete) << "twice: it still hangs";
  engine.release_hung();
  EXPECT_TRUE(runtime->shutdown(60s).is_complete);
  expect_clean(engine);
  expect_empty(runtime->ledger());
}

TEST(RuntimeTest, WhereACallNeverComesBackTheEndOfTheRuntimeKeepsWhatItUses) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  {
    RuntimeOptions options;
    options.hard_limit = 10ms;
    options.shutdown_deadline = 100ms;
    Runtime runtime(std::move(options));
    runtime.add_engine(engine.share());
    Session session = load(runtime);
    const auto run = begin_run(runtime.scope(), session);
    engine.await_hung(1);
    will_be_kept(runtime);
    ::testing::internal::CaptureStderr();
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("not released at shutdown: instance \"model\""), std::string::npos) << said;
  EXPECT_EQ(engine.native_counts(), (NativeCounts{.devices = 1, .instances = 1, .contexts = 1}));
  // It comes back after all: its lane, and what it kept, go in order.
  engine.release_hung();
  while (engine.native_counts() != NativeCounts{}) std::this_thread::yield();
  expect_clean(engine);
}

TEST(RuntimeTest, ShutdownRunsTheDispatcherItStandsOn) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.run_time = 5ms}};
  auto runtime = make_runtime(engine);
  LoopDispatcher screen;
  Owner page = runtime->open("page", screen);
  Session session = load(*runtime);
  std::vector<float> in(4);
  std::vector<float> out(4);
  const Job lent = page.launch(run_borrowed, session, std::ref(in), std::ref(out));
  const auto given = begin_run(page.scope(), session);
  screen.run_ready();
  engine.await_runs_begun(1);
  EXPECT_TRUE(runtime->shutdown(60s).is_complete) << "its frames are unwound on this thread";
  EXPECT_TRUE(lent.is_complete());
  EXPECT_TRUE(given.job().is_complete());
  expect_clean(engine);
}

TEST(RuntimeTest, ShutdownFromTwoThreadsAtOnce) {
  const Watchdog watchdog;
  for (int round = 0; round < 20; ++round) {
    FakeEngine engine{FakeScript{.run_time = 1ms}};
    auto runtime = make_runtime(engine);
    Session session = load(*runtime);
    const auto run = begin_run(runtime->scope(), session);
    std::atomic<int> complete{0};
    std::thread other([&] { complete += runtime->shutdown(60s).is_complete ? 1 : 0; });
    complete += runtime->shutdown(60s).is_complete ? 1 : 0;
    other.join();
    EXPECT_EQ(complete, 2);
    expect_clean(engine);
  }
}

TEST(RuntimeTest, AfterAShutdownEachHandleSaysClosedAndIsSafe) {
  const Watchdog watchdog;
  FakeEngine engine;
  auto runtime = make_runtime(engine);
  Owner page = runtime->open("page");
  const Scope scope = page.scope();
  Session session = runtime->block_on(load_session(scope, "model.fake"));
  SessionSlot slot{page};
  slot.load("slot.fake");
  EXPECT_TRUE(runtime->shutdown(60s).is_complete);
  EXPECT_EQ(session.state(), SessionState::kClosed);
  session.request_close();
  EXPECT_EQ(code_of([&] { static_cast<void>(begin_run(scope, session)); }), "closed");
  EXPECT_EQ(code_of([&] { page.launch(close_session, session); }), "closed");
  EXPECT_EQ(code_of([&] { static_cast<void>(start_future(page, run_once(session, 1.0F))); }), "closed");
  EXPECT_EQ(code_of([&] { static_cast<void>(runtime->open("another")); }), "closed");
  EXPECT_EQ(code_of([&] { static_cast<void>(load(*runtime)); }), "closed");
  EXPECT_EQ(code_of([&] { slot.load("another.fake"); }), "closed");
  EXPECT_EQ(code_of([&] { static_cast<void>(page.keep<std::string>("state")); }), "closed");
  page.cancel();
}

TEST(RuntimeTest, HandlesMayOutliveTheRuntime) {
  const Watchdog watchdog;
  FakeEngine engine;
  auto runtime = make_runtime(engine);
  Owner page = runtime->open("page");
  std::optional<Session> session = runtime->block_on(load_session(page.scope(), "model.fake"));
  auto slot = std::make_unique<SessionSlot>(page);
  slot->load("slot.fake");
  const Job job = page.launch(close_session, *session);
  runtime.reset();
  EXPECT_TRUE(job.is_complete());
  EXPECT_EQ(session->state(), SessionState::kClosed);
  EXPECT_EQ(session->waiting(), 0U);
  EXPECT_EQ(session->running(), 0U);
  EXPECT_EQ(session->name(), "model");
  EXPECT_EQ(session->signature().inputs.size(), 1U);
  session->request_close();
  const Session copy = *session;
  session.reset();
  slot.reset();
  job.cancel();
  page.cancel();
}

TEST(RuntimeTest, DroppedByOneOfItsWorkersItIsEndedElsewhere) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.run_time = 1ms}};
  auto runtime = make_runtime(engine);
  Session session = load(*runtime);
  const Scope scope = runtime->scope();
  std::atomic<bool> is_dropped{false};
  // The Deferred is a handle: it may go while what it stands for does.
  start(scope, run_once(session, 1.0F), [&](const Outcome<float>& outcome) {
    EXPECT_EQ(end_of(outcome), "value");
    runtime.reset();
    is_dropped = true;
  });
  while (!is_dropped) std::this_thread::yield();
  while (engine.native_counts() != NativeCounts{}) std::this_thread::yield();
  expect_clean(engine);
}

TEST(RuntimeDeathTest, AWorkerMustNotShutItDown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FakeEngine engine;
        auto runtime = make_runtime(engine);
        runtime->block_on([&]() -> Task<void> {
          runtime->shutdown(1s);
          co_return;
        });
      },
      "must not block for coroutines");
}

TEST(RuntimeTest, FuturesAndCallbacksFromPlainCode) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.run_time = 1ms}};
  auto runtime = make_runtime(engine);
  Session session = load(*runtime);
  std::vector<std::future<float>> futures;
  std::atomic<int> called{0};
  for (int i = 0; i < 10; ++i) {
    futures.push_back(start_future(runtime->scope(), run_once(session, static_cast<float>(i))));
    start(runtime->scope(), run_once(session, 1.0F), [&](const Outcome<float>& outcome) {
      EXPECT_EQ(end_of(outcome), "value");
      ++called;
    });
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), 2.0F * static_cast<float>(i));
  while (called < 10) std::this_thread::yield();
  EXPECT_TRUE(start_future(runtime->scope(), close_session(session)).wait_for(60s) == std::future_status::ready);
  EXPECT_TRUE(runtime->shutdown(60s).is_complete);
}

}  // namespace
}  // namespace tenure
