#include <memory>
#include <stdexcept>
#include <string>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;

Task<int> answer() { co_return 42; }
Task<int> add(int a, int b) {
  const int left = co_await answer();
  co_return a + b + left - 42;
}
Task<void> fail() {
  co_await yield_now();
  throw std::runtime_error("broken");
}

struct Counted {
  explicit Counted(int& count) : live(&count) { ++count; }
  Counted(Counted&& other) noexcept : live(other.live) { ++*live; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*live; }
  int* live;
};

Task<int> hold(Counted counted) {
  co_await yield_now();
  co_return *counted.live;
}

CORO_TEST(TaskTest, GivesItsValue) {
  EXPECT_EQ(co_await answer(), 42);
  EXPECT_EQ(co_await add(1, 2), 3);
}

CORO_TEST(TaskTest, GivesItsError) {
  bool caught = false;
  try {
    co_await fail();
  } catch (const std::runtime_error& error) {
    caught = std::string(error.what()) == "broken";
  }
  EXPECT_TRUE(caught);
}

CORO_TEST(TaskTest, I3_ParametersAreGoneWhenTheResultIsSeen) {
  int live = 0;
  Counted counted(live);
  Task<int> task = hold(std::move(counted));
  const int inside = co_await std::move(task);
  EXPECT_GE(inside, 1);
  EXPECT_EQ(live, 1);  // only the local above
}

Task<void> recurse(int depth) {
  if (depth > 0) {
    co_await recurse(depth - 1);
  } else {
    co_await delay(1h);
  }
}

TEST(TaskTest, I2_UnwindingIsALoop) {
  testing::CoroWorld world;
  Owner owner = world.open("deep");
  owner.launch(recurse, 100'000);
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(world.timers().next(), TimePoint::max());
}

Task<void> loop_of_awaits(int& count) {
  for (int i = 0; i < 1'000'000; ++i) count += co_await answer() == 42 ? 1 : 0;
}

TEST(TaskTest, AMillionAwaitsUseNoStack) {
  testing::CoroWorld world;
  int count = 0;
  auto outcome = world.run(loop_of_awaits, std::ref(count));
  EXPECT_TRUE(outcome.has_value());
  EXPECT_EQ(count, 1'000'000);
}

TEST(TaskTest, DroppedItNeverRuns) {
  int live = 0;
  {
    Task<int> task = hold(Counted(live));
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace tenure
