// Close, cancel and the channel's end; and elements that lost against any of them or against a cancelled job.
#include <stdexcept>
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

Task<void> send_one(Channel<Resource>& channel, Resource resource) { co_await channel.send(std::move(resource)); }
Task<std::optional<Resource>> receive_one(Channel<Resource>& channel) { co_return co_await channel.receive(); }
Task<void> drop_one(Channel<Resource>& channel) { co_await channel.receive(); }

std::exception_ptr cause() { return std::make_exception_ptr(std::runtime_error("the reason")); }

// What a channel gives back, by number.
struct Undelivered {
  std::vector<int> numbers;
  auto handler() {
    return [this](Resource&& resource) { numbers.push_back(resource.number()); };
  }
};

TEST(ChannelCloseTest, WhatWaitsIsStillReceivedParkedSendsIncluded) {
  CoroWorld world;
  ResourceCount count;
  Channel<Resource> channel(buffered(1));
  Job first = world.scope().launch(send_one, std::ref(channel), Resource(count, 1));
  world.run_ready();
  Job second = world.scope().launch(send_one, std::ref(channel), Resource(count, 2));
  world.run_ready();
  EXPECT_FALSE(second.is_complete());
  channel.close(cause());
  Resource late(count, 3);
  EXPECT_EQ(channel.try_send(std::move(late)), TrySend::kClosed);
  EXPECT_EQ(channel.try_receive()->number(), 1);
  EXPECT_EQ(channel.try_receive()->number(), 2);
  world.run_ready();
  EXPECT_EQ(first.state(), JobState::kCompleted);
  EXPECT_EQ(second.state(), JobState::kCompleted);
  auto end = world.run(receive_one, std::ref(channel));
  EXPECT_EQ(end.code(), ErrorCode::kClosed);
  EXPECT_NE(describe(end.error()).find("the reason"), std::string::npos);
}

TEST(ChannelCloseTest, WithoutACauseReceiveSaysThatItIsOver) {
  CoroWorld world;
  Channel<Resource> channel;
  Deferred<std::optional<Resource>> parked = world.scope().async(receive_one, std::ref(channel));
  world.run_ready();
  channel.close();
  world.run_ready();
  EXPECT_EQ(parked.state(), JobState::kCompleted);
  auto end = world.run(receive_one, std::ref(channel));
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(std::move(end).value().has_value());
}

TEST(ChannelCloseTest, CancelGivesBackWhatWaitsAndParkedSendsGetClosed) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(buffered(1), undelivered.handler());
  world.scope().launch(send_one, std::ref(channel), Resource(count, 1));
  world.run_ready();
  Job parked = world.scope().async(send_one, std::ref(channel), Resource(count, 2)).job();
  world.run_ready();
  channel.cancel(cause());
  channel.cancel();
  world.run_ready();
  EXPECT_EQ(undelivered.numbers, (std::vector<int>{1, 2}));
  EXPECT_EQ(parked.state(), JobState::kFailed);
  EXPECT_NE(describe(parked.outcome().error()).find("closed"), std::string::npos);
  EXPECT_NE(describe(parked.outcome().error()).find("the reason"), std::string::npos);
  EXPECT_EQ(count.live, 0);
}

TEST(ChannelCloseTest, CancelAfterCloseDropsWhatWaitsAndKeepsTheFirstCause) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(kUnlimited, undelivered.handler());
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(channel.try_send(Resource(count, i)), TrySend::kSent);
  channel.close(cause());
  channel.cancel(std::make_exception_ptr(std::runtime_error("another")));
  EXPECT_EQ(undelivered.numbers, (std::vector<int>{1, 2, 3}));
  auto end = world.run(receive_one, std::ref(channel));
  EXPECT_NE(describe(end.error()).find("the reason"), std::string::npos);
}

