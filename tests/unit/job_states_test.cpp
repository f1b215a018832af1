// Walks the table of JobState in tenure/coro/job_node.hpp, row by row.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;

Task<void> nothing() { co_return; }
Task<void> wait_long() { co_await delay(1h); }
Task<void> fail_at_once() {
  co_await yield_now();
  throw std::runtime_error("broken");
}
Task<void> leave_child(Scope scope) {
  scope.launch(wait_long);
  co_return;
}
Task<void> leave_failing_child(Scope scope) {
  scope.launch(fail_at_once);
  co_return;
}
Task<void> cancel_itself_and_return(Scope scope) {
  scope.cancel();
  co_return;
}
Task<int> cancel_itself_and_throw(Scope scope) {
  scope.cancel(std::make_exception_ptr(std::runtime_error("the cause")));
  throw std::runtime_error("too late");
}
std::exception_ptr some_cause() { return std::make_exception_ptr(std::runtime_error("the cause")); }

TEST(JobStatesTest, ActiveToCompleted) {
  CoroWorld world;
  Job job = world.scope().launch(nothing);
  EXPECT_EQ(job.state(), JobState::kActive);
  EXPECT_THROW(static_cast<void>(job.outcome()), Error);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCompleted);
  EXPECT_TRUE(job.outcome().has_value());
}

TEST(JobStatesTest, ActiveToCompletingToCompleted) {
  CoroWorld world;
  Job job = world.scope().launch(leave_child);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCompleting);
  EXPECT_FALSE(job.is_complete());
  world.run_until_idle();
  EXPECT_EQ(job.state(), JobState::kCompleted);
}

TEST(JobStatesTest, CompletingToCancelled) {
  CoroWorld world;
  Job job = world.scope().launch(leave_child);
  world.run_ready();
  job.cancel(some_cause());
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_TRUE(job.outcome().is_cancelled());
  EXPECT_NE(job.outcome().cause(), nullptr);
}

Task<void> shielded_wait() {
  Task<void> waiting = wait_long();
  co_await shield(std::move(waiting));
}

TEST(JobStatesTest, ActiveToCancellingWhileTheBodyRunsOn) {
  CoroWorld world;
  Job job = world.scope().launch(shielded_wait);
  world.run_ready();
  job.cancel();
  EXPECT_EQ(job.state(), JobState::kCancelling);
  world.run_until_idle();
  EXPECT_EQ(job.state(), JobState::kCompleted);  // it came to its end before it saw the cancel
}

Task<void> leave_shielded_child(Scope scope) {
  scope.launch(shielded_wait);
  co_return;
}

TEST(JobStatesTest, CompletingToCancellingToCancelledWithItsLastChild) {
  CoroWorld world;
  Job job = world.scope().launch(leave_shielded_child);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCompleting);
  job.cancel();
  EXPECT_EQ(job.state(), JobState::kCancelling);
  world.run_until_idle();
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

TEST(JobStatesTest, ActiveToCancelled) {
  CoroWorld world;
  Job job = world.scope().launch(wait_long);
  world.run_ready();
  job.cancel(some_cause());
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(describe(job.outcome().cause()), "the cause");
}

TEST(JobStatesTest, CancelledBeforeItBeganItNeverBegins) {
  CoroWorld world;
  bool has_begun = false;
  auto body = [](bool& begun) -> Task<void> {
    begun = true;
    co_return;
  };
  Job job = world.scope().launch(body, std::ref(has_begun));
  job.cancel();
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_FALSE(has_begun);
}

TEST(JobStatesTest, ActiveToFailed) {
  CoroWorld world;
  Job job = world.scope().launch(fail_at_once);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kFailed);
  EXPECT_EQ(describe(job.outcome().error()), "broken");
}

TEST(JobStatesTest, CompletingToFailedByAChild) {
  CoroWorld world;
  Job job = world.scope().launch(leave_failing_child);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kFailed);
}

TEST(JobStatesTest, CancellingToCompletedWhereTheBodyCameToItsValueFirst) {
  CoroWorld world;
  Job job = world.scope().launch(cancel_itself_and_return);
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCompleted);
}

TEST(JobStatesTest, CompletedStaysCompletedWhenItIsCancelledLater) {
  CoroWorld world;
  auto seven = []() -> Task<int> { co_return 7; };
  Deferred<int> deferred = world.scope().async(seven);
  world.run_ready();
  deferred.cancel(some_cause());
  EXPECT_EQ(deferred.state(), JobState::kCompleted);
  EXPECT_TRUE(deferred.job().outcome().has_value());
  auto take = [](Deferred<int>& from) -> Task<int> { co_return co_await from; };
  EXPECT_EQ(world.run(take, std::ref(deferred)).value(), 7);
}

TEST(JobStatesTest, FailedAndCancelledStayWhatTheyAre) {
  CoroWorld world;
  Job failed = world.scope().launch(fail_at_once);
  Job cancelled = world.scope().launch(wait_long);
  world.run_ready();
  cancelled.cancel(some_cause());
  world.run_ready();
  failed.cancel(some_cause());
  cancelled.cancel(nullptr);
  EXPECT_EQ(failed.state(), JobState::kFailed);
  EXPECT_EQ(describe(failed.outcome().error()), "broken");
  EXPECT_EQ(cancelled.state(), JobState::kCancelled);
  EXPECT_EQ(describe(cancelled.outcome().cause()), "the cause");
}

TEST(JobStatesTest, AnErrorAfterTheCancelIsReportedAndTheEndIsACancellation) {
  CoroWorld world;
  Deferred<int> deferred = world.scope().async(cancel_itself_and_throw);
  world.run_ready();
  EXPECT_EQ(deferred.state(), JobState::kCancelled);
  EXPECT_EQ(world.errors(), std::vector<std::string>{"too late"});
  EXPECT_EQ(describe(deferred.job().outcome().cause()), "the cause");
}

TEST(JobStatesTest, AnOwnerIsActiveThenCancellingThenCancelled) {
  CoroWorld world;
  Owner owner = world.open("page");
  Job job = owner.job();
  EXPECT_EQ(job.state(), JobState::kActive);
  owner.launch(shielded_wait);
  world.run_ready();
  owner.cancel(some_cause());
  EXPECT_EQ(job.state(), JobState::kCancelling);
  world.run_until_idle();
  EXPECT_EQ(job.state(), JobState::kCancelled);
  EXPECT_EQ(describe(job.outcome().cause()), "the cause");
}

TEST(JobStatesTest, AnOwnerWithoutChildrenEndsWhenItIsCancelled) {
  CoroWorld world;
  Owner owner = world.open("page");
  Job job = owner.job();
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kActive);
  owner.cancel();
  world.run_ready();
  EXPECT_EQ(job.state(), JobState::kCancelled);
}

}  // namespace
}  // namespace tenure
