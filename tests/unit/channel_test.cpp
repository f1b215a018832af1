// How elements go through a channel of each capacity, and that a delivered one never looks cancelled.
#include <tenure/coro.hpp>
#include <tenure/testing/coro_test.hpp>
#include <vector>

#include "support/resource.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::CoroWorld;
using testing::Resource;
using testing::ResourceCount;

Task<void> send_numbers(Channel<int>& channel, int count, int& sent) {
  for (int i = 0; i < count; ++i) {
    co_await channel.send(i);
    ++sent;
  }
}
Task<void> receive_all(Channel<int>& channel, std::vector<int>& received) {
  while (std::optional<int> element = co_await channel.receive()) received.push_back(*element);
}

TEST(ChannelTest, ARendezvousKeepsTheSenderUntilItsElementIsTaken) {
  CoroWorld world;
  Channel<int> channel;
  int sent = 0;
  world.scope().launch(send_numbers, std::ref(channel), 2, std::ref(sent));
  world.run_ready();
  EXPECT_EQ(sent, 0);
  EXPECT_EQ(channel.try_receive(), 0);
  world.run_ready();
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(channel.try_receive(), 1);
  EXPECT_EQ(channel.try_receive(), std::nullopt);
  world.run_ready();
  EXPECT_EQ(sent, 2);
}

TEST(ChannelTest, ABufferTakesAsManyAsItSaysAndKeepsTheOrder) {
  CoroWorld world;
  Channel<int> channel(buffered(3));
  int sent = 0;
  world.scope().launch(send_numbers, std::ref(channel), 10, std::ref(sent));
  world.run_ready();
  EXPECT_EQ(sent, 3);
  std::vector<int> received;
  world.scope().launch(receive_all, std::ref(channel), std::ref(received));
  world.run_ready();
  EXPECT_TRUE(channel.close());
  EXPECT_FALSE(channel.close());
  world.run_ready();
  EXPECT_EQ(received, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_THROW(static_cast<void>(buffered(0)), Error);
}

TEST(ChannelTest, AConflatedOneKeepsTheNewestAndGivesTheReplacedBack) {
  std::vector<int> undelivered;
  Channel<int> channel(kConflated, [&undelivered](int&& element) { undelivered.push_back(element); });
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(channel.try_send(int{i}), TrySend::kSent);
  EXPECT_EQ(undelivered, (std::vector<int>{1, 2}));
  EXPECT_EQ(channel.try_receive(), 3);
  EXPECT_EQ(channel.try_receive(), std::nullopt);
}

TEST(ChannelTest, AnUnlimitedOneNeverSuspendsASender) {
  CoroWorld world;
  Channel<int> channel(kUnlimited);
  int sent = 0;
  auto outcome = world.run(send_numbers, std::ref(channel), 10'000, std::ref(sent));
  EXPECT_TRUE(outcome.has_value());
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(channel.try_receive(), i);
}

TEST(ChannelTest, TrySendMovesOnlyFromWhatItSent) {
  ResourceCount count;
  Channel<Resource> channel;
  Resource resource(count);
  EXPECT_EQ(channel.try_send(std::move(resource)), TrySend::kFull);
  EXPECT_TRUE(resource.is_here());
  channel.close();
  EXPECT_EQ(channel.try_send(std::move(resource)), TrySend::kClosed);
  EXPECT_TRUE(resource.is_here());
}

TEST(ChannelTest, ADeliveredSendNeverLooksCancelled) {
  CoroWorld world;
  Channel<int> channel;
  int sent = 0;
  Job sender = world.scope().launch(send_numbers, std::ref(channel), 2, std::ref(sent));
  world.run_ready();
  EXPECT_EQ(channel.try_receive(), 0);  // its element is with us now,
  sender.cancel();                      // so this comes too late for the first send, and in time for the second
  world.run_ready();
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(sender.state(), JobState::kCancelled);
}

TEST(ChannelTest, WhoWaitsLongestIsServedFirst) {
  CoroWorld world;
  Channel<int> channel;
  std::vector<int> order;
  auto receive_one = [](Channel<int>& from, std::vector<int>& log, int number) -> Task<void> {
    co_await from.receive();
    log.push_back(number);
  };
  for (int i = 0; i < 5; ++i) {
    world.scope().launch(receive_one, std::ref(channel), std::ref(order), i);
    world.run_ready();
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(channel.try_send(int{i}), TrySend::kSent);
    world.run_ready();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ChannelTest, ReadyOperationsLetOthersRun) {
  CoroWorld world;
  Channel<int> channel(kUnlimited);
  bool has_run = false;
  bool was_run_meanwhile = false;
  auto hog = [](Channel<int>& own, const bool& other, bool& seen) -> Task<void> {
    for (int i = 0; i < 10'000; ++i) {
      co_await own.send(i);
      co_await own.receive();
    }
    seen = other;
  };
  auto small = [](bool& ran) -> Task<void> {
    ran = true;
    co_return;
  };
  world.scope().launch(hog, std::ref(channel), std::cref(has_run), std::ref(was_run_meanwhile));
  world.scope().launch(small, std::ref(has_run));
  world.run_ready();
  EXPECT_TRUE(was_run_meanwhile);
}

CORO_TEST(ChannelTest, TheForcedYieldAfterASuccessIsNoCancellationPoint) {
  Channel<int> channel(kUnlimited);
  int sent = 0;
  Job job = scope.launch(send_numbers, std::ref(channel), 1000, std::ref(sent));
  co_await yield_now();
  job.cancel();
  co_await job.join();
  int inside = 0;
  while (channel.try_receive()) ++inside;
  EXPECT_EQ(inside, sent);
}

TEST(ChannelTest, ASenderOutlivesItsChannel) {
  auto channel = std::make_unique<Channel<int>>(buffered(1));
  Sender<int> sender = channel->sender();
  EXPECT_EQ(sender.try_send(1), TrySend::kSent);
  channel.reset();
  EXPECT_EQ(sender.try_send(2), TrySend::kClosed);
}

}  // namespace
}  // namespace tenure
