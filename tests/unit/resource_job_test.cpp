// What a job holds (I11): ended after the body and the other children; the job completes after it.
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <tenure/testing/order_log.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::OrderLog;

// Stands for a session: it is told that the rest has ended, and ends when the test says so.
class HeldJob final : public detail::JobNode {
 public:
  static detail::JobRef hold(const Scope& scope, OrderLog& log) {
    detail::JobNode& parent = scope.node();
    auto job = detail::JobRef::adopt(new HeldJob(parent, log));
    if (!parent.attach(*job.get())) throw Error(ErrorCode::kClosed, "the scope has ended");
    return job;
  }
  bool is_told = false;
  bool ends_at_once = false;

 private:
  HeldJob(JobNode& parent, OrderLog& log)
      : JobNode(parent.tree(), parent.dispatcher(), detail::kResource | detail::kShielded, "held"), log_(log) {}
  void parent_ended() noexcept override {
    is_told = true;
    log_.note("told");
    if (ends_at_once) finish_body();
  }
  OrderLog& log_;
};
HeldJob& of(const detail::JobRef& job) { return static_cast<HeldJob&>(*job.get()); }

Task<void> child_of(OrderLog& log) {
  struct Guard {
    OrderLog& log;
    ~Guard() { log.note("child ended"); }
  } guard{log};
  co_await delay(5ms);
}

TEST(ResourceJobTest, I11_IsEndedAfterTheOtherChildrenAndBeforeTheJob) {
  OrderLog log;
  CoroWorld world;
  detail::JobRef held;
  auto body = [](Scope scope, OrderLog& events, detail::JobRef& out) -> Task<void> {
    out = HeldJob::hold(scope, events);
    scope.launch(child_of, std::ref(events));
    co_return;
  };
  Job job = world.scope().launch(body, std::ref(log), std::ref(held));
  world.run_ready();
  EXPECT_FALSE(of(held).is_told);
  world.run_until_idle();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child ended", "told"}));
  EXPECT_EQ(job.state(), JobState::kCompleting);
  held->finish_body();
  EXPECT_EQ(job.state(), JobState::kCompleted);
}

TEST(ResourceJobTest, I11_ACancelReachesItOnlyThroughTheEndOfTheRest) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  const detail::JobRef held = HeldJob::hold(owner.scope(), log);
  owner.launch(child_of, std::ref(log));
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child ended", "told"}));
  EXPECT_FALSE(held->is_cancelled());
  world.run_ready();
  EXPECT_FALSE(owner.job().is_complete());
  held->finish_body();
  world.run_ready();
  EXPECT_TRUE(owner.job().is_complete());
}

TEST(ResourceJobTest, I11_EndedByItselfItIsNotTold) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  {
    const detail::JobRef held = HeldJob::hold(owner.scope(), log);
    held->finish_body();
    EXPECT_EQ(held->state(), JobState::kCompleted);
  }
  owner.cancel();
  world.run_ready();
  EXPECT_TRUE(log.events().empty());
  EXPECT_TRUE(owner.job().is_complete());
}

TEST(ResourceJobTest, I11_ManyThatEndAtOnceAreAllToldOnce) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  for (int i = 0; i < 100; ++i) of(HeldJob::hold(owner.scope(), log)).ends_at_once = true;
  owner.cancel();
  world.run_ready();
  EXPECT_EQ(log.events().size(), 100U);
  EXPECT_TRUE(owner.job().is_complete());
}

TEST(ResourceJobTest, I11_OnceTheirEndHasBegunNoneIsTakenAnyMore) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  const detail::JobRef held = HeldJob::hold(owner.scope(), log);
  owner.cancel();
  EXPECT_THROW(HeldJob::hold(owner.scope(), log), Error);
  held->finish_body();
}

TEST(ResourceJobTest, I11_KeptStateOutlivesIt) {
  OrderLog log;
  CoroWorld world;
  struct State {
    OrderLog& log;
    ~State() { log.note("state gone"); }
  };
  Owner owner = world.open("page");
  owner.keep<State>(log);
  const detail::JobRef held = HeldJob::hold(owner.scope(), log);
  owner.cancel();
  world.run_ready();
  EXPECT_EQ(log.events(), std::vector<std::string>{"told"});
  held->finish_body();
  world.run_ready();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"told", "state gone"}));
}

}  // namespace
}  // namespace tenure
