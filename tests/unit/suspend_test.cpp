// The bridge to callbacks: each way in which a continuation can be used, misused and forgotten (H4).
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <thread>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::Resource;
using testing::ResourceCount;
using Held = std::optional<Continuation<int>>;

Task<int> wait_for(Held& held) {
  auto start = [&held](Continuation<int> continuation) { held.emplace(std::move(continuation)); };
  co_return co_await suspend_cancellable<int>(std::move(start));
}
Task<int> wait_until_done(Held& held) {
  auto start = [&held](Continuation<int> continuation) { held.emplace(std::move(continuation)); };
  co_return co_await suspend_until_done<int>(std::move(start));
}
template <class T>
Outcome<T> end_of(Deferred<T>& deferred) {
  const detail::JobRef node = deferred.release_job();
  return detail::take_outcome<T>(*node.get());
}

TEST(SuspendTest, IsResumedByTheFirstAndASecondIsIgnoredAndCounted) {
  CoroWorld world;
  Held held;
  Deferred<int> deferred = world.scope().async(wait_for, std::ref(held));
  world.run_ready();
  const std::uint64_t before = late_resumes();
  EXPECT_EQ(held->resume(1), std::nullopt);
  EXPECT_EQ(held->resume(2), 2);
  EXPECT_FALSE(held->resume_with_error(std::make_exception_ptr(std::runtime_error("late"))));
  EXPECT_EQ(late_resumes(), before + 2);
  world.run_ready();
  EXPECT_EQ(held->resume(3), 3);  // also when the frame is gone
  EXPECT_EQ(end_of(deferred).value(), 1);
}

TEST(SuspendTest, AnErrorAfterASuccessIsIgnoredAndTheOtherWayRound) {
  CoroWorld world;
  Held held;
  Deferred<int> deferred = world.scope().async(wait_for, std::ref(held));
  world.run_ready();
  EXPECT_TRUE(held->resume_with_error(std::make_exception_ptr(std::runtime_error("broken"))));
  EXPECT_EQ(held->resume(1), 1);
  world.run_ready();
  EXPECT_EQ(deferred.state(), JobState::kFailed);
}

CORO_TEST(SuspendTest, ResumedInsideStartItDoesNotSuspend) {
  auto start = [](Continuation<int> continuation) {
    EXPECT_EQ(continuation.resume(7), std::nullopt);
    EXPECT_EQ(continuation.resume(8), 8);
  };
  EXPECT_EQ(co_await suspend_cancellable<int>(start), 7);
  EXPECT_EQ(co_await suspend_until_done<int>(start), 7);
}

CORO_TEST(SuspendTest, DroppedItIsAnErrorAndNoHang) {
  auto start = [](Continuation<int> continuation) { static_cast<void>(continuation); };
  auto dropped = [](decltype(start) how) -> Task<int> { co_return co_await suspend_until_done<int>(how); };
  ErrorCode code = ErrorCode::kInternal;
  try {
    co_await dropped(start);
  } catch (const Error& error) {
    code = error.code();
  }
  EXPECT_EQ(code, ErrorCode::kAborted);
}

TEST(SuspendTest, DroppedLaterItIsAnErrorToo) {
  CoroWorld world;
  Held held;
  Deferred<int> deferred = world.scope().async(wait_for, std::ref(held));
  world.run_ready();
  held.reset();
  world.run_ready();
  EXPECT_EQ(deferred.state(), JobState::kFailed);
}

CORO_TEST(SuspendTest, WhatStartThrowsIsThrown) {
  auto start = [](Continuation<int>) { throw std::runtime_error("no such device"); };
  bool is_caught = false;
  try {
    co_await suspend_cancellable<int>(start);
  } catch (const std::runtime_error&) {
    is_caught = true;
  }
  EXPECT_TRUE(is_caught);
}

TEST(SuspendTest, ResumedAfterACancelItGivesTheValueBack) {
  CoroWorld world;
  ResourceCount count;
  std::optional<Continuation<Resource>> held;
  auto wait = [](std::optional<Continuation<Resource>>& out) -> Task<void> {
    auto start = [&out](Continuation<Resource> continuation) { out.emplace(std::move(continuation)); };
    co_await suspend_cancellable<Resource>(start);
  };
  Job job = world.scope().launch(wait, std::ref(held));
  world.run_ready();
  job.cancel();
  std::optional<Resource> back = held->resume(Resource(count, 3));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->number(), 3);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  back = held->resume(Resource(count, 4));
  EXPECT_TRUE(back.has_value());
}

