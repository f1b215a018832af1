// Two sides of one race, many times over, on real threads: exactly one wins, nothing is lost, nothing hangs.
#include "support/resource.hpp"
#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::Resource;
using testing::ResourceCount;
using testing::scaled;
using testing::StressWorld;

Task<void> join(Job job) { co_await job.join(); }
void wait_for(const StressWorld& world, Job job) { block_on(world.root.scope(), join, std::move(job)); }

// H4: a resume from another thread against a cancel; and a second resume from a third.
TEST(CoroStress, I1_CancelAgainstResume) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  ResourceCount count;
  std::atomic<long> seen{0};
  std::atomic<long> back{0};
  using Held = std::shared_ptr<Continuation<Resource>>;
  const int rounds = scaled(3000);
  long dropped = 0;
  for (int round = 0; round < rounds; ++round) {
    CompletableDeferred<Held> held;
    auto body = [](CompletableDeferred<Held> out, std::atomic<long>& counted) -> Task<void> {
      auto start = [&out](Continuation<Resource> continuation) {
        out.complete(std::make_shared<Continuation<Resource>>(std::move(continuation)));
      };
      Resource resource = co_await suspend_cancellable<Resource>(start);
      counted += resource.is_here() ? 1 : 0;
    };
    Job job = world.root.scope().launch(body, held, std::ref(seen));
    auto resume = [](CompletableDeferred<Held> in, ResourceCount& counted, std::atomic<long>& returned) -> Task<void> {
      Held continuation = co_await in;
      Resource resource(counted);
      if (continuation->resume(std::move(resource))) ++returned;
    };
    Job first = world.root.scope().launch(resume, held, std::ref(count), std::ref(back));
    Job second = world.root.scope().launch(resume, held, std::ref(count), std::ref(back));
    testing::pass(random() % 500);
    job.cancel();
    wait_for(world, job);
    if (held.is_done()) {
      wait_for(world, first);
      wait_for(world, second);
    } else {  // cancelled before it began
      first.cancel();
      second.cancel();
      wait_for(world, first);
      wait_for(world, second);
      ++dropped;
    }
  }
  EXPECT_EQ(count.live, 0);
  EXPECT_LE(seen + back, count.made);
  std::cout << "resumed " << seen << ", given back " << back << ", never begun " << dropped << " of " << rounds << "\n";
}

TEST(CoroStress, CancelAgainstLaunchAndFirstStep) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  ResourceCount count;
  std::atomic<int> begun{0};
  const int rounds = scaled(4000);
  for (int round = 0; round < rounds; ++round) {
    auto body = [](Resource resource, std::atomic<int>& counted) -> Task<void> {
      ++counted;
      co_await delay(1h);
      static_cast<void>(resource);
    };
    Job job = world.root.scope().launch(body, Resource(count), std::ref(begun));
    testing::pass(random() % 200);
    job.cancel();
    wait_for(world, job);
    EXPECT_EQ(job.state(), JobState::kCancelled);
  }
  EXPECT_EQ(count.live, 0);
  std::cout << "begun " << begun << " of " << rounds << "\n";
}

// I5: children that attach while the parent is being cancelled are cancelled too.
TEST(CoroStress, I5_CancelAgainstLaunchOfChildren) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  const int rounds = scaled(80);
  for (int round = 0; round < rounds; ++round) {
    auto body = [](Scope scope) -> Task<void> {
      auto child = []() -> Task<void> { co_await delay(1h); };
      while (true) {
        scope.launch(child);
        co_await yield_now();
      }
    };
    Owner owner = world.root.open("owner", world.pool);
    for (int i = 0; i < 3; ++i) owner.launch(body);
    testing::pass(random() % 5000);
    owner.cancel();
    wait_for(world, owner.job());
  }
}

