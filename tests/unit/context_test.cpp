// with_context: what is created, run and destroyed on which dispatcher (I3, trap 20).
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <thread>

#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;

// Notes on which dispatcher it ends.
struct EndsOn {
  EndsOn(const ThreadPool& pool, std::atomic<int>& right, std::atomic<int>& wrong)
      : pool(&pool), right(&right), wrong(&wrong) {}
  EndsOn(EndsOn&& other) noexcept : pool(std::exchange(other.pool, nullptr)), right(other.right), wrong(other.wrong) {}
  EndsOn& operator=(EndsOn&&) = delete;
  ~EndsOn() {
    if (pool != nullptr) ++(pool->is_worker() ? *right : *wrong);
  }
  const ThreadPool* pool;
  std::atomic<int>* right;
  std::atomic<int>* wrong;
};

struct WithContextTest : ::testing::Test {
  ~WithContextTest() override { EXPECT_TRUE(root.end(60s, nullptr)); }
  testing::Watchdog watchdog{60s};
  ThreadPool here{1};
  ThreadPool there{1};
  TimerThread timers;
  Root root{here, timers, nullptr};
  std::atomic<int> right{0};
  std::atomic<int> wrong{0};
};

Task<void> work(EndsOn parameter, CompletableDeferred<> started) {
  EndsOn local(*parameter.pool, *parameter.right, *parameter.wrong);
  started.complete();
  co_await delay(1h);
}
Task<void> go_there(ThreadPool& there, EndsOn parameter, CompletableDeferred<> started) {
  auto make = [](EndsOn& given, CompletableDeferred<> begun) { return work(std::move(given), std::move(begun)); };
  co_await with_context(there, make, std::move(parameter), std::move(started));
}
Task<void> wait_for(Pending<void> pending) { co_await pending; }
Task<void> join(Job job) { co_await job.join(); }

TEST_F(WithContextTest, I3_FramesOfACancelledOneEndWhereTheyRan) {
  CompletableDeferred<> started;
  Job job = root.scope().launch(go_there, std::ref(there), EndsOn(there, right, wrong), started);
  block_on(root.scope(), wait_for, started.pending());
  job.cancel();  // from a third thread
  block_on(root.scope(), join, job);
  EXPECT_EQ(right, 2);
  EXPECT_EQ(wrong, 0);
}

TEST_F(WithContextTest, I3_ALaunchedCallableEndsOnItsDispatcher) {
  CompletableDeferred<> started;
  auto body = [held = EndsOn(there, right, wrong), started]() mutable -> Task<void> {
    started.complete();
    co_await delay(1h);
  };
  Job job = root.scope().on(there).launch(std::move(body));
  block_on(root.scope(), wait_for, started.pending());
  job.cancel();
  block_on(root.scope(), join, job);
  EXPECT_EQ(right, 1);
  EXPECT_EQ(wrong, 0);
}

TEST_F(WithContextTest, I3_ACallableThatNeverBeganEndsOnItsDispatcher) {
  Owner owner = root.open("page", there);
  std::atomic<bool> goes_on{false};
  auto block = [](const std::atomic<bool>& on) -> Task<void> {
    while (!on) std::this_thread::yield();
    co_return;
  };
  owner.launch(block, std::cref(goes_on));
  auto body = [held = EndsOn(there, right, wrong)]() -> Task<void> { co_return; };
  Job job = owner.launch(std::move(body));
  job.cancel();
  goes_on = true;
  block_on(root.scope(), join, job);
  EXPECT_EQ(right, 1);
  EXPECT_EQ(wrong, 0);
}

TEST_F(WithContextTest, AnErrorAndAValueComeBack) {
  auto value = []() -> Task<int> { co_return 4; };
  auto error = []() -> Task<int> {
    throw Error(ErrorCode::kNotFound, "nothing there");
    co_return 0;
  };
  auto both = [](ThreadPool& home, ThreadPool& away, decltype(value) good, decltype(error) bad) -> Task<int> {
    int sum = co_await with_context(away, good);
    Outcome<int> outcome = co_await as_outcome(with_context(away, bad));
    EXPECT_EQ(outcome.code(), ErrorCode::kNotFound);
    EXPECT_TRUE(home.is_worker());
    co_return sum;
  };
  EXPECT_EQ(block_on(root.scope(), both, std::ref(here), std::ref(there), value, error), 4);
}

TEST_F(WithContextTest, NestedOnesComeBackLayerByLayer) {
  auto inner = [](ThreadPool& home) -> Task<bool> { co_return home.is_worker(); };
  auto middle = [](ThreadPool& home, ThreadPool& away, decltype(inner) inside) -> Task<bool> {
    const bool is_home = co_await with_context(home, inside, std::ref(home));
    co_return is_home&& away.is_worker();
  };
  auto outer = [](ThreadPool& home, ThreadPool& away, decltype(middle) between, decltype(inner) inside) -> Task<bool> {
    const bool was_right = co_await with_context(away, between, std::ref(home), std::ref(away), inside);
    co_return was_right&& home.is_worker();
  };
  EXPECT_TRUE(block_on(root.scope(), outer, std::ref(here), std::ref(there), middle, inner));
}

}  // namespace
}  // namespace tenure