TEST(ChannelCloseTest, ItsEndCancelsIt) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  {
    Channel<Resource> channel(kUnlimited, undelivered.handler());
    EXPECT_EQ(channel.try_send(Resource(count, 1)), TrySend::kSent);
  }
  EXPECT_EQ(undelivered.numbers, std::vector<int>{1});
  EXPECT_EQ(count.live, 0);
}

TEST(ChannelCloseTest, ASendThatIsCancelledGivesItsElementBack) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(kRendezvous, undelivered.handler());
  Job parked = world.scope().launch(send_one, std::ref(channel), Resource(count, 1));
  world.run_ready();
  parked.cancel();
  world.run_ready();
  EXPECT_EQ(undelivered.numbers, std::vector<int>{1});
  EXPECT_EQ(channel.try_receive().has_value(), false);
  EXPECT_EQ(count.live, 0);
}

TEST(ChannelCloseTest, AnElementHandedToAReceiverThatWasCancelledIsGivenBack) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(kRendezvous, undelivered.handler());
  Job receiver = world.scope().launch(drop_one, std::ref(channel));
  world.run_ready();
  EXPECT_EQ(channel.try_send(Resource(count, 7)), TrySend::kSent);  // the receiver is claimed, and not yet run
  receiver.cancel();
  world.run_ready();
  EXPECT_EQ(receiver.state(), JobState::kCancelled);
  EXPECT_EQ(undelivered.numbers, std::vector<int>{7});
}

TEST(ChannelCloseTest, AReceiverThatWasCancelledFirstIsPassedBy) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(kRendezvous, undelivered.handler());
  Job receiver = world.scope().launch(drop_one, std::ref(channel));
  world.run_ready();
  receiver.cancel();  // its entry still stands in the list
  Resource resource(count, 1);
  EXPECT_EQ(channel.try_send(std::move(resource)), TrySend::kFull);
  EXPECT_TRUE(resource.is_here());
  world.run_ready();
  EXPECT_TRUE(undelivered.numbers.empty());
}

TEST(ChannelCloseTest, ASendInACancelledJobDoesNotEvenBegin) {
  CoroWorld world;
  ResourceCount count;
  Undelivered undelivered;
  Channel<Resource> channel(kUnlimited, undelivered.handler());
  auto send_cancelled = [](Scope scope, Channel<Resource>& to, ResourceCount& counted) -> Task<void> {
    scope.cancel();
    co_await to.send(Resource(counted, 1));
  };
  auto outcome = world.run(send_cancelled, std::ref(channel), std::ref(count));
  EXPECT_TRUE(outcome.is_cancelled());
  EXPECT_EQ(undelivered.numbers, std::vector<int>{1});
  EXPECT_FALSE(channel.try_receive().has_value());
}

TEST(ChannelCloseTest, TheHandlerRunsWithNoLockHeld) {
  ResourceCount count;
  Channel<Resource>* itself = nullptr;
  bool is_closed = false;
  Channel<Resource> channel(kConflated, [&](Resource&&) { is_closed = itself->is_closed(); });
  itself = &channel;
  EXPECT_EQ(channel.try_send(Resource(count, 1)), TrySend::kSent);
  EXPECT_EQ(channel.try_send(Resource(count, 2)), TrySend::kSent);
  EXPECT_FALSE(is_closed);
  channel.cancel();
  EXPECT_TRUE(is_closed);
}

TEST(ChannelCloseTest, CloseWhileAReceiverIsClaimedStillDeliversToIt) {
  CoroWorld world;
  ResourceCount count;
  Channel<Resource> channel;
  Deferred<std::optional<Resource>> receiver = world.scope().async(receive_one, std::ref(channel));
  world.run_ready();
  EXPECT_EQ(channel.try_send(Resource(count, 5)), TrySend::kSent);
  channel.cancel();
  world.run_ready();
  const detail::JobRef node = receiver.release_job();
  auto outcome = detail::take_outcome<std::optional<Resource>>(*node.get());
  EXPECT_EQ(std::move(outcome).value()->number(), 5);
}

}  // namespace
}  // namespace tenure
