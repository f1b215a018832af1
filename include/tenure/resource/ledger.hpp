#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tenure/base/cancel_receipt.hpp>
#include <tenure/base/lock.hpp>
#include <tenure/base/time.hpp>

namespace tenure {

/// The three tiers of resources, each with a lifetime of its own.
enum class Tier : std::uint8_t { kDevice, kInstance, kContext };
[[nodiscard]] std::string_view to_string(Tier tier) noexcept;

/// One live resource.
struct LedgerEntry {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  ///< the entry of the tier above; 0 for a device
  Tier tier = Tier::kDevice;
  std::string name;     ///< "litert cpu", the model's file, "face lane 0"
  std::string creator;  ///< the owner in whose scope it was made
  std::source_location where;
  TimePoint since;
  std::size_t bytes = 0;
  std::uint32_t children = 0;
  bool is_quarantined = false;
};

/// Something that happened to a resource or a session.
struct LedgerEvent {
  TimePoint at;
  std::array<char, 48> subject{};
  const char* what = "";  ///< a literal
};

struct LedgerTotals {
  std::array<std::int64_t, 3> live{};  ///< by tier
  std::size_t bytes = 0;
  std::int64_t quarantined = 0;
  std::uint64_t out_of_order = 0;  ///< releases of something that still had children: an internal error
  std::uint64_t made = 0;          ///< since the beginning
};

/// What became of the runs that a lane or an intake has had, since the beginning.
struct RunTotals {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::array<std::uint64_t, 4> cancelled{};  ///< by CancelEffect
};

/// The account of every live resource of the three tiers: who made it, where, when, its bytes, its parent, its state.
///
/// Returns   copies: what is live now, the latest events, the sums.
/// Errors    a release out of order is counted, and ends the program where `abort_on_disorder` is set, as tests do.
/// Cancel    removing an entry and noting an event allocate nothing.
/// Threads   any.
/// Units     bytes; times by the clock it was made with.
class Ledger {
 public:
  explicit Ledger(const Clock& clock, bool abort_on_disorder = false) : clock_(clock), aborts_(abort_on_disorder) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  std::uint64_t add(Tier tier, std::uint64_t parent, std::string name, std::string creator, std::size_t bytes,
                    std::source_location where = std::source_location::current());
  void remove(std::uint64_t id) noexcept;
  void set_quarantined(std::uint64_t id, bool is_quarantined) noexcept;
  void note(std::string_view subject, const char* what) noexcept;
  void count_done() noexcept;
  void count_failed() noexcept;
  void count_cancelled(CancelEffect effect) noexcept;

  [[nodiscard]] LedgerTotals totals() const noexcept;
  [[nodiscard]] RunTotals runs() const noexcept;
  [[nodiscard]] std::vector<LedgerEntry> entries() const;
  /// The latest events, oldest first; at most kMaxEvents.
  [[nodiscard]] std::vector<LedgerEvent> events() const;

  static constexpr std::size_t kMaxEvents = 1024;

 private:
  void note_locked(std::string_view subject, const char* what) noexcept TENURE_REQUIRES(lock_);

  const Clock& clock_;
  const bool aborts_;
  mutable Lock lock_;
  std::unordered_map<std::uint64_t, LedgerEntry> live_ TENURE_GUARDED_BY(lock_);
  LedgerTotals totals_ TENURE_GUARDED_BY(lock_);
  RunTotals runs_ TENURE_GUARDED_BY(lock_);
  std::array<LedgerEvent, kMaxEvents> events_ TENURE_GUARDED_BY(lock_){};
  std::uint64_t event_count_ TENURE_GUARDED_BY(lock_) = 0;
};

/// An entry of the ledger for as long as the resource beside it lives. Declare it before the resource, so that the
/// resource is freed first.
class LedgerRecord {
 public:
  LedgerRecord() = default;
  LedgerRecord(Ledger& ledger, std::uint64_t id) noexcept : ledger_(&ledger), id_(id) {}
  LedgerRecord(LedgerRecord&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)), id_(std::exchange(other.id_, 0)) {}
  LedgerRecord& operator=(LedgerRecord&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~LedgerRecord() {
    if (ledger_ != nullptr) ledger_->remove(id_);
  }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  void set_quarantined(bool is_quarantined) const noexcept {
    if (ledger_ != nullptr) ledger_->set_quarantined(id_, is_quarantined);
  }

 private:
  Ledger* ledger_ = nullptr;
  std::uint64_t id_ = 0;
};

}  // namespace tenure
