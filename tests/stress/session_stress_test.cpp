// Pages with a model each, left at any moment, over real threads and real time.
#include <deque>
#include <map>

#include "support/resource.hpp"
#include "support/session_support.hpp"
#include "support/stress.hpp"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

/// A runtime with workers of its own over the fake engine; everything is back when it ends.
struct SessionStress {
  SessionStress() {
    RuntimeOptions options;
    options.threads = 3;
    options.hard_limit = 60s;
    options.abort_on_disorder = true;
    options.on_error = [this](const std::exception_ptr& error, const char*) {
      ++errors;
      ADD_FAILURE() << describe(error);
    };
    runtime.emplace(std::move(options));
    runtime->add_engine(engine.share());
  }
  void finish() {
    const ShutdownReport report = runtime->shutdown(60s);
    EXPECT_TRUE(report.is_complete) << (report.left.empty() ? "" : report.left.front());
    expect_clean(engine);
    expect_empty(runtime->ledger());
    expect_runs_accounted(runtime->ledger(), engine);
    EXPECT_EQ(frames.live.load(), 0);
    EXPECT_EQ(errors.load(), 0);
    const RunTotals runs = runtime->ledger().runs();
    std::cout << "runs done " << runs.done << ", dropped " << runs.cancelled[0] << ", stopped " << runs.cancelled[1]
              << ", discarded " << runs.cancelled[2] << "; values seen " << values.load() << ", closed "
              << closed.load() << ", unwound " << frames.made.load() - values.load() - closed.load() << std::endl;
    runtime.reset();
  }

  Watchdog watchdog;
  FakeEngine engine;
  std::atomic<int> errors{0};
  std::atomic<long> values{0};
  std::atomic<long> closed{0};
  ResourceCount frames;
  std::optional<Runtime> runtime;
};

FakeScript random_script(std::mt19937_64& random) {
  return {.run_time = std::chrono::microseconds(random() % 300),
          .load_time = std::chrono::microseconds(random() % 200),
          .stops = random() % 2 == 0 ? Stops::kPerNode : Stops::kNever,
          .steps = 4,
          .load_stops = random() % 2 == 0,
          .thread_bound = random() % 3 == 0,
          .concurrent_runs = random() % 2 == 0,
          .late_write = random() % 2 == 0};
}

// Ends with a value that is right, or says that the session went.
Task<void> run_one(Session session, float value, bool lends, SessionStress& world) {
  Resource frame(world.frames);
  std::vector<float> in(4, value);
  std::vector<float> out(4);
  Task<void> lent = run_borrowed(session, in, out);
  Task<float> given = run_once(session, value);
  Outcome<float> outcome = Outcome<float>::of_value(0.0F);
  if (lends) {
    Outcome<void> end = co_await as_outcome(std::move(lent));
    outcome = end.has_value() ? Outcome<float>::of_value(out[0]) : Outcome<float>::of_error(end.error());
  } else {
    outcome = co_await as_outcome(std::move(given));
  }
  if (outcome.has_value()) {
    EXPECT_EQ(outcome.value(), 2 * value);
    ++world.values;
  } else {
    EXPECT_EQ(end_of(outcome), "closed");
    ++world.closed;
  }
}

Task<void> page_body(Scope scope, ModelSpec spec, int runs, std::uint64_t dice, SharedSession& shared,
                     SessionStress& world) {
  Task<Session> load = scope.load(std::move(spec));
  Session session = co_await std::move(load);
  shared.put(session);
  for (int i = 0; i < runs; ++i) scope.launch(run_one, session, static_cast<float>(i), dice % 3 == 0, std::ref(world));
}

/// The moment at which a page is left: from the first microsecond of its load to after its last run.
void wait_a_moment(std::uint64_t dice) {
  std::this_thread::sleep_for(std::chrono::microseconds(dice % 3 == 0 ? 0 : dice / 3 % 1200));
  pass(dice / 7 % 3000);
}

enum class Leaves : std::uint8_t { kCancel, kClose, kDrop, kCancelAndClose, kCloseTwice, kEndOfScope };

