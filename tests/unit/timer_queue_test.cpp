// The heap of timers against a reference, and timers against cancels.
#include <map>
#include <random>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::VirtualTimers;

struct Node final : TimerNode {
  bool claim() noexcept override { return accepts; }
  void fire() noexcept override { log->push_back(this); }
  std::vector<const Node*>* log = nullptr;
  bool accepts = true;
  bool is_waiting = false;
};

TEST(TimerQueueTest, FiresInTheOrderOfAReferenceUnderRandomAddsAndRemoves) {
  std::mt19937_64 random(testing::choose_seed());
  VirtualTimers timers;
  std::vector<const Node*> fired;
  std::vector<Node> nodes(500);
  for (Node& node : nodes) node.log = &fired;
  std::multimap<TimePoint, Node*> reference;
  for (int step = 0; step < 50'000; ++step) {
    Node& node = nodes[random() % nodes.size()];
    const auto found =
        std::find_if(reference.begin(), reference.end(), [&](const auto& at) { return at.second == &node; });
    const std::uint64_t what = random() % 10;
    if (what < 5 && found == reference.end()) {
      const TimePoint at = timers.now() + std::chrono::nanoseconds(random() % 1000);
      EXPECT_TRUE(timers.add(node, at));
      reference.emplace(at, &node);
    } else if (what < 8) {
      EXPECT_EQ(timers.remove(node), found != reference.end());
      if (found != reference.end()) reference.erase(found);
    } else if (what == 8) {
      ASSERT_EQ(timers.next(), reference.empty() ? TimePoint::max() : reference.begin()->first);
    } else {
      const TimePoint to = timers.now() + std::chrono::nanoseconds(random() % 100);
      fired.clear();
      timers.move_to(to);
      TimePoint last{};
      for (const Node* each : fired) {
        EXPECT_LE(last, each->at());
        EXPECT_LE(each->at(), to);
        last = each->at();
        const auto due =
            std::find_if(reference.begin(), reference.end(), [&](const auto& at) { return at.second == each; });
        ASSERT_NE(due, reference.end());
        reference.erase(due);
      }
      EXPECT_TRUE(reference.empty() || reference.begin()->first > to);
    }
  }
}

TEST(TimerQueueTest, ANodeThatDoesNotWantToIsPassedBy) {
  VirtualTimers timers;
  std::vector<const Node*> fired;
  Node a;
  Node b;
  a.log = b.log = &fired;
  a.accepts = false;
  timers.add(a, TimePoint(1ms));
  timers.add(b, TimePoint(1ms));
  timers.move_to(TimePoint(2ms));
  EXPECT_EQ(fired, std::vector<const Node*>{&b});
  EXPECT_FALSE(timers.remove(a));
}

TEST(TimerQueueTest, ManyInAscendingAndDescendingOrderNeedNoStack) {
  VirtualTimers timers;
  std::vector<const Node*> fired;
  std::vector<Node> nodes(200'000);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].log = &fired;
    timers.add(nodes[i], TimePoint(std::chrono::nanoseconds(i % 2 == 0 ? i : 1'000'000 - i)));
  }
  timers.move_to(TimePoint(1s));
  EXPECT_EQ(fired.size(), nodes.size());
}

CORO_TEST(DelayTest, SleepersWakeByTheirTimes) {
  std::vector<int> log;
  auto sleeper = [](std::vector<int>& out, int n) -> Task<void> {
    co_await delay(std::chrono::milliseconds(n));
    out.push_back(n);
  };
  auto all = [](Scope inner, std::vector<int>& out, decltype(sleeper) one) -> Task<void> {
    for (int n : {5, 1, 4, 2, 3}) inner.launch(one, std::ref(out), n);
    co_return;
  };
  co_await coroutine_scope(all, std::ref(log), sleeper);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 4, 5}));
}

CORO_TEST(DelayTest, ZeroAndNegativeDoNotSuspendAndForeverDoesNotOverflow) {
  co_await delay(0ms);
  co_await delay(-1h);
  EXPECT_EQ(world.elapsed(), 0ms);
  auto forever = []() -> Task<void> { co_await delay(Duration::max()); };
  Job job = scope.launch(forever);
  co_await yield_now();
  EXPECT_EQ(job.state(), JobState::kActive);
  job.cancel();
  co_await job.join();
  EXPECT_EQ(world.timers().next(), TimePoint::max());
}

// The timer has claimed the sleeper, which has not yet run: a cancel then still unwinds it.
TEST(DelayTest, ACancelBetweenTheTimerAndTheTurnWins) {
  CoroWorld world;
  bool went_on = false;
  auto sleeper = [](bool& on) -> Task<void> {
    co_await delay(1ms);
    on = true;
  };
  Job job = world.scope().launch(sleeper, std::ref(went_on));
  world.run_ready();
  world.timers().move_to(TimePoint(2ms));
  job.cancel();
  world.run_ready();
  EXPECT_FALSE(went_on);
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

}  // namespace
}  // namespace tenure
