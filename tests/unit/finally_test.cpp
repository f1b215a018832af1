// The bracket: the clean-up runs whatever the body's end, and the body's end goes on.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <tenure/testing/order_log.hpp>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::OrderLog;

Task<int> value() {
  co_await delay(1ms);
  co_return 3;
}
Task<int> error() {
  co_await delay(1ms);
  throw std::runtime_error("body");
}
Task<int> forever() {
  co_await delay(1h);
  co_return 0;
}
struct CleanUp {
  OrderLog& log;
  bool fails = false;
  Task<void> operator()() {
    log.note("begin");
    co_await delay(5ms);
    log.note("end");
    if (fails) throw std::runtime_error("clean-up");
  }
};
const std::vector<std::string> kWhole{"begin", "end"};

CORO_TEST(FinallyTest, AfterAValue) {
  OrderLog log;
  CleanUp clean_up{log};
  EXPECT_EQ(co_await finally(value(), clean_up), 3);
  EXPECT_EQ(log.events(), kWhole);
}

CORO_TEST(FinallyTest, AfterAnError) {
  OrderLog log;
  CleanUp clean_up{log};
  Outcome<int> outcome = co_await as_outcome(finally(error(), clean_up));
  EXPECT_EQ(describe(outcome.error()), "body");
  EXPECT_EQ(log.events(), kWhole);
}

CORO_TEST(FinallyTest, ItsErrorIsTheEndAfterAValue) {
  OrderLog log;
  CleanUp clean_up{log, true};
  Outcome<int> outcome = co_await as_outcome(finally(value(), clean_up));
  EXPECT_EQ(describe(outcome.error()), "clean-up");
  EXPECT_TRUE(world.errors().empty());
}

CORO_TEST(FinallyTest, ItsErrorIsReportedAfterAnError) {
  OrderLog log;
  CleanUp clean_up{log, true};
  Outcome<int> outcome = co_await as_outcome(finally(error(), clean_up));
  EXPECT_EQ(describe(outcome.error()), "body");
  EXPECT_EQ(world.errors(), std::vector<std::string>{"clean-up"});
}

Task<void> bracketed(OrderLog& log, bool fails) {
  CleanUp clean_up{log, fails};
  co_await finally(forever(), clean_up);
  log.note("went on");
}

TEST(FinallyTest, ItsErrorIsReportedAfterACancellationWhichGoesOn) {
  OrderLog log;
  CoroWorld world;
  Job job = world.scope().launch(bracketed, std::ref(log), true);
  world.run_ready();
  job.cancel();
  world.run_until_idle();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(log.events(), kWhole);
  EXPECT_EQ(world.errors(), std::vector<std::string>{"clean-up"});
}

TEST(FinallyTest, ASecondCancelDoesNotReachTheCleanUp) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  Job job = owner.launch(bracketed, std::ref(log), false);
  world.run_ready();
  job.cancel();
  world.run_ready();
  owner.cancel();
  world.root().cancel();
  world.run_until_idle();
  EXPECT_EQ(log.events(), kWhole);
}

TEST(FinallyTest, NotEnteredThereIsNoCleanUp) {
  OrderLog log;
  CoroWorld world;
  Job job = world.scope().launch(bracketed, std::ref(log), false);
  job.cancel();
  world.run_until_idle();
  EXPECT_TRUE(log.events().empty());
}

CORO_TEST(FinallyTest, ATimeLimitLetsTheCleanUpFinish) {
  OrderLog log;
  Outcome<void> outcome = co_await as_outcome(with_timeout(10ms, bracketed(log, false)));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(log.events(), kWhole);
  EXPECT_EQ(world.elapsed(), 15ms);
}

CORO_TEST(FinallyTest, ACleanUpThatThrowsBeforeItIsACoroutineIsAnErrorOfIt) {
  auto clean_up = []() -> Task<void> { throw std::runtime_error("not even begun"); };
  struct NoCoroutine {
    Task<void> operator()() { throw std::runtime_error("not even begun"); }
  };
  Outcome<int> outcome = co_await as_outcome(finally(value(), NoCoroutine()));
  EXPECT_EQ(describe(outcome.error()), "not even begun");
  static_cast<void>(clean_up);
}

struct Used {
  OrderLog& log;
  testing::ResourceCount& count;
};
Task<void> use_resource(Used used, Scope canceller, bool fails) {
  auto acquire = [&used, canceller]() -> Task<testing::Resource> {
    used.log.note("acquire");
    canceller.cancel();  // from here to the release no cancel slips in
    co_return testing::Resource(used.count, 5);
  };
  auto use = [&used, fails](testing::Resource& resource) -> Task<int> {
    used.log.note("use");
    if (fails) throw std::runtime_error("use");
    co_await delay(1h);
    co_return resource.number();
  };
  auto release = [&used](testing::Resource& resource) -> Task<void> {
    co_await delay(5ms);
    used.log.note("release " + std::to_string(resource.number()));
  };
  co_await with_resource(acquire, use, release);
  used.log.note("went on");
}

TEST(WithResourceTest, NoCancelSlipsInBetweenAcquireAndUse) {
  OrderLog log;
  CoroWorld world;
  testing::ResourceCount count;
  auto body = [](Scope scope, OrderLog& events, testing::ResourceCount& counted) -> Task<void> {
    Used used{events, counted};
    co_await use_resource(used, scope, false);
  };
  EXPECT_TRUE(world.run(body, std::ref(log), std::ref(count)).is_cancelled());
  EXPECT_EQ(log.events(), (std::vector<std::string>{"acquire", "use", "release 5"}));
  EXPECT_EQ(count.live, 0);
}

TEST(WithResourceTest, AnErrorOfUseReleases) {
  OrderLog log;
  CoroWorld world;
  testing::ResourceCount count;
  auto body = [](Scope, OrderLog& events, testing::ResourceCount& counted) -> Task<void> {
    Used used{events, counted};
    auto elsewhere = [](Scope inner) -> Task<Scope> { co_return inner; };
    Scope ended = co_await coroutine_scope(elsewhere);
    co_await use_resource(used, ended, true);
  };
  EXPECT_EQ(describe(world.run(body, std::ref(log), std::ref(count)).error()), "use");
  EXPECT_EQ(log.events(), (std::vector<std::string>{"acquire", "use", "release 5"}));
}

CORO_TEST(WithResourceTest, AnErrorOfAcquireReleasesNothing) {
  bool is_released = false;
  auto acquire = []() -> Task<int> {
    throw std::runtime_error("acquire");
    co_return 0;
  };
  auto use = [](int&) -> Task<int> { co_return 1; };
  auto release = [&is_released](int&) -> Task<void> {
    is_released = true;
    co_return;
  };
  Outcome<int> outcome = co_await as_outcome(with_resource(acquire, use, release));
  EXPECT_EQ(describe(outcome.error()), "acquire");
  EXPECT_FALSE(is_released);
}

}  // namespace
}  // namespace tenure