TEST(SessionStress, I13_I15_PagesAreLeftAtAnyMoment) {
  std::mt19937_64 random(stress_seed());
  SessionStress world;
  Accomplice accomplice;
  std::deque<Owner> leaving;
  for (int round = 0; round < scaled(3000); ++round) {
    world.engine.set_script(random_script(random));
    if (round % 100 == 0) world.engine.clear_log();
    SharedSession shared;
    Owner page = world.runtime->open("page");
    ModelSpec spec("page.fake");
    spec.lanes = static_cast<int>(1 + random() % 3);
    const Job body =
        page.launch(page_body, spec, static_cast<int>(random() % 6), random(), std::ref(shared), std::ref(world));
    const auto how = static_cast<Leaves>(random() % 6);
    accomplice.begin([&shared, &page, how, moment = random()] {
      wait_a_moment(moment);
      Session session = shared.get();
      if (!session) return;
      if (how == Leaves::kClose || how == Leaves::kCancelAndClose || how == Leaves::kCloseTwice)
        session.request_close();
      if (how == Leaves::kDrop) static_cast<void>(shared.take());
      if (how == Leaves::kEndOfScope) page.cancel();
    });
    wait_a_moment(random());
    if (how == Leaves::kCancel || how == Leaves::kCancelAndClose) page.cancel();
    if (how == Leaves::kCloseTwice && shared.get()) shared.get().request_close();
    accomplice.wait();
    // What it refers to must outlive the body, so the page is closed with what is in flight.
    if (random() % 2 == 0) page.cancel();
    world.runtime->block_on([](Job job) -> Task<void> { co_await job.join(); }, body);
    static_cast<void>(shared.take());
    leaving.push_back(std::move(page));
    if (leaving.size() > 6) leaving.pop_front();
  }
  leaving.clear();
  world.finish();
}

Task<void> load_run_close(Scope scope, int rounds, std::uint64_t seed, SessionStress& world) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    Task<Session> load = scope.load("shared.fake");
    Session session = co_await std::move(load);
    Task<float> run = run_once(session, 1.0F);
    const float result = co_await std::move(run);
    EXPECT_EQ(result, 2.0F);
    ++world.values;
    if (random() % 2 == 0) {
      co_await session.close();
    }
  }
}

Task<float> run_limited(Session session, Duration limit) {
  Task<float> run = run_once(session, 1.0F);
  co_return co_await with_timeout(limit, std::move(run));
}

// Whoever is cancelled by its owner is unwound: it must not hear, and have to handle, that its session was closed too.
TEST(SessionStress, ACancelledPageHasNoErrorsThatNobodyAwaits) {
  std::mt19937_64 random(stress_seed());
  SessionStress world;
  for (int round = 0; round < scaled(600); ++round) {
    world.engine.set_script(
        {.run_time = std::chrono::microseconds(random() % 200), .stops = Stops::kPerNode, .steps = 4});
    Owner page = world.runtime->open("page");
    const Session session = world.runtime->block_on(load_session(page.scope(), "page.fake"));
    for (int i = 0; i < 6; ++i) page.launch(run_limited, session, i % 2 == 0 ? Duration(1h) : Duration(1min));
    wait_a_moment(random());
    page.cancel();
    world.runtime->block_on([](Job job) -> Task<void> { co_await job.join(); }, page.job());
  }
  world.finish();
}

TEST(SessionStress, I13_OneDeviceIsOpenedForTheFirstAndFreedAfterTheLast) {
  const std::uint64_t seed = stress_seed();
  SessionStress world;
  Owner first = world.runtime->open("first");
  Owner second = world.runtime->open("second");
  const int rounds = scaled(1500);
  const Job a = first.launch(load_run_close, rounds, seed, std::ref(world));
  const Job b = second.launch(load_run_close, rounds, seed + 1, std::ref(world));
  world.runtime->block_on(
      [](Job one, Job other) -> Task<void> {
        co_await one.join();
        co_await other.join();
      },
      a, b);
  EXPECT_EQ(a.state(), JobState::kCompleted);
  EXPECT_EQ(b.state(), JobState::kCompleted);
  first.cancel();
  second.cancel();
  world.finish();
  int devices = 0;
  for (const std::string& entry : world.engine.log()) {
    if (entry == "device made") ++devices;
    if (entry == "device freed") --devices;
    ASSERT_TRUE(devices == 0 || devices == 1) << devices << " devices at once";
  }
  EXPECT_EQ(devices, 0);
}

Task<void> run_in_slot(Task<Outputs> run, SessionStress& world) {
  Resource frame(world.frames);
  Outcome<Outputs> outcome = co_await as_outcome(std::move(run));
  if (outcome.has_value()) {
    ++world.values;
  } else {
    EXPECT_EQ(end_of(outcome), "closed");
    ++world.closed;
  }
}