TEST(CoroStress, TimeoutAgainstResult) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  ResourceCount count;
  std::atomic<int> values{0};
  std::atomic<int> limits{0};
  auto one = [](ResourceCount& counted, Duration limit, Duration work, std::atomic<int>& won,
                std::atomic<int>& lost) -> Task<void> {
    auto make = [](ResourceCount& in, Duration after) -> Task<Resource> {
      co_await delay(after);
      co_return Resource(in);
    };
    Outcome<Resource> outcome = co_await as_outcome(with_timeout(limit, make(counted, work)));
    EXPECT_TRUE(outcome.has_value() || outcome.code() == ErrorCode::kDeadlineExceeded);
    ++(outcome.has_value() ? won : lost);
  };
  const int rounds = scaled(100);
  for (int round = 0; round < rounds; ++round) {
    Owner owner = world.root.open("owner", world.pool);
    std::vector<Job> jobs;
    for (int i = 0; i < 40; ++i) {
      const Duration limit = std::chrono::microseconds(random() % 200);
      const Duration work = limit + std::chrono::nanoseconds(static_cast<long>(random() % 20000) - 10000);
      jobs.push_back(owner.launch(one, std::ref(count), limit, work, std::ref(values), std::ref(limits)));
    }
    if (round % 4 == 3) owner.cancel();
    for (const Job& job : jobs) wait_for(world, job);
  }
  EXPECT_EQ(count.live, 0);
  EXPECT_EQ(world.errors, 0);
  std::cout << "values " << values << ", limits " << limits << "\n";
}

// A limit passes while the body is running, or has just ended: the end is its value, or the limit, and nothing else.
TEST(CoroStress, TimeoutAgainstABodyThatNeverWaits) {
  testing::stress_seed();
  StressWorld world;
  auto one = [](std::uint64_t turns) -> Task<int> {
    auto compute = [](std::uint64_t n) -> Task<int> {
      testing::pass(n);
      co_return 1;
    };
    co_return co_await with_timeout(0ns, compute(turns));  // a value that it came to wins: this never throws
  };
  const int rounds = scaled(4000);
  for (int round = 0; round < rounds; ++round) {
    EXPECT_EQ(block_on(world.root.scope(), one, static_cast<std::uint64_t>(round % 400)), 1);
  }
}

// H7: many rounds of tasks that hop and join.
TEST(CoroStress, H7_AHundredTasksHopAndJoin) {
  testing::stress_seed();
  StressWorld world;
  ThreadPool other(2);
  auto hop = [](Dispatcher& there) -> Task<int> {
    auto one = []() -> Task<int> { co_return 1; };
    co_return co_await with_context(there, one);
  };
  auto all = [](Scope scope, decltype(hop) task, Dispatcher& there) -> Task<int> {
    std::vector<Deferred<int>> started;
    for (int i = 0; i < 100; ++i) started.push_back(scope.async(task, std::ref(there)));
    int sum = 0;
    for (Deferred<int>& deferred : started) sum += co_await deferred;
    co_return sum;
  };
  const int rounds = scaled(150);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(block_on(world.root.scope(), all, hop, std::ref<Dispatcher>(other)), 100);
  }
}

// H5: the scope goes the moment its last child has ended.
TEST(CoroStress, H5_AScopeGoesWithItsLastChild) {
  testing::stress_seed();
  StressWorld world;
  auto one = [](std::atomic<int>& sum) -> Task<void> {
    auto body = [](Scope scope, std::atomic<int>& to) -> Task<void> {
      auto child = [](std::atomic<int>& in) -> Task<void> {
        ++in;
        co_return;
      };
      for (int i = 0; i < 3; ++i) scope.launch(child, std::ref(to));
      co_return;
    };
    co_await coroutine_scope(body, std::ref(sum));
  };
  const int rounds = scaled(4000);
  std::atomic<int> sum{0};
  for (int round = 0; round < rounds; ++round) block_on(world.root.scope(), one, std::ref(sum));
  EXPECT_EQ(sum, 3 * rounds);
}

TEST(CoroStress, OnCompletionRegisteredWhileCompleting) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  std::atomic<int> called{0};
  const int rounds = scaled(4000);
  auto nothing = []() -> Task<void> { co_return; };
  for (int round = 0; round < rounds; ++round) {
    Job job = world.root.scope().launch(nothing);
    testing::pass(random() % 100);
    job.on_completion([&called](const Outcome<void>& outcome) { called += outcome.has_value() ? 1 : 0; });
    job.on_completion([&called](const Outcome<void>& outcome) { called += outcome.has_value() ? 1 : 0; });
    wait_for(world, job);
  }
  EXPECT_TRUE(world.root.end(60s, nullptr));
  EXPECT_EQ(called, 2 * rounds);
}

}  // namespace
}  // namespace tenure
