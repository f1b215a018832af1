// Cancels from everywhere: trees, owners, listeners, mutexes, other dispatchers.
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
Task<void> wait_long(Resource resource) {
  co_await delay(1h);
  static_cast<void>(resource);
}

TEST(CancelStress, ATreeOfTenTimesAHundredTimesAHundred) {
  testing::stress_seed();
  StressWorld world;
  ResourceCount count;
  auto branch = [](Scope scope, ResourceCount& counted) -> Task<void> {
    for (int i = 0; i < 100; ++i) scope.launch(wait_long, Resource(counted));
    co_await delay(1h);
  };
  auto trunk = [](Scope scope, ResourceCount& counted, decltype(branch) make) -> Task<void> {
    for (int i = 0; i < 100; ++i) scope.launch(make, std::ref(counted));
    co_await delay(1h);
  };
  for (int round = 0; round < scaled(2); ++round) {
    Owner owner = world.root.open("tree", world.pool);
    for (int i = 0; i < 10; ++i) owner.launch(trunk, std::ref(count), branch);
    if (round % 2 == 0) {
      while (count.live < 100'000) std::this_thread::yield();
    } else {
      while (count.live < 5'000) std::this_thread::yield();  // while it still grows
    }
    owner.cancel();
    wait_for(world, owner.job());
    EXPECT_EQ(count.live, 0);
  }
}

TEST(CancelStress, AnOwnerIsCancelledFromTwoThreadsWhileItsCoroutinesRun) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  ResourceCount count;
  struct State {
    explicit State(ResourceCount& counted) : resource(counted) {}
    Resource resource;
    std::atomic<int> turns{0};
    Task<void> work() {
      while (true) {
        ++turns;
        co_await yield_now();
        if (turns % 10 == 0) co_await delay(10us);
      }
    }
  };
  const int rounds = scaled(400);
  for (int round = 0; round < rounds; ++round) {
    Owner owner = world.root.open("page", world.pool);
    Kept<State> state = owner.keep<State>(count);
    for (int i = 0; i < 4; ++i) state.launch(&State::work);
    const Job job = owner.job();
    std::thread other([&job, turns = random() % 3000] {
      testing::pass(turns);
      job.cancel();
    });
    testing::pass(random() % 3000);
    try {
      state.launch(&State::work);  // before or after the end
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kClosed);
    }
    owner.cancel();
    other.join();
    wait_for(world, job);
  }
  EXPECT_EQ(count.live, 0);
}

// H2: the lock becomes free at the moment its waiter is cancelled.
TEST(CancelStress, H2_AMutexIsNotLostToACancelledWaiter) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  Mutex mutex;
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  auto hold = [](Mutex& shared, std::atomic<int>& in, std::atomic<int>& both, std::uint64_t turns) -> Task<void> {
    MutexLock lock = co_await shared.lock();
    if (++in > 1) ++both;
    testing::pass(turns);
    --in;
  };
  const int rounds = scaled(4000);
  for (int round = 0; round < rounds; ++round) {
    Job a = world.root.scope().launch(hold, std::ref(mutex), std::ref(inside), std::ref(together), random() % 100);
    Job b = world.root.scope().launch(hold, std::ref(mutex), std::ref(inside), std::ref(together), 1U);
    Job c = world.root.scope().launch(hold, std::ref(mutex), std::ref(inside), std::ref(together), 1U);
    testing::pass(random() % 200);
    b.cancel();
    wait_for(world, a);
    wait_for(world, b);
    wait_for(world, c);
    ASSERT_TRUE(mutex.try_lock());
    mutex.unlock();
  }
  EXPECT_EQ(together, 0);
}

