// Scopes: lifetimes of arguments, supervisors within supervisors, shields, errors that come late.
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
using testing::Resource;
using testing::ResourceCount;

Task<void> fail_after(Duration duration, const char* text) {
  co_await delay(duration);
  throw std::runtime_error(text);
}
Task<void> wait_for(Duration duration) { co_await delay(duration); }
struct Note {
  OrderLog& log;
  const char* event;
  ~Note() { log.note(event); }
};

CORO_TEST(ScopeRules, ArgumentsLiveUntilTheChildrenEndAndAreGoneBeforeTheResult) {
  ResourceCount count;
  long live_in_child = 0;
  auto body = [](Scope inner, Resource& shared, ResourceCount& counted, long& seen) -> Task<void> {
    auto child = [](Resource& borrowed, ResourceCount& in, long& live) -> Task<void> {
      co_await delay(5ms);
      live = borrowed.is_here() ? in.live.load() : -1;
    };
    inner.launch(child, std::ref(shared), std::ref(counted), std::ref(seen));
    co_return;
  };
  co_await coroutine_scope(body, Resource(count), std::ref(count), std::ref(live_in_child));
  EXPECT_EQ(live_in_child, 1);
  EXPECT_EQ(count.live, 0);
}

CORO_TEST(ScopeRules, ABodyThatThrowsIsJoinedByItsChildrenBeforeTheErrorIsSeen) {
  OrderLog log;
  auto body = [](Scope inner, OrderLog& events) -> Task<void> {
    CompletableDeferred<> begun;
    auto child = [](OrderLog& in, CompletableDeferred<> started) -> Task<void> {
      Note note{in, "child"};
      started.complete();
      auto wait = []() -> Task<void> { co_await delay(5ms); };
      co_await shield(wait);
    };
    inner.launch(child, std::ref(events), begun);
    co_await begun;
    throw std::runtime_error("body");
  };
  Outcome<void> outcome = co_await as_outcome(coroutine_scope(body, std::ref(log)));
  log.note("seen");
  EXPECT_EQ(describe(outcome.error()), "body");
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child", "seen"}));
}

CORO_TEST(ScopeRules, OnlyTheFirstErrorIsTheEndTheOthersAreReported) {
  auto body = [](Scope inner) -> Task<void> {
    auto late = []() -> Task<void> {
      auto fails = []() -> Task<void> { return fail_after(5ms, "second"); };
      co_await shield(fails);
    };
    inner.launch(late);
    inner.launch(fail_after, 1ms, "first");
    co_await delay(1h);
  };
  Outcome<void> outcome = co_await as_outcome(coroutine_scope(body));
  EXPECT_EQ(describe(outcome.error()), "first");
  EXPECT_EQ(world.errors(), std::vector<std::string>{"second"});
}

CORO_TEST(ScopeRules, AnErrorThatTheBodyAwaitedIsReportedOnce) {
  auto body = [](Scope inner) -> Task<void> {
    auto fails = []() -> Task<int> {
      co_await delay(1ms);
      throw std::runtime_error("broken");
    };
    Deferred<int> deferred = inner.async(fails);
    co_await deferred;
  };
  Outcome<void> outcome = co_await as_outcome(coroutine_scope(body));
  EXPECT_EQ(describe(outcome.error()), "broken");
  EXPECT_TRUE(world.errors().empty());
}

CORO_TEST(ScopeRules, SupervisorsWithinSupervisorsKeepErrorsWhereTheyBelong) {
  auto inner_body = [](Scope inner) -> Task<int> {
    inner.launch(fail_after, 1ms, "inner");
    co_await delay(10ms);
    co_return 1;
  };
  auto outer_body = [](Scope outer, decltype(inner_body) inside) -> Task<int> {
    outer.launch(fail_after, 2ms, "outer");
    const int value = co_await supervisor_scope(inside);
    co_await delay(10ms);
    co_return value + 1;
  };
  EXPECT_EQ(co_await supervisor_scope(outer_body, inner_body), 2);
  EXPECT_EQ(world.errors(), (std::vector<std::string>{"inner", "outer"}));
}

