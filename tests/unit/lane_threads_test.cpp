// The threads of lanes: one each, used again, and left alone where they hang.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <tenure/resource/lane_threads.hpp>
#include <thread>

namespace tenure {
namespace {

using namespace std::chrono_literals;

/// Serves until it is let go.
class Gate final : public LaneWork {
 public:
  void serve() noexcept override {
    thread = std::this_thread::get_id();
    is_lane = LaneThreads::is_lane();
    is_serving.store(true, std::memory_order_release);
    begun.notify_all();
    while (!is_open.load(std::memory_order_acquire)) {
      const std::uint32_t ticket = opened.ticket();
      if (!is_open.load(std::memory_order_acquire)) opened.wait(ticket);
    }
    is_over.store(true, std::memory_order_release);  // last: the test frees this after it
  }
  void await_begin() {
    while (!is_serving.load(std::memory_order_acquire)) {
      const std::uint32_t ticket = begun.ticket();
      if (!is_serving.load(std::memory_order_acquire)) begun.wait(ticket);
    }
  }
  void open() {
    is_open.store(true, std::memory_order_release);
    opened.notify_all();
  }
  std::thread::id thread;
  bool is_lane = false;
  Event begun;
  Event opened;
  Atomic<bool> is_serving{false};
  Atomic<bool> is_open{false};
  Atomic<bool> is_over{false};
};

TEST(LaneThreadsTest, EachOpenLaneHasAThreadOfItsOwn) {
  std::array<Gate, 4> gates;
  std::set<std::thread::id> threads;
  {
    LaneThreads lanes;
    for (Gate& gate : gates) lanes.start(gate);
    for (Gate& gate : gates) gate.await_begin();
    for (Gate& gate : gates) {
      threads.insert(gate.thread);
      EXPECT_TRUE(gate.is_lane);
      gate.open();
    }
    EXPECT_EQ(lanes.stop(10s), 0);
  }
  EXPECT_EQ(threads.size(), gates.size());
  EXPECT_FALSE(LaneThreads::is_lane());
}

TEST(LaneThreadsTest, AThreadServesOneLaneAfterTheOther) {
  LaneThreads lanes;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 200; ++i) {
    Gate gate;
    gate.open();
    lanes.start(gate);
    while (!gate.is_over.load(std::memory_order_acquire)) std::this_thread::yield();
    threads.insert(gate.thread);
  }
  // The next one may be asked for before the last one is back: then there are two, by turns.
  EXPECT_LE(threads.size(), 4U);
  EXPECT_EQ(lanes.stop(10s), 0);
}

TEST(LaneThreadsTest, StopLeavesAloneWhatHangsAndSaysHowMany) {
  Gate hung;
  Gate idle;
  idle.open();
  LaneThreads lanes;
  lanes.start(hung);
  lanes.start(idle);
  hung.await_begin();
  EXPECT_EQ(lanes.stop(50ms), 1);
  hung.open();
  EXPECT_EQ(lanes.stop(10s), 0);
}

TEST(LaneThreadsTest, AHungThreadOutlivesTheObjectAndThenEnds) {
  auto hung = std::make_unique<Gate>();
  {
    LaneThreads lanes;
    lanes.start(*hung);
    hung->await_begin();
  }
  hung->open();
  while (!hung->is_over.load(std::memory_order_acquire)) std::this_thread::yield();
}

}  // namespace
}  // namespace tenure
