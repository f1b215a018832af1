// I8 where it is hard: an owner whose end is a step of another unwinding, or was begun elsewhere.
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <tenure/testing/order_log.hpp>
#include <thread>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::OrderLog;

struct Note {
  OrderLog& log;
  const char* event;
  ~Note() { log.note(event); }
};

Task<void> hold(OrderLog& log, const char* event) {
  Note note{log, event};
  co_await delay(1h);
}

// The inner owner is a local of a frame. What its children borrow is declared before it, so it has to be unwound first.
Task<void> page(CoroWorld& world, OrderLog& log) {
  Note state{log, "state of the page"};
  Owner inner = world.open("inner");
  inner.launch(hold, std::ref(log), "child of the inner owner");
  co_await delay(1h);
}

TEST(UnwindingTest, I8_AnOwnerThatEndsInsideAnotherUnwindingIsUnwoundFirst) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  owner.launch(page, std::ref(world), std::ref(log));
  world.run_ready();
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"child of the inner owner", "state of the page"}));
}

TEST(UnwindingTest, I8_AnOwnerThatWasCancelledElsewhereIsUnwoundWhenItEndsHere) {
  OrderLog log;
  CoroWorld world;
  {
    Owner owner = world.open("page");
    owner.launch(hold, std::ref(log), "child");
    world.run_ready();
    std::thread elsewhere([&owner] { owner.cancel(); });
    elsewhere.join();
    EXPECT_TRUE(log.events().empty());  // it is this thread's work
  }
  EXPECT_EQ(log.events(), std::vector<std::string>{"child"});
}

TEST(UnwindingTest, I8_AChildThatHasNotBegunIsDroppedToo) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  auto body = [note = std::make_unique<Note>(Note{log, "callable"})]() -> Task<void> { co_return; };
  owner.launch(std::move(body));
  const std::size_t before = log.events().size();
  owner.cancel();
  EXPECT_EQ(log.events().size(), before + 1);
}

TEST(UnwindingTest, I8_ScopesWithinScopesAreUnwoundInOneCall) {
  OrderLog log;
  CoroWorld world;
  Owner owner = world.open("page");
  auto innermost = [](Scope scope, OrderLog& events) -> Task<void> {
    scope.launch(hold, std::ref(events), "grandchild");
    Note note{events, "innermost"};
    co_await delay(1h);
  };
  auto outer = [](Scope, OrderLog& events, decltype(innermost) inside) -> Task<void> {
    Note note{events, "outer"};
    co_await coroutine_scope(inside, std::ref(events));
  };
  owner.launch(outer, std::ref(log), innermost);
  world.run_ready();
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(log.events().size(), 3U);
  EXPECT_EQ(log.events().back(), "outer");
}

TEST(UnwindingTest, ACleanUpInsideAnotherUnwindingIsNoUnwindingItself) {
  OrderLog log;
  CoroWorld world;
  bool was_unwinding = true;
  auto cleaned = [](bool& seen) -> Task<void> {
    auto body = []() -> Task<void> { co_await delay(1h); };
    auto clean_up = [&seen]() -> Task<void> {
      seen = is_unwinding();
      co_return;
    };
    Task<void> running = finally(body(), clean_up);
    co_await std::move(running);
  };
  auto outer = [](CoroWorld& in, decltype(cleaned) inside, bool& seen) -> Task<void> {
    Owner inner = in.open("inner");
    inner.launch(inside, std::ref(seen));
    co_await delay(1h);
  };
  Owner owner = world.open("page");
  owner.launch(outer, std::ref(world), cleaned, std::ref(was_unwinding));
  world.run_ready();
  world.run_ready();
  owner.cancel();
  EXPECT_FALSE(was_unwinding);
}

TEST(UnwindingTest, ADestructorMayCancelWhatIsBeingCancelled) {
  CoroWorld world;
  Owner owner = world.open("page");
  auto body = [](Scope scope) -> Task<void> {
    struct Again {
      Scope scope;
      ~Again() { scope.cancel(); }
    } again{scope};
    co_await delay(1h);
  };
  for (int i = 0; i < 1000; ++i) owner.launch(body);
  world.run_ready();
  owner.cancel();
  EXPECT_EQ(world.timers().next(), TimePoint::max());
}

}  // namespace
}  // namespace tenure