// H6: a listener is removed by its own call, by the thread that made it, and while another thread calls it.
TEST(CancelStress, I7_ListenersAreRemovedFromInsideAndFromOtherThreads) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  struct Listener final : detail::CancelListener {
    void on_cancel() noexcept override {
      ++calls;
      if (removes_itself) job->remove_listener(*this);
      testing::pass(turns);
      in_call = false;
    }
    detail::JobNode* job = nullptr;
    bool removes_itself = false;
    std::uint64_t turns = 0;
    int calls = 0;
    bool in_call = true;
  };
  auto stay = []() -> Task<void> { co_await delay(1h); };
  const int rounds = scaled(2000);
  for (int round = 0; round < rounds; ++round) {
    Owner owner = world.root.open("owner", world.pool);
    owner.launch(stay);
    detail::JobNode& job = owner.scope().node();
    std::vector<std::unique_ptr<Listener>> listeners;
    for (int i = 0; i < 4; ++i) {
      listeners.push_back(std::make_unique<Listener>());
      listeners.back()->job = &job;
      listeners.back()->removes_itself = i % 2 == 0;
      listeners.back()->turns = random() % 50;
      job.add_listener(*listeners.back());
    }
    std::thread canceller([&owner] { owner.cancel(); });
    testing::pass(random() % 2000);
    for (std::size_t i = 1; i < 4; i += 2) {
      job.remove_listener(*listeners[i]);
      EXPECT_LE(listeners[i]->calls, 1);
      if (listeners[i]->calls == 1) {
        EXPECT_FALSE(listeners[i]->in_call);
      }
      listeners[i].reset();  // neither is running, nor will be
    }
    canceller.join();
    EXPECT_EQ(listeners[0]->calls, 1);
    EXPECT_EQ(listeners[2]->calls, 1);
    wait_for(world, owner.job());
  }
}

// Trap 20: frames end on their own dispatcher, wherever the cancel comes from.
TEST(CancelStress, WithContextAcrossPoolsIsUnwoundWhereItRan) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world(2);
  ThreadPool there(2);
  std::atomic<int> wrong{0};
  struct On {
    const ThreadPool& pool;
    std::atomic<int>& wrong;
    ~On() { wrong += pool.is_worker() ? 0 : 1; }
  };
  auto inner = [](ThreadPool& pool, std::atomic<int>& bad) -> Task<int> {
    On on{pool, bad};
    co_await yield_now();
    co_await delay(20us);
    co_return 1;
  };
  auto outer = [](StressWorld& in, ThreadPool& pool, std::atomic<int>& bad, decltype(inner) inside) -> Task<void> {
    On on{in.pool, bad};
    for (int i = 0; i < 10; ++i) co_await with_context(pool, inside, std::ref(pool), std::ref(bad));
  };
  const int rounds = scaled(800);
  for (int round = 0; round < rounds; ++round) {
    Job job = world.root.scope().launch(outer, std::ref(world), std::ref(there), std::ref(wrong), inner);
    testing::pass(random() % 4000);
    if (round % 4 != 0) job.cancel();
    wait_for(world, job);
  }
  EXPECT_EQ(wrong, 0);
}

// An error of a child and a cancel of the scope meet: the scope's end is one of both, and its other children are gone.
TEST(CancelStress, AFailureAgainstACancel) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  ResourceCount count;
  auto fails = []() -> Task<void> {
    co_await yield_now();
    throw Error(ErrorCode::kInternal, "broken");
  };
  auto body = [](Scope scope, ResourceCount& counted, decltype(fails) failing) -> Task<int> {
    scope.launch(wait_long, Resource(counted));
    scope.launch(failing);
    scope.launch(failing);
    co_await delay(1h);
    co_return 1;
  };
  const int rounds = scaled(1500);
  for (int round = 0; round < rounds; ++round) {
    Deferred<int> deferred = world.root.scope().async(body, std::ref(count), fails);
    testing::pass(random() % 500);
    deferred.cancel();
    const Job job = deferred.job();
    wait_for(world, job);
    EXPECT_TRUE(job.state() == JobState::kFailed || job.state() == JobState::kCancelled);
    EXPECT_EQ(count.live, 0);
  }
}

}  // namespace
}  // namespace tenure
