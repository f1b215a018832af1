#include <algorithm>
#include <cstring>
#include <tenure/base/check.hpp>
#include <tenure/resource/ledger.hpp>
#include <utility>

namespace tenure {

std::string_view to_string(Tier tier) noexcept {
  switch (tier) {
    case Tier::kDevice: return "device";
    case Tier::kInstance: return "instance";
    case Tier::kContext: return "context";
  }
  return "unknown";
}

std::uint64_t Ledger::add(Tier tier, std::uint64_t parent, std::string name, std::string creator, std::size_t bytes,
                          std::source_location where) {
  LedgerEntry entry{.id = 0,
                    .parent = parent,
                    .tier = tier,
                    .name = std::move(name),
                    .creator = std::move(creator),
                    .where = where,
                    .since = clock_.now(),
                    .bytes = bytes};
  const LockGuard guard(lock_);
  entry.id = ++totals_.made;
  const std::uint64_t id = entry.id;
  note_locked(entry.name, tier == Tier::kDevice     ? "device made"
                          : tier == Tier::kInstance ? "instance made"
                                                    : "context made");
  live_.emplace(id, std::move(entry));
  if (const auto found = live_.find(parent); found != live_.end()) ++found->second.children;
  ++totals_.live[static_cast<std::size_t>(tier)];
  totals_.bytes += bytes;
  return id;
}

void Ledger::remove(std::uint64_t id) noexcept {
  const LockGuard guard(lock_);
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  const LedgerEntry& entry = found->second;
  if (entry.children != 0) {
    ++totals_.out_of_order;
    TENURE_CHECK(!aborts_, "a resource was released before what was made from it (I13)");
  }
  note_locked(entry.name, entry.tier == Tier::kDevice     ? "device freed"
                          : entry.tier == Tier::kInstance ? "instance freed"
                                                          : "context freed");
  --totals_.live[static_cast<std::size_t>(entry.tier)];
  totals_.bytes -= entry.bytes;
  if (entry.is_quarantined) --totals_.quarantined;
  if (const auto parent = live_.find(entry.parent); parent != live_.end()) --parent->second.children;
  live_.erase(found);
}

void Ledger::set_quarantined(std::uint64_t id, bool is_quarantined) noexcept {
  const LockGuard guard(lock_);
  const auto found = live_.find(id);
  if (found == live_.end() || found->second.is_quarantined == is_quarantined) return;
  found->second.is_quarantined = is_quarantined;
  totals_.quarantined += is_quarantined ? 1 : -1;
}

void Ledger::note(std::string_view subject, const char* what) noexcept {
  const LockGuard guard(lock_);
  note_locked(subject, what);
}

void Ledger::note_locked(std::string_view subject, const char* what) noexcept {
  LedgerEvent& event = events_[event_count_++ % kMaxEvents];
  event.at = clock_.now();
  event.what = what;
  const std::size_t length = std::min(subject.size(), event.subject.size() - 1);
  std::memcpy(event.subject.data(), subject.data(), length);
  event.subject[length] = '\0';
}

void Ledger::count_done() noexcept {
  const LockGuard guard(lock_);
  ++runs_.done;
}

void Ledger::count_failed() noexcept {
  const LockGuard guard(lock_);
  ++runs_.failed;
}

void Ledger::count_cancelled(CancelEffect effect) noexcept {
  const LockGuard guard(lock_);
  ++runs_.cancelled[static_cast<std::size_t>(effect)];
}

RunTotals Ledger::runs() const noexcept {
  const LockGuard guard(lock_);
  return runs_;
}

LedgerTotals Ledger::totals() const noexcept {
  const LockGuard guard(lock_);
  return totals_;
}

std::vector<LedgerEntry> Ledger::entries() const {
  std::vector<LedgerEntry> entries;
  {
    const LockGuard guard(lock_);
    entries.reserve(live_.size());
    for (const auto& [id, entry] : live_) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return entries;
}

std::vector<LedgerEvent> Ledger::events() const {
  std::vector<LedgerEvent> events;
  const LockGuard guard(lock_);
  const std::uint64_t first = event_count_ > kMaxEvents ? event_count_ - kMaxEvents : 0;
  for (std::uint64_t i = first; i < event_count_; ++i) events.push_back(events_[i % kMaxEvents]);
  return events;
}

}  // namespace tenure