TEST(SuspendTest, AValueThatLostAfterItsClaimIsDestroyed) {
  CoroWorld world;
  ResourceCount count;
  std::optional<Continuation<Resource>> held;
  auto wait = [](std::optional<Continuation<Resource>>& out) -> Task<void> {
    auto start = [&out](Continuation<Resource> continuation) { out.emplace(std::move(continuation)); };
    co_await suspend_cancellable<Resource>(start);
  };
  Job job = world.scope().launch(wait, std::ref(held));
  world.run_ready();
  EXPECT_FALSE(held->resume(Resource(count)).has_value());
  job.cancel();
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  held.reset();
  EXPECT_EQ(count.live, 0);
}

TEST(SuspendTest, I7_OnCancelIsCalledOnceAndSynchronously) {
  CoroWorld world;
  Held held;
  int calls = 0;
  Job job = world.scope().launch(wait_for, std::ref(held));
  world.run_ready();
  held->on_cancel([&calls] { ++calls; });
  job.cancel();
  EXPECT_EQ(calls, 1);
  job.cancel();
  world.run_ready();
  EXPECT_EQ(calls, 1);
}

TEST(SuspendTest, OnCancelIsNotCalledAfterTheResult) {
  CoroWorld world;
  Held held;
  int calls = 0;
  auto wait_and_stay = [](Held& out) -> Task<void> {
    co_await wait_for(out);
    co_await delay(1h);
  };
  Job job = world.scope().launch(wait_and_stay, std::ref(held));
  world.run_ready();
  held->on_cancel([&calls] { ++calls; });
  EXPECT_EQ(held->resume(1), std::nullopt);
  job.cancel();
  world.run_ready();
  EXPECT_EQ(calls, 0);
}

TEST(SuspendTest, OnCancelRegisteredInsideStartSeesACancelInsideStart) {
  CoroWorld world;
  int calls = 0;
  Held held;
  auto cancels_itself = [](Scope scope, Held& out, int& called) -> Task<void> {
    auto start = [&](Continuation<int> continuation) {
      continuation.on_cancel([&called] { ++called; });
      out.emplace(std::move(continuation));
      scope.cancel();
    };
    co_await suspend_cancellable<int>(start);
    ADD_FAILURE() << "went on";
  };
  auto outcome = world.run(cancels_itself, std::ref(held), std::ref(calls));
  EXPECT_TRUE(outcome.is_cancelled());
  EXPECT_EQ(calls, 1);
}

TEST(SuspendTest, UntilDoneIsNotTakenByACancelButHearsOfIt) {
  CoroWorld world;
  Held held;
  int calls = 0;
  Deferred<int> deferred = world.scope().async(wait_until_done, std::ref(held));
  world.run_ready();
  held->on_cancel([&calls] { ++calls; });
  deferred.cancel();
  world.run_ready();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(deferred.state(), JobState::kCancelling);
  EXPECT_EQ(held->resume(5), std::nullopt);
  world.run_ready();
  EXPECT_EQ(deferred.state(), JobState::kCancelled);  // what it lent is free again; now the cancel takes it
}

TEST(SuspendTest, OnCancelRegisteredAfterTheCancelIsCalledAtOnce) {
  CoroWorld world;
  Held held;
  int calls = 0;
  Deferred<int> deferred = world.scope().async(wait_until_done, std::ref(held));
  world.run_ready();
  deferred.cancel();
  held->on_cancel([&calls] { ++calls; });  // else whoever runs the call would never be told to stop
  EXPECT_EQ(calls, 1);
  held->resume(1);
  world.run_ready();
}

TEST(SuspendTest, UntilDoneInAJobThatIsCancelledAlreadyStillRuns) {
  CoroWorld world;
  auto body = [](Scope scope) -> Task<int> {
    scope.cancel();
    auto start = [](Continuation<int> continuation) { continuation.resume(4); };
    co_return co_await suspend_until_done<int>(start);
  };
  EXPECT_EQ(world.run(body).value(), 4);
}

}  // namespace
}  // namespace tenure
