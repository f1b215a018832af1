// The account of live resources: sums, order, events.
#include <tenure/resource/ledger.hpp>
#include <tenure/testing/virtual_timers.hpp>

#include "support/session_support.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::VirtualTimers;

struct Account {
  VirtualTimers clock;
  Ledger ledger{clock};
};

TEST(LedgerTest, CountsByTierAndBytes) {
  Account account;
  Ledger& ledger = account.ledger;
  const std::uint64_t device = ledger.add(Tier::kDevice, 0, "fake cpu", "page", 10);
  account.clock.move_to(TimePoint{} + 5ms);
  const std::uint64_t instance = ledger.add(Tier::kInstance, device, "face", "page", 100);
  const std::uint64_t context = ledger.add(Tier::kContext, instance, "face lane 0", "page", 1);
  EXPECT_EQ(ledger.totals().live, (std::array<std::int64_t, 3>{1, 1, 1}));
  EXPECT_EQ(ledger.totals().bytes, 111U);
  const std::vector<LedgerEntry> entries = ledger.entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].children, 1U);
  EXPECT_EQ(entries[1].parent, device);
  EXPECT_EQ(entries[1].since, TimePoint{} + 5ms);
  EXPECT_EQ(entries[2].creator, "page");
  EXPECT_NE(std::string(entries[2].where.file_name()).find("ledger_test"), std::string::npos);
  ledger.remove(context);
  ledger.remove(instance);
  ledger.remove(device);
  testing::expect_empty(ledger);
  EXPECT_EQ(ledger.totals().made, 3U);
}

TEST(LedgerTest, I13_AReleaseOutOfOrderIsCounted) {
  Account account;
  const std::uint64_t device = account.ledger.add(Tier::kDevice, 0, "fake cpu", "page", 10);
  const std::uint64_t instance = account.ledger.add(Tier::kInstance, device, "face", "page", 100);
  account.ledger.remove(device);
  EXPECT_EQ(account.ledger.totals().out_of_order, 1U);
  account.ledger.remove(instance);
  EXPECT_EQ(account.ledger.totals().out_of_order, 1U);
  EXPECT_EQ(account.ledger.totals().live, (std::array<std::int64_t, 3>{0, 0, 0}));
}

TEST(LedgerDeathTest, I13_AReleaseOutOfOrderEndsATest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        VirtualTimers clock;
        Ledger ledger(clock, true);
        const std::uint64_t device = ledger.add(Tier::kDevice, 0, "fake cpu", "page", 0);
        ledger.add(Tier::kInstance, device, "face", "page", 0);
        ledger.remove(device);
      },
      "before what was made from it");
}

TEST(LedgerTest, RemovingWhatIsNotThereDoesNothing) {
  Account account;
  account.ledger.remove(0);
  account.ledger.remove(77);
  account.ledger.set_quarantined(77, true);
  testing::expect_empty(account.ledger);
}

TEST(LedgerTest, QuarantineIsCountedOnceAndGoesWithItsEntry) {
  Account account;
  const std::uint64_t device = account.ledger.add(Tier::kDevice, 0, "fake cpu", "page", 0);
  account.ledger.set_quarantined(device, true);
  account.ledger.set_quarantined(device, true);
  EXPECT_EQ(account.ledger.totals().quarantined, 1);
  account.ledger.set_quarantined(device, false);
  EXPECT_EQ(account.ledger.totals().quarantined, 0);
  account.ledger.set_quarantined(device, true);
  account.ledger.remove(device);
  EXPECT_EQ(account.ledger.totals().quarantined, 0);
}

TEST(LedgerTest, KeepsTheLatestEventsInOrder) {
  Account account;
  for (std::size_t i = 0; i < Ledger::kMaxEvents + 10; ++i) {
    account.clock.move_to(TimePoint{} + Duration(i));
    account.ledger.note("a name that is longer than the place that an event has for one", "happened");
  }
  const std::vector<LedgerEvent> events = account.ledger.events();
  ASSERT_EQ(events.size(), Ledger::kMaxEvents);
  EXPECT_EQ(events.front().at, TimePoint{} + Duration(10));
  EXPECT_EQ(events.back().at, TimePoint{} + Duration(Ledger::kMaxEvents + 9));
  EXPECT_EQ(std::string_view(events.back().subject.data()).size(), events.back().subject.size() - 1);
}

TEST(LedgerTest, ARecordMovesAndRemovesOnce) {
  Account account;
  {
    LedgerRecord first(account.ledger, account.ledger.add(Tier::kDevice, 0, "one", "page", 1));
    LedgerRecord second(account.ledger, account.ledger.add(Tier::kDevice, 0, "two", "page", 2));
    first = std::move(second);
    LedgerRecord third(std::move(first));
    EXPECT_EQ(account.ledger.totals().live[0], 2);
    third = LedgerRecord();
    EXPECT_EQ(account.ledger.totals().bytes, 1U);
    const LedgerRecord nothing;
    nothing.set_quarantined(true);
  }
  testing::expect_empty(account.ledger);
}

TEST(LedgerTest, RunsAreCountedByWhatBecameOfThem) {
  Account account;
  account.ledger.count_done();
  account.ledger.count_failed();
  account.ledger.count_cancelled(CancelEffect::kStopped);
  account.ledger.count_cancelled(CancelEffect::kStopped);
  const RunTotals runs = account.ledger.runs();
  EXPECT_EQ(runs.done, 1U);
  EXPECT_EQ(runs.failed, 1U);
  EXPECT_EQ(runs.cancelled, (std::array<std::uint64_t, 4>{0, 2, 0, 0}));
}

}  // namespace
}  // namespace tenure