CORO_TEST(ScopeRules, UnderASupervisorADeferredsErrorIsKeptForWhoAwaitsIt) {
  auto body = [](Scope inner) -> Task<std::string> {
    auto fails = []() -> Task<int> {
      co_await delay(1ms);
      throw std::runtime_error("kept");
    };
    Deferred<int> deferred = inner.async(fails);
    co_await delay(5ms);
    try {
      co_await deferred;
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  EXPECT_EQ(co_await supervisor_scope(body), "kept");
  EXPECT_TRUE(world.errors().empty());
}

CORO_TEST(ScopeRules, AScopeThatCancelsItselfIsAbortedForItsCaller) {
  auto body = [](Scope inner) -> Task<void> {
    inner.cancel(std::make_exception_ptr(std::runtime_error("not needed")));
    co_await checkpoint();
  };
  Outcome<void> outcome = co_await as_outcome(coroutine_scope(body));
  EXPECT_TRUE(outcome.is_cancelled());
  EXPECT_EQ(describe(outcome.cause()), "not needed");
  EXPECT_FALSE(scope.is_cancelled());
}

CORO_TEST(ScopeRules, AnErrorOfAScopeThatCancelledItselfIsReported) {
  auto body = [](Scope inner) -> Task<int> {
    inner.cancel();
    throw std::runtime_error("too late");
    co_return 1;
  };
  Outcome<int> outcome = co_await as_outcome(coroutine_scope(body));
  EXPECT_TRUE(outcome.is_cancelled());
  EXPECT_EQ(world.errors(), std::vector<std::string>{"too late"});
}

TEST(ScopeRules, AShieldLetsItsWorkEndAndTheCancellationGoOnAfterIt) {
  OrderLog log;
  CoroWorld world;
  auto body = [](OrderLog& events) -> Task<void> {
    auto work = [](OrderLog& in) -> Task<int> {
      co_await delay(5ms);
      in.note("shielded work");
      co_return 7;
    };
    const int value = co_await shield(work, std::ref(events));
    events.note(std::to_string(value));
    co_await checkpoint();
    events.note("went on");
  };
  Job job = world.scope().launch(body, std::ref(log));
  world.run_ready();
  job.cancel();
  world.run_until_idle();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"shielded work", "7"}));
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

TEST(ScopeRules, ADroppedDeferredIsStillJoined) {
  CoroWorld world;
  auto body = [](Scope scope) -> Task<void> {
    static_cast<void>(scope.async(wait_for, 5ms));
    co_return;
  };
  EXPECT_TRUE(world.run(body).has_value());
  EXPECT_EQ(world.elapsed(), 5ms);
}

CORO_TEST(ScopeRules, WhenAllCancelsTheOthersOnAnErrorAndJoinsThem) {
  ResourceCount count;
  auto holds = [](Resource held) -> Task<int> {
    co_await delay(1h);
    co_return held.number();
  };
  auto fails = []() -> Task<int> {
    co_await delay(1ms);
    throw std::runtime_error("broken");
  };
  Outcome<std::tuple<int, int>> outcome = co_await as_outcome(when_all(holds(Resource(count)), fails()));
  EXPECT_EQ(describe(outcome.error()), "broken");
  EXPECT_EQ(count.live, 0);
  EXPECT_EQ(world.elapsed(), 1ms);
}

TEST(ScopeRules, NamesAndDispatchersAreThoseOfTheHandle) {
  CoroWorld world;
  testing::ShuffledDispatcher other(1);
  Job job = world.scope().named("loader").on(other).launch(wait_for, 0ms);
  EXPECT_STREQ(job.name(), "loader");
  world.run_until_idle();
  EXPECT_FALSE(job.is_complete());
  other.run_ready();
  EXPECT_TRUE(job.is_complete());
}

}  // namespace
}  // namespace tenure
