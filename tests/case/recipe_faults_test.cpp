// The six faults of the usual recipe (issue 3): each is first seen on a small imitation of it, then shown not to be here.
#include "support/real_runtime.hpp"
#include "support/recipe_session.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

// How long the imitation is given to do what it will never do.
constexpr auto kNever = 50ms;
// How long Tenure has for what it does at once; a test that fails waits for it, one that passes does not.
constexpr auto kSoon = 30000ms;

struct Recipe {
  explicit Recipe(FakeScript script) : engine(std::move(script)) {}
  void owner_cancels() {
    for (const auto& cancel : children_of_owner) cancel();
  }
  FakeEngine engine;
  std::vector<std::function<void()>> children_of_owner;
  RecipeSession session{engine, children_of_owner};
};

/// A run whose answer is told to plain code.
std::shared_ptr<Answer> ask(const Scope& scope, const Session& session) {
  auto answer = std::make_shared<Answer>();
  start(scope, run_once(session, 1.0F), [answer](const Outcome<float>& outcome) { answer->give(end_of(outcome)); });
  return answer;
}

void wait_for(const Job& job, RealRuntime& real) {
  real.runtime->block_on([](Job one) -> Task<void> { co_await one.join(); }, job);
}

TEST(RecipeFaults, A_TheOwnersCancelReachesTheSession) {
  {
    Recipe recipe{FakeScript{}};
    recipe.owner_cancels();
    EXPECT_EQ(recipe.session.run().answer->within(kSoon), "value") << "its owner has ended, and it serves on";
    EXPECT_EQ(recipe.engine.native_counts().contexts, 1);
  }
  RealRuntime real;
  Owner owner = real.runtime->open("owner");
  const Session session = real.load(owner.scope());
  owner.cancel();
  wait_for(owner.job(), real);
  EXPECT_EQ(session.state(), SessionState::kClosed);
  EXPECT_EQ(real.engine.native_counts(), NativeCounts{});
  EXPECT_EQ(ask(real.runtime->scope(), session)->within(kSoon), "closed");
  real.finish();
}

TEST(RecipeFaults, B_ReleaseEndsAlsoWithARunInFlight) {
  for (const bool is_busy : {false, true}) {
    Recipe recipe{FakeScript{.run_time = 1ms}};
    if (is_busy) static_cast<void>(recipe.session.run());
    EXPECT_FALSE(recipe.session.release_within(kNever)) << "its intake is never closed";
  }
  for (const bool is_busy : {false, true}) {
    RealRuntime real(FakeScript{.run_time = 1ms});
    Session session = real.load();
    std::shared_ptr<Answer> answer;
    if (is_busy) answer = ask(real.runtime->scope(), session);
    EXPECT_EQ(real.close(session), "value");
    if (is_busy) {
      EXPECT_NE(answer->within(kSoon), "none");
    }
    real.finish();
  }
}

TEST(RecipeFaults, B_ReleaseEndsInsideTheScopeThatItEndsAndInAnOwnerAlreadyCancelled) {
  RealRuntime real(FakeScript{.run_time = 1ms});
  Owner owner = real.runtime->open("owner");
  // The release runs in the very scope that the session is a child of.
  const Job inside = owner.launch([](Scope scope) -> Task<void> {
    Task<Session> load = scope.load("model.fake");
    Session session = co_await std::move(load);
    Task<float> run = run_once(session, 1.0F);
    co_await std::move(run);
    co_await session.close();
  });
  wait_for(inside, real);
  EXPECT_EQ(inside.state(), JobState::kCompleted);
  // And in an owner that is cancelled before: in a shield, as a clean-up is.
  Session session = real.load();
  const Job cleaning = owner.launch(
      [](Session one) -> Task<void> {
        auto clean_up = shield(close_session, one);
        co_await std::move(clean_up);
      },
      session);
  owner.cancel();
  wait_for(cleaning, real);
  wait_for(owner.job(), real);
  session.request_close();
  real.finish();
}

TEST(RecipeFaults, C_AnEngineThatThrowsEndsThatRequestOnly) {
  {
    Recipe recipe{FakeScript{.fail_run_at = {1}}};
    EXPECT_EQ(recipe.session.run().answer->within(kNever), "none") << "its caller hangs";
    EXPECT_EQ(recipe.session.run().answer->within(kNever), "none") << "and so does every later one";
  }
  RealRuntime real(FakeScript{.fail_run_at = {1}});
  const Session session = real.load();
  EXPECT_EQ(ask(real.runtime->scope(), session)->within(kSoon), "engine");
  EXPECT_EQ(ask(real.runtime->scope(), session)->within(kSoon), "value");
  session.request_close();
  real.finish();
}

TEST(RecipeFaults, C_ASessionCancelledInMidRunAnswersACallerOutsideIt) {
  {
    Recipe recipe{FakeScript{.hang_run_at = {1}}};
    const RecipeSession::Call call = recipe.session.run();
    recipe.engine.await_hung(1);
    recipe.session.cancel();
    EXPECT_EQ(call.answer->within(kNever), "none");
    recipe.engine.release_hung();
  }
  RealRuntime real(FakeScript{.hang_run_at = {1}});
  const Session session = real.load();
  const auto answer = ask(real.runtime->scope(), session);
  real.engine.await_hung(1);
  session.request_close();
  EXPECT_EQ(answer->within(kSoon), "closed") << "at once, while the run is still in native code";
  EXPECT_EQ(real.engine.hung_now(), 1U);
  real.engine.release_hung();
  real.finish();
}