TEST(SessionStress, ASlotIsReloadedQuickly) {
  std::mt19937_64 random(stress_seed());
  SessionStress world;
  LoopDispatcher screen;
  for (int page_number = 0; page_number < scaled(60); ++page_number) {
    Owner page = world.runtime->open("page", screen);
    SessionSlot slot{page};
    for (int i = 0; i < 30; ++i) {
      world.engine.set_script(random_script(random));
      slot.load("slot.fake");
      for (std::uint64_t runs = random() % 3; runs > 0; --runs) {
        Inputs inputs = some_inputs();
        page.launch(run_in_slot, slot.run(std::move(inputs)), std::ref(world));
      }
      for (std::uint64_t turns = random() % 8; turns > 0; --turns) screen.run_for(100us);
    }
    if (random() % 2 == 0) page.cancel();
  }
  world.finish();
}

TEST(SessionStress, I15_ManyCallersOnManyLanesGetOneAnswerEach) {
  std::mt19937_64 random(stress_seed());
  SessionStress world;
  for (int round = 0; round < scaled(60); ++round) {
    FakeScript script = random_script(random);
    script.concurrent_runs = true;
    script.thread_bound = false;
    script.run_time = std::chrono::microseconds(random() % 50);
    world.engine.set_script(script);
    ModelSpec spec("lanes.fake");
    spec.lanes = 3;
    SharedSession shared;
    shared.put(world.runtime->block_on(load_session(world.runtime->scope(), spec)));
    Owner callers = world.runtime->open("callers");
    std::vector<Job> jobs;
    jobs.reserve(60);
    for (int i = 0; i < 60; ++i) {
      jobs.push_back(callers.launch(run_one, shared.get(), static_cast<float>(i), i % 4 == 0, std::ref(world)));
    }
    Session session = shared.take();
    for (std::uint64_t i = 0; i < random() % 60; ++i) jobs[random() % jobs.size()].cancel();
    if (random() % 2 == 0) session.request_close();
    session = Session();
    for (const Job& job : jobs) world.runtime->block_on([](Job one) -> Task<void> { co_await one.join(); }, job);
  }
  world.finish();
}

TEST(SessionStress, I14_ARunComesBackAroundItsHardLimit) {
  std::mt19937_64 random(stress_seed());
  SessionStress world;
  std::map<std::string, int> ends;
  for (int round = 0; round < scaled(300); ++round) {
    const std::uint64_t next = world.engine.report().runs_begun + 1;
    world.engine.set_script({.hang_run_at = {next}});
    ModelSpec spec("hang.fake");
    spec.hard_limit = 2ms;
    Session session;
    try {
      session = world.runtime->block_on(load_session(world.runtime->scope(), spec));
    } catch (const Error& error) {  // a machine that is busy elsewhere: the load has the same limit
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
      continue;
    }
    Deferred<float> run = world.runtime->scope().async(run_once, session, 1.0F, RunOptions{});
    world.engine.await_hung(1);
    std::this_thread::sleep_for(std::chrono::microseconds(1500 + random() % 1000));  // what is raced is real time
    if (random() % 2 == 0) session.request_close();
    world.engine.release_hung();
    auto wait = [](Deferred<float> deferred) -> Task<std::string> {
      Task<float> waiting = await_deferred(std::move(deferred));
      Outcome<float> outcome = co_await as_outcome(std::move(waiting));
      co_return end_of(outcome);
    };
    ++ends[world.runtime->block_on(wait, std::move(run))];
    session.request_close();
  }
  for (const auto& [end, count] : ends) {
    std::cout << end << " " << count << std::endl;
    EXPECT_TRUE(end == "value" || end == "closed" || end == "deadline_exceeded") << end;
  }
  world.finish();
}

TEST(SessionStress, ARuntimeIsShutDownAtAnyMoment) {
  std::mt19937_64 random(stress_seed());
  for (int round = 0; round < scaled(60); ++round) {
    SessionStress world;
    world.engine.set_script(random_script(random));
    Owner page = world.runtime->open("page");
    SharedSession shared;
    page.launch(page_body, ModelSpec("page.fake"), 4, random(), std::ref(shared), std::ref(world));
    wait_a_moment(random());
    EXPECT_TRUE(world.runtime->shutdown(60s).is_complete);
    expect_clean(world.engine);
    expect_empty(world.runtime->ledger());
    EXPECT_EQ(world.frames.live.load(), 0);
    static_cast<void>(shared.take());
    world.runtime.reset();
  }
}

}  // namespace
}  // namespace tenure::testing
