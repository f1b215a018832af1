// An owner: a supervisor with state, whose end is the end of what it started and of nothing else.
#include <stdexcept>
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <tenure/testing/order_log.hpp>
#include <thread>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::OrderLog;
using testing::Resource;
using testing::ResourceCount;

Task<void> wait_long() { co_await delay(1h); }
Task<void> fail_after(Duration duration) {
  co_await delay(duration);
  throw std::runtime_error("broken");
}
struct Note {
  OrderLog& log;
  const char* event;
  ~Note() { log.note(event); }
};
struct State {
  State(OrderLog& log, const char* event) : note{log, event} {}
  Note note;
  Task<void> shielded() {
    auto wait = []() -> Task<void> { co_await delay(5ms); };
    co_await shield(wait);
    note.log.note("child ended");
  }
  Task<void> nothing() { co_return; }
};

TEST(OwnerTest, OneChildsErrorSparesTheOthersAndGoesToItsHandler) {
  CoroWorld world;
  Owner owner = world.open("page");
  std::vector<std::string> errors;
  owner.on_error([&errors](const std::exception_ptr& error) { errors.push_back(describe(error)); });
  owner.launch(fail_after, 1ms);
  Job other = owner.launch(wait_long);
  world.advance(2ms);
  EXPECT_EQ(errors, std::vector<std::string>{"broken"});
  EXPECT_TRUE(world.errors().empty());
  EXPECT_EQ(other.state(), JobState::kActive);
  EXPECT_FALSE(owner.is_cancelled());
}

TEST(OwnerTest, WithoutAHandlerErrorsGoToTheRoot) {
  CoroWorld world;
  Owner owner = world.open("page");
  owner.launch(fail_after, 1ms);
  world.advance(2ms);
  EXPECT_EQ(world.errors(), std::vector<std::string>{"broken"});
}

TEST(OwnerTest, AGrandchildsErrorFailsItsParentAndIsReportedOnce) {
  CoroWorld world;
  Owner owner = world.open("page");
  auto child = [](Scope scope) -> Task<void> {
    scope.launch(fail_after, 1ms);
    co_await delay(1h);
  };
  Job job = owner.launch(child);
  world.advance(2ms);
  EXPECT_EQ(job.state(), JobState::kFailed);
  EXPECT_EQ(world.errors(), std::vector<std::string>{"broken"});
}

TEST(OwnerTest, ItsErrorHandlerMayUseIt) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  int calls = 0;
  owner.on_error([&](const std::exception_ptr&) {
    ++calls;
    owner.keep<State>(log, "kept by the handler");
    owner.launch(wait_long);
    owner.on_error([&calls](const std::exception_ptr&) { calls += 10; });
  });
  owner.launch(fail_after, 1ms);
  owner.launch(fail_after, 2ms);
  world.advance(3ms);
  EXPECT_EQ(calls, 11);
}

TEST(OwnerTest, ItsErrorHandlerMayEndIt) {
  CoroWorld world;
  Owner owner = world.open("page");
  owner.on_error([&owner](const std::exception_ptr&) { owner.cancel(); });
  owner.launch(fail_after, 1ms);
  Job other = owner.launch(wait_long);
  world.advance(2ms);
  EXPECT_EQ(other.state(), JobState::kCancelled);
}

TEST(OwnerTest, KeptStateGoesAfterTheLastChildTheNewestFirst) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  owner.keep<State>(log, "first state");
  Kept<State> state = owner.keep<State>(log, "second state");
  state.launch(&State::shielded);
  world.run_ready();
  owner.cancel();
  world.run_ready();
  EXPECT_TRUE(log.events().empty());
  world.run_until_idle();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child ended", "second state", "first state"}));
}

TEST(OwnerTest, AfterItsEndEverythingSaysClosed) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  Kept<State> state = owner.keep<State>(log, "state");
  const Scope scope = owner.scope();
  owner.cancel();
  auto code_of = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of([&] { static_cast<void>(state->note); }), ErrorCode::kClosed);
  EXPECT_EQ(code_of([&] { state.launch(&State::nothing); }), ErrorCode::kClosed);
  EXPECT_EQ(code_of([&] { owner.keep<State>(log, "late"); }), ErrorCode::kClosed);
  world.run_ready();
  EXPECT_EQ(code_of([&] { owner.launch(wait_long); }), ErrorCode::kClosed);
  EXPECT_EQ(code_of([&] { static_cast<void>(scope.async(wait_long)); }), ErrorCode::kClosed);
  EXPECT_EQ(log.events().back(), "state");
}

