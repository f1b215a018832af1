// H1: an element that is on its way when its receiver, or its sender, is cancelled is not lost.
#include "support/resource.hpp"
#include "support/stress.hpp"

namespace tenure {
namespace {

using testing::Resource;
using testing::ResourceCount;
using testing::scaled;
using testing::StressWorld;

struct Counts {
  ResourceCount resources;
  std::atomic<long> sent{0};
  std::atomic<long> received{0};
  std::atomic<long> undelivered{0};
};

Task<void> produce(Channel<Resource>& channel, Counts& counts, int elements) {
  for (int i = 0; i < elements; ++i) {
    Resource resource(counts.resources, i);
    co_await channel.send(std::move(resource));
    ++counts.sent;
  }
}
Task<void> consume(Channel<Resource>& channel, Counts& counts) {
  while (std::optional<Resource> element = co_await channel.receive()) {
    ++counts.received;
    if (element->number() % 7 == 0) co_await yield_now();
  }
}

void run_rounds(ChannelCapacity capacity, bool cancels_producers) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  Counts counts;
  long inside = 0;
  const int rounds = scaled(60);
  for (int round = 0; round < rounds; ++round) {
    Channel<Resource> channel(capacity, [&counts](Resource&&) { ++counts.undelivered; });
    Owner producers = world.root.open("producers", world.pool);
    std::vector<Job> consumers;
    for (int i = 0; i < 3; ++i) producers.launch(produce, std::ref(channel), std::ref(counts), 200);
    Owner consuming = world.root.open("consumers", world.pool);
    for (int i = 0; i < 3; ++i) consumers.push_back(consuming.launch(consume, std::ref(channel), std::ref(counts)));
    for (int cancels = 0; cancels < 50; ++cancels) {
      testing::pass(random() % 400);
      Job& victim = consumers[random() % consumers.size()];
      victim.cancel();
      victim = consuming.launch(consume, std::ref(channel), std::ref(counts));
    }
    if (cancels_producers) producers.cancel();
    if (round % 2 == 0) channel.close();
    auto end = [](Owner a, Owner b) -> Task<void> {
      co_await b.close();
      co_await a.close();
    };
    block_on(world.root.scope(), end, std::move(producers), std::move(consuming));
    while (channel.try_receive()) ++inside;
  }
  // Each resource was made for one send, and went one of three ways.
  EXPECT_EQ(counts.received + counts.undelivered + inside, counts.resources.made);
  EXPECT_LE(counts.sent, counts.received + counts.undelivered + inside);
  EXPECT_EQ(counts.resources.live, 0);
}

TEST(ChannelStress, H1_RendezvousConsumersCancelled) { run_rounds(kRendezvous, false); }
TEST(ChannelStress, H1_BufferedConsumersCancelled) { run_rounds(buffered(8), false); }
TEST(ChannelStress, H1_UnlimitedConsumersCancelled) { run_rounds(kUnlimited, false); }
TEST(ChannelStress, H1_ConflatedConsumersCancelled) { run_rounds(kConflated, false); }
TEST(ChannelStress, H1_RendezvousBothCancelled) { run_rounds(kRendezvous, true); }
TEST(ChannelStress, H1_BufferedBothCancelled) { run_rounds(buffered(2), true); }

Task<long> sum_of(Channel<int>& channel) {
  long sum = 0;
  while (std::optional<int> element = co_await channel.receive()) sum += *element;
  co_return sum;
}
Task<void> send_range(Sender<int> sender, int begin, int end) {
  for (int i = begin; i < end; ++i) co_await sender.send(i);
}
Task<long> pump(Scope scope, Channel<int>& channel, int elements) {
  std::vector<Deferred<long>> sums;
  for (int i = 0; i < 3; ++i) sums.push_back(scope.async(sum_of, std::ref(channel)));
  std::vector<Job> senders;
  for (int i = 0; i < 4; ++i)
    senders.push_back(scope.launch(send_range, channel.sender(), i * elements, (i + 1) * elements));
  for (const Job& job : senders) co_await job.join();
  channel.close();
  long sum = 0;
  for (Deferred<long>& deferred : sums) sum += co_await deferred;
  co_return sum;
}

TEST(ChannelStress, ManySendersAndReceiversLoseNothingAndRepeatNothing) {
  testing::stress_seed();
  StressWorld world;
  for (const ChannelCapacity capacity : {kRendezvous, buffered(1), buffered(64), kUnlimited}) {
    Channel<int> channel(capacity);
    const int each = scaled(3000);
    const long n = 4L * each;
    EXPECT_EQ(block_on(world.root.scope(), pump, std::ref(channel), each), n * (n - 1) / 2);
  }
}

// A parked sender and a close, or a cancel, meet.
TEST(ChannelStress, CloseAgainstParkedSendersAndReceivers) {
  std::mt19937_64 random(testing::stress_seed());
  StressWorld world;
  Counts counts;
  const int rounds = scaled(1500);
  for (int round = 0; round < rounds; ++round) {
    auto channel = std::make_unique<Channel<Resource>>(round % 2 == 0 ? kRendezvous : buffered(1),
                                                       [&counts](Resource&&) { ++counts.undelivered; });
    auto guarded = [](Channel<Resource>& to, Counts& in) -> Task<void> {
      Outcome<void> outcome = co_await as_outcome(produce(to, in, 3));
      static_cast<void>(outcome);
    };
    Job sender = world.root.scope().launch(guarded, std::ref(*channel), std::ref(counts));
    Job receiver = world.root.scope().launch(consume, std::ref(*channel), std::ref(counts));
    testing::pass(random() % 300);
    round % 3 == 0 ? static_cast<void>(channel->close()) : channel->cancel();
    auto join = [](Job a, Job b) -> Task<void> {
      co_await a.join();
      co_await b.join();
    };
    block_on(world.root.scope(), join, sender, receiver);
    channel.reset();
  }
  EXPECT_EQ(counts.received + counts.undelivered, counts.resources.made);
  EXPECT_EQ(counts.resources.live, 0);
}

}  // namespace
}  // namespace tenure
