#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <tenure/testing/order_log.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::OrderLog;

Task<int> value_after(Duration duration, int value) {
  co_await delay(duration);
  co_return value;
}
Task<void> fail_after(Duration duration) {
  co_await delay(duration);
  throw std::runtime_error("broken");
}
Task<void> note_unwinding(int& unwound) {
  struct Guard {
    int& unwound;
    ~Guard() { unwound += is_unwinding() ? 1 : 0; }
  } guard{unwound};
  co_await delay(1h);
}

Task<int> two(Scope scope) {
  Deferred<int> a = scope.async(value_after, 20ms, 1);
  Deferred<int> b = scope.async(value_after, 10ms, 2);
  co_return co_await a + co_await b;
}

CORO_TEST(ScopeTest, WaitsForItsChildren) {
  EXPECT_EQ(co_await coroutine_scope(two), 3);
  EXPECT_EQ(world.elapsed(), 20ms);
}

Task<void> one_fails(Scope scope, int& unwound) {
  scope.launch(note_unwinding, std::ref(unwound));
  scope.launch(fail_after, 10ms);
  co_await delay(1h);
}

CORO_TEST(ScopeTest, AFailureCancelsTheSiblingsAndComesOut) {
  int unwound = 0;
  Outcome<void> outcome = co_await as_outcome(coroutine_scope(one_fails, std::ref(unwound)));
  EXPECT_TRUE(outcome.is_error());
  EXPECT_EQ(unwound, 1);
  EXPECT_EQ(world.elapsed(), 10ms);
  EXPECT_TRUE(world.errors().empty());
}

Task<int> one_fails_alone(Scope scope) {
  scope.launch(fail_after, 10ms);
  Deferred<int> other = scope.async(value_after, 20ms, 7);
  co_return co_await other;
}

CORO_TEST(ScopeTest, ASupervisorSparesTheOthersAndReports) {
  EXPECT_EQ(co_await supervisor_scope(one_fails_alone), 7);
  EXPECT_EQ(world.errors().size(), 1U);
}

CORO_TEST(ScopeTest, ATimeLimitGivesAnErrorToALiveJob) {
  Outcome<int> outcome = co_await as_outcome(with_timeout(10ms, value_after(1h, 1)));
  EXPECT_EQ(outcome.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(world.elapsed(), 10ms);
  EXPECT_EQ(co_await with_timeout(10ms, value_after(5ms, 3)), 3);
  co_await delay(1h);  // the timer that did not fire is gone
  EXPECT_EQ(world.elapsed(), 15ms + 1h);
}

Task<void> loop_around_outcome(int& turns) {
  while (true) {
    ++turns;
    Outcome<int> outcome = co_await as_outcome(value_after(1h, 1));
    (void)outcome;
  }
}

TEST(ScopeTest, CancellationCannotBeSwallowed) {
  CoroWorld world;
  int turns = 0;
  Owner owner = world.open("page");
  Job job = owner.launch(loop_around_outcome, std::ref(turns));
  world.run_ready();
  job.cancel();
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(turns, 1);
}

CORO_TEST(ScopeTest, AwaitingWhatOthersCancelledIsAnError) {
  Deferred<int> deferred = scope.async(value_after, 1h, 1);
  deferred.cancel(std::make_exception_ptr(std::runtime_error("not needed")));
  bool aborted = false;
  try {
    co_await deferred;
  } catch (const Error& error) {
    aborted = error.code() == ErrorCode::kAborted && error.cause() != nullptr;
  }
  EXPECT_TRUE(aborted);
}

CORO_TEST(ScopeTest, JoiningItselfIsAnError) {
  Outcome<void> outcome = Outcome<void>::of_cancelled();
  auto join_self = [](Scope self) -> Task<void> { co_await self.job().join(); };
  outcome = co_await as_outcome(coroutine_scope(join_self));
  EXPECT_EQ(outcome.code(), ErrorCode::kFailedPrecondition);
}

Task<void> cleaned_up(OrderLog& log) {
  auto body = [](OrderLog& log) -> Task<void> {
    log.at(1);
    co_await delay(1h);
  };
  auto clean_up = [&log]() -> Task<void> {
    log.at(2);
    co_await delay(5ms);
    log.at(3);
  };
  Task<void> running = finally(body(log), clean_up);
  co_await std::move(running);
  log.at(99);
}

TEST(ScopeTest, CleanUpAwaitsShieldedFromTheCancellation) {
  CoroWorld world;
  OrderLog log;
  Owner owner = world.open("page");
  Job job = owner.launch(cleaned_up, std::ref(log));
  world.run_ready();
  owner.cancel();
  EXPECT_FALSE(job.is_complete());
  world.run_until_idle();
  log.end(4);
  EXPECT_EQ(log.failure(), "");
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(world.elapsed(), 5ms);
}

struct Page {
  explicit Page(OrderLog& log) : log(log) {}
  ~Page() { log.note("page gone"); }
  OrderLog& log;
  int shown = 0;
  Task<void> show(int times) {
    struct Guard {
      OrderLog& log;
      ~Guard() { log.note("show unwound"); }
    } guard{log};
    for (int i = 0; i < times; ++i) {
      co_await delay(1ms);
      ++shown;
    }
  }
};

TEST(OwnerTest, I8_UnwindsSynchronouslyOnItsOwnThreadAndKeepsStateUntilTheLastChildEnded) {
  CoroWorld world;
  OrderLog log;
  Owner owner = world.open("page");
  Kept<Page> page = owner.keep<Page>(log);
  page.launch(&Page::show, 1000);
  world.advance(10ms);
  EXPECT_EQ(page->shown, 10);
  owner.cancel();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"show unwound"}));
  EXPECT_THROW(static_cast<void>(page->shown), Error);
  world.run_ready();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"show unwound", "page gone"}));
  EXPECT_THROW(page.launch(&Page::show, 1), Error);
}

Task<bool> go_there_and_back(ThreadPool& there) {
  const std::uint32_t here = os::thread_number();
  auto elsewhere = [](ThreadPool& pool) -> Task<bool> { co_return pool.is_worker(); };
  const bool was_there = co_await with_context(there, elsewhere, std::ref(there));
  co_return was_there&& os::thread_number() == here;
}

TEST(ContextTest, RunsElsewhereAndComesBack) {
  ThreadPool there(2);
  LoopDispatcher loop;
  testing::VirtualTimers timers;
  Root root(loop, timers, nullptr);
  EXPECT_TRUE(block_on(root.scope(), go_there_and_back, std::ref(there)));
  EXPECT_TRUE(root.end(10s, &loop));
}

CORO_TEST(WhenAllTest, GivesAllValues) {
  auto [a, b] = co_await when_all(value_after(10ms, 1), value_after(20ms, 2));
  EXPECT_EQ(a + b, 3);
  EXPECT_EQ(world.elapsed(), 20ms);
}

}  // namespace
}  // namespace tenure
