// Cancel listeners (I7): once, synchronously, with no lock held; never after remove_listener.
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;

struct Listener final : detail::CancelListener {
  void on_cancel() noexcept override {
    ++calls;
    if (action) action();
  }
  int calls = 0;
  UniqueFunction<void()> action;
};
Task<void> wait_long() { co_await delay(1h); }

struct ListenerTest : ::testing::Test {
  CoroWorld world;
  Owner owner = world.open("page");
  detail::JobNode& job = owner.scope().node();
};

TEST_F(ListenerTest, I7_IsCalledOnceAndBeforeCancelReturns) {
  Listener listener;
  job.add_listener(listener);
  owner.cancel();
  EXPECT_EQ(listener.calls, 1);
  owner.cancel();
  EXPECT_EQ(listener.calls, 1);
  job.remove_listener(listener);
}

TEST_F(ListenerTest, I7_RemovedItIsNotCalled) {
  Listener first;
  Listener middle;
  Listener last;
  for (Listener* each : {&first, &middle, &last}) job.add_listener(*each);
  job.remove_listener(middle);
  job.remove_listener(first);
  owner.cancel();
  EXPECT_EQ(first.calls + middle.calls, 0);
  EXPECT_EQ(last.calls, 1);
}

TEST_F(ListenerTest, I7_AddedToACancelledJobItIsCalledAtOnce) {
  owner.cancel();
  Listener listener;
  job.add_listener(listener);
  EXPECT_EQ(listener.calls, 1);
  job.remove_listener(listener);
}

TEST_F(ListenerTest, I7_ItMayRemoveAndDestroyItselfAndOthers) {
  auto itself = std::make_unique<Listener>();
  auto other = std::make_unique<Listener>();
  job.add_listener(*other);
  job.add_listener(*itself);  // called first
  itself->action = [&] {
    job.remove_listener(*other);
    other.reset();
    job.remove_listener(*itself);
    const UniqueFunction<void()> keep = std::move(itself->action);
    itself.reset();
  };
  owner.cancel();
  EXPECT_EQ(itself, nullptr);
}

TEST_F(ListenerTest, I7_ItMayCancelLaunchAndLookWithNoLockHeld) {
  Listener listener;
  JobState state = JobState::kActive;
  listener.action = [&] {
    owner.cancel();
    owner.launch(wait_long);
    state = owner.job().state();
  };
  job.add_listener(listener);
  owner.launch(wait_long);
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(state, JobState::kCancelling);
  world.run_ready();
  EXPECT_TRUE(owner.job().is_complete());
}

TEST_F(ListenerTest, ChildrensListenersAreCalledTooShieldedOnesNot) {
  Listener listener;
  Listener shielded;
  auto listen = [](Scope scope, Listener& to) -> Task<void> {
    scope.node().add_listener(to);
    co_await delay(5ms);
    scope.node().remove_listener(to);
  };
  auto shield_it = [](Listener& to, decltype(listen) inside) -> Task<void> { co_await shield(inside, std::ref(to)); };
  auto child = [](Scope scope, Listener& to) -> Task<void> {
    scope.node().add_listener(to);
    co_await delay(1h);
  };
  owner.launch(child, std::ref(listener));
  owner.launch(shield_it, std::ref(shielded), listen);
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(listener.calls, 1);
  EXPECT_EQ(shielded.calls, 0);
  world.run_until_idle();
  EXPECT_EQ(shielded.calls, 0);
}

}  // namespace
}  // namespace tenure
