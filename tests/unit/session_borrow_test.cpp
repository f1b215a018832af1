// I16: memory that is lent stays its lender's, and the lender stays, until native code has let go of it.
#include <tenure/testing/world.hpp>

#include "support/expect_error.hpp"
#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

/// A frame that lends its own memory: freed with it, so that a late write is seen by ASan.
Task<float> lend_locals(Session session, std::atomic<bool>& is_alive) {
  struct Alive {
    explicit Alive(std::atomic<bool>& flag) : mark(flag) { mark = true; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    ~Alive() { mark = false; }
    std::atomic<bool>& mark;
  } alive(is_alive);
  std::vector<float> in(4, 3.0F);
  std::vector<float> out(4);
  co_await session.run(borrow(in), borrow(out));
  co_return out[0];
}

TEST(SessionBorrowTest, ARunOnLentMemoryWritesThere) {
  FakeEngine engine{FakeScript{.run_time = 10ms, .late_write = true}};
  World world{engine};
  Session session = world.load();
  std::atomic<bool> is_alive{false};
  EXPECT_EQ(world.run(lend_locals, session, std::ref(is_alive)).value(), 6.0F);
  EXPECT_FALSE(is_alive);
}

TEST(SessionBorrowTest, I16_ACancelInMidRunKeepsTheFrameUntilTheNextStepOrTheEnd) {
  for (const Stops stops : {Stops::kNever, Stops::kPerNode}) {
    FakeEngine engine{FakeScript{.run_time = 50ms, .stops = stops, .late_write = true}};
    World world{engine};
    Session session = world.load();
    Owner page = world.open("page");
    std::atomic<bool> is_alive{false};
    const auto run = page.async(lend_locals, session, std::ref(is_alive));
    world.advance(12ms);
    page.cancel();
    EXPECT_TRUE(is_alive);
    EXPECT_FALSE(run.job().is_complete());
    world.advance(stops == Stops::kNever ? 37ms : 2ms);
    EXPECT_TRUE(is_alive);
    world.advance(1ms);
    EXPECT_FALSE(is_alive);
    EXPECT_EQ(run.state(), JobState::kCancelled);
    EXPECT_TRUE(page.job().is_complete());
  }
}

TEST(SessionBorrowTest, ACancelWhileItWaitsReleasesItAtOnce) {
  FakeEngine engine{FakeScript{.run_time = 50ms}};
  World world{engine};
  Session session = world.load();
  const auto first = begin_run(world.scope(), session);
  world.settle();
  Owner page = world.open("page");
  std::atomic<bool> is_alive{false};
  const auto run = page.async(lend_locals, session, std::ref(is_alive));
  world.advance(10ms);
  page.cancel();
  world.settle();
  EXPECT_FALSE(is_alive) << "native code never saw it";
  EXPECT_EQ(run.state(), JobState::kCancelled);
  EXPECT_EQ(world.elapsed(), 10ms);
  world.run_until_idle();
  EXPECT_EQ(engine.report().runs_begun, 1U);
}

TEST(SessionBorrowTest, ACloseInMidRunAnswersWhenNativeCodeHasLetGo) {
  for (const Stops stops : {Stops::kNever, Stops::kPerNode}) {
    FakeEngine engine{FakeScript{.run_time = 50ms, .stops = stops, .late_write = true}};
    World world{engine};
    Session session = world.load();
    std::atomic<bool> is_alive{false};
    auto running = world.scope().async(lend_locals, session, std::ref(is_alive));
    world.settle();
    std::atomic<bool> other_is_alive{false};
    auto waiting = world.scope().async(lend_locals, session, std::ref(other_is_alive));
    world.advance(12ms);
    session.request_close();
    world.settle();
    EXPECT_FALSE(other_is_alive);
    EXPECT_TRUE(is_alive);
    EXPECT_EQ(end_of(world, std::move(waiting)), "closed");
    // One that ran to its end all the same has its value.
    EXPECT_EQ(end_of(world, std::move(running)), stops == Stops::kNever ? "value" : "closed");
    EXPECT_EQ(world.elapsed(), stops == Stops::kNever ? 50ms : 15ms);
    world.run_until_idle();
    expect_clean(engine);
  }
}

struct Bench {
  explicit Bench(std::atomic<bool>& flag) : mark(&flag) { *mark = true; }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { *mark = false; }
  std::atomic<bool>* mark;
  std::vector<float> in = std::vector<float>(4, 1.0F);
  std::vector<float> out = std::vector<float>(4);
};

Task<void> run_on_kept(Kept<Bench> bench, Session session) {
  std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(bench->in))};
  std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(std::span(bench->out))};
  co_await session.run(std::move(inputs), std::move(outputs));
}

TEST(SessionBorrowTest, I14_AQuarantineKeepsTheFrameAndTheOwnersStateAndTellsWhoJoins) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}, .late_write = true}};
  World world{engine};
  Session session = world.load();
  Owner page = world.open("page");
  std::atomic<bool> is_kept{false};
  const Kept<Bench> bench = page.keep<Bench>(is_kept);
  const Job run = page.launch(run_on_kept, bench, session);
  world.advance(1s);
  auto closing = world.scope().async(page.close());
  world.settle();
  EXPECT_FALSE(closing.job().is_complete());
  EXPECT_EQ(end_of(world, std::move(closing)), "deadline_exceeded");
  EXPECT_EQ(world.elapsed(), 5s);
  EXPECT_TRUE(is_kept) << "native code uses it";
  EXPECT_FALSE(run.is_complete());
  EXPECT_EQ(end_of(world.run([](Job job) -> Task<void> { co_await job.join(); }, run)), "deadline_exceeded");
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  world.release_hung();
  EXPECT_TRUE(run.is_complete());
  EXPECT_TRUE(page.job().is_complete());
  EXPECT_FALSE(is_kept);
  EXPECT_EQ(session.state(), SessionState::kClosed);
  expect_clean(engine);
}

TEST(SessionBorrowTest, AQuarantineWithoutACancelAnswersWhenTheCallComesBack) {
  FakeEngine engine{FakeScript{.hang_run_at = {1}}};
  World world{engine};
  Session session = world.load();
  std::atomic<bool> is_alive{false};
  auto run = world.scope().async(lend_locals, session, std::ref(is_alive));
  world.advance(6s);
  EXPECT_EQ(session.state(), SessionState::kQuarantined);
  EXPECT_TRUE(is_alive);
  world.release_hung();
  EXPECT_FALSE(is_alive);
  EXPECT_TRUE(run.job().is_complete());
}

TEST(SessionBorrowTest, WhatIsLentMustFit) {
  FakeEngine engine;
  World world{engine};
  Session session = world.load();
  std::vector<float> small(3);
  std::vector<float> right(4);
  EXPECT_EQ(end_of(world.run(run_borrowed, session, std::ref(small), std::ref(right))), "invalid_argument");
  EXPECT_EQ(end_of(world.run(run_borrowed, session, std::ref(right), std::ref(small))), "invalid_argument");
  EXPECT_EQ(end_of(world.run(run_borrowed, session, std::ref(right), std::ref(right))), "value");
  EXPECT_EQ(engine.report().runs_begun, 1U);
}

}  // namespace
}  // namespace tenure