// A frame that lends its buffers to a run, and frees them at its end.
Task<void> lend(Session session, std::shared_ptr<Buffer> buffer) {
  struct Frees {
    explicit Frees(Buffer& freed) : target(freed) {}
    Frees(const Frees&) = delete;
    Frees& operator=(const Frees&) = delete;
    ~Frees() { target.is_freed = true; }
    Buffer& target;
  } frees(*buffer);
  co_await session.run(borrow(buffer->in), borrow(buffer->out));
}

TEST(RecipeFaults, D_ACancelledCallersBufferIsNotWrittenAfterItIsFreed) {
  {
    Recipe recipe{FakeScript{.hang_run_at = {1}, .late_write = true}};
    const RecipeSession::Call call = recipe.session.run();
    recipe.engine.await_hung(1);
    RecipeSession::cancel_caller(call);
    recipe.engine.release_hung();
    EXPECT_EQ(recipe.session.run().answer->within(kSoon), "value");
    EXPECT_EQ(call.buffer->writes_after_free, 1) << "native code wrote what its caller had freed";
  }
  RealRuntime real(FakeScript{.hang_run_at = {1}, .late_write = true});
  const Session session = real.load();
  auto buffer = std::make_shared<Buffer>();
  real.engine.set_script({.hang_run_at = {1}, .compute = [buffer](auto, auto) { buffer->write(); }});
  Owner owner = real.runtime->open("owner");
  const Job job = owner.launch(lend, session, buffer);
  real.engine.await_hung(1);
  owner.cancel();
  EXPECT_FALSE(buffer->is_freed) << "it is lent: its frame stays until native code has let go";
  real.engine.release_hung();
  wait_for(job, real);
  EXPECT_TRUE(buffer->is_freed);
  EXPECT_EQ(buffer->writes_after_free, 0);
  session.request_close();
  real.finish();
}

TEST(RecipeFaults, E_TheStopFlagIsReadAndDoesNotStick) {
  {
    Recipe recipe{FakeScript{.run_time = 20ms, .stops = Stops::kPerNode, .steps = 20}};
    const RecipeSession::Call call = recipe.session.run();
    recipe.engine.await_runs_begun(1);
    recipe.session.cancel();
    EXPECT_EQ(call.answer->within(kSoon), "cancelled");
    EXPECT_EQ(recipe.engine.report().runs_stopped, 0U) << "nobody read the flag: the run went to its end";
    EXPECT_EQ(recipe.session.run().answer->within(kSoon), "cancelled") << "and it sticks to the next one";
  }
  RealRuntime real(FakeScript{.run_time = 10s, .stops = Stops::kPerNode, .steps = 10000});
  const Session session = real.load();
  Owner owner = real.runtime->open("owner");
  const auto answer = ask(owner.scope(), session);
  real.engine.await_runs_begun(1);
  owner.cancel();
  EXPECT_EQ(answer->within(kSoon), "cancelled");
  real.engine.set_script({.stops = Stops::kPerNode});
  EXPECT_EQ(ask(real.runtime->scope(), session)->within(kSoon), "value") << "I12";
  EXPECT_EQ(real.engine.report().runs_stopped, 1U) << "the run of 10 s was stopped at a step";
  session.request_close();
  real.finish();
}

TEST(RecipeFaults, F_NoNativeWorkGoesOnBehindThePageAndNoQueuedWorkIsLost) {
  constexpr std::uint64_t kCalls = 5;
  {
    Recipe recipe{FakeScript{.run_time = 1ms}};
    std::vector<RecipeSession::Call> calls;
    calls.reserve(kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i) calls.push_back(recipe.session.run());
    recipe.owner_cancels();
    recipe.engine.await_runs_begun(kCalls);  // each of them reaches native code behind the page that is gone
  }
  {
    auto recipe = std::make_unique<Recipe>(FakeScript{.hang_run_at = {1}});
    std::vector<RecipeSession::Call> calls;
    calls.reserve(kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i) calls.push_back(recipe->session.run());
    recipe->engine.await_hung(1);
    recipe->engine.set_script({.fail_run_at = {2}});
    recipe->engine.release_hung();
    EXPECT_EQ(calls.back().answer->within(kNever), "none") << "queued work is lost without an answer";
  }
  RealRuntime real(FakeScript{.hang_run_at = {1}});
  Owner page = real.runtime->open("page");
  const Session session = real.load(page.scope());
  std::vector<std::shared_ptr<Answer>> of_page;
  std::vector<std::shared_ptr<Answer>> of_others;
  of_page.push_back(ask(page.scope(), session));
  real.engine.await_hung(1);
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    of_page.push_back(ask(page.scope(), session));
    of_others.push_back(ask(real.runtime->scope(), session));
  }
  while (session.waiting() < 2 * kCalls) std::this_thread::yield();
  page.cancel();
  for (const auto& answer : of_page) EXPECT_EQ(answer->within(kSoon), "cancelled");
  for (const auto& answer : of_others) EXPECT_EQ(answer->within(kSoon), "closed");
  real.engine.release_hung();
  wait_for(page.job(), real);
  EXPECT_EQ(real.engine.report().runs_begun, 1U) << "native code saw work of a page that is gone";
  real.finish();
}

}  // namespace
}  // namespace tenure