TEST(OwnerTest, ItsEndEndsNothingElse) {
  CoroWorld world;
  Owner first = world.open("first");
  Owner second = world.open("second");
  Job other = second.launch(wait_long);
  world.run_ready();
  {
    const Owner gone = std::move(first);
  }
  world.run_ready();
  EXPECT_EQ(other.state(), JobState::kActive);
}

TEST(OwnerTest, AssignedToItEndsWhatItOwnedBefore) {
  CoroWorld world;
  Owner owner = world.open("first");
  Job before = owner.launch(wait_long);
  world.run_ready();
  owner = world.open("second");
  EXPECT_EQ(before.state(), JobState::kCancelled);
  EXPECT_FALSE(owner.is_cancelled());
  EXPECT_STREQ(owner.name(), "second");
}

Task<void> close_it(Owner owner, OrderLog& log) {
  co_await owner.close();
  log.note("closed");
}

TEST(OwnerTest, CloseWaitsForTheKeptState) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  Kept<State> state = owner.keep<State>(log, "state");
  state.launch(&State::shielded);
  world.run_ready();
  EXPECT_TRUE(world.run(close_it, std::move(owner), std::ref(log)).has_value());
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child ended", "state", "closed"}));
}

TEST(OwnerTest, CloseFromInsideItIsAnErrorAndNoHang) {
  CoroWorld world;
  Owner owner = world.open("page");
  auto body = [](Owner& own) -> Task<void> { co_await own.close(); };
  owner.launch(body, std::ref(owner));
  world.run_until_idle();
  EXPECT_TRUE(owner.job().is_complete());
  ASSERT_EQ(world.errors().size(), 1U);  // it came after the cancellation
  EXPECT_NE(world.errors()[0].find("failed_precondition"), std::string::npos);
}

TEST(OwnerTest, OpenedInATreeThatHasEndedItIsRefused) {
  CoroWorld world;
  EXPECT_TRUE(world.root().end(10s, &world.dispatcher()));
  EXPECT_THROW(static_cast<void>(world.open("late")), Error);
}

TEST(OwnerTest, OpenedInATreeThatIsEndingItEndsAtOnce) {
  CoroWorld world;
  auto shielded_wait = []() -> Task<void> {
    auto wait = []() -> Task<void> { co_await delay(5ms); };
    co_await shield(wait);
  };
  world.scope().launch(shielded_wait);
  world.run_ready();
  world.root().cancel();
  Owner owner = world.open("late");
  EXPECT_TRUE(owner.is_cancelled());
  world.run_ready();
  EXPECT_TRUE(owner.job().is_complete());
}

TEST(RootTest, EndWaitsAndSaysWhetherAllHasEnded) {
  CoroWorld world;
  auto shielded_wait = []() -> Task<void> {
    auto wait = []() -> Task<void> { co_await delay(5ms); };
    co_await shield(wait);
  };
  world.scope().launch(shielded_wait);
  world.run_ready();
  EXPECT_FALSE(world.root().end(1ms, &world.dispatcher()));  // virtual time stands still
  world.run_until_idle();
  EXPECT_TRUE(world.root().end(10s, &world.dispatcher()));
  EXPECT_TRUE(world.root().end(0ms, &world.dispatcher()));
  EXPECT_THROW(world.scope().launch(wait_long), Error);
}

TEST(RootTest, AHandleMayOutliveTheTree) {
  Job job;
  Owner owner;
  {
    CoroWorld world;
    owner = world.open("page");
    job = world.scope().launch(wait_long);
    auto nothing = []() -> Task<void> { co_return; };
    Job complete = world.scope().launch(nothing);
    world.run_ready();
    job = complete;
  }
  job.cancel();
  owner.cancel();
  EXPECT_EQ(job.state(), JobState::kCompleted);
}

}  // namespace
}  // namespace tenure
