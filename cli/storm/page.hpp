#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/session.hpp>

#include "cli/storm/statistics.hpp"

namespace tenure::cli {

/// What a page is doing when its user leaves.
enum class LeftIn : std::uint8_t { kLoading, kQueued, kRunning, kDelivery, kClosing };
inline constexpr std::array<std::string_view, 5> kLeftInNames{"loading", "queued", "running", "delivery", "closing"};

/// What all pages of a storm add to. Touched on the screen's thread only.
struct PageCounts {
  std::array<std::uint64_t, 5> left_in{};
  std::uint64_t failed = 0;   ///< errors that nobody asked for
  std::uint64_t refused = 0;  ///< what a policy refused: a full intake
  std::string first_failure;
  Durations caller_release;
  std::map<std::string, Inputs> inputs;  ///< by model: made once, so that the screen's thread does little but copy
};

/// How one page will live.
struct PagePlan {
  ModelSpec model;
  int in_flight = 2;
  LeftIn wanted = LeftIn::kRunning;
  Duration moment{0};     ///< when to leave, after what is wanted can be so
  Duration dwell{0};      ///< how long to look at the results before the last of them
  bool is_hasty = false;  ///< its first runs have a time limit that they can't meet: a cancel of a run, not of the page
  std::uint64_t seed = 0;
};

/// The state of one page: a model of its own, some inferences that go on until the user leaves. Lives in its owner.
class Page {
 public:
  Page(PagePlan plan, PageCounts& counts) : plan_(std::move(plan)), counts_(counts) {}

  /// Loads the model and runs it. Ends when the page is left.
  Task<void> live(Scope scope);
  /// Ends when the moment to leave has come. Who awaits it goes on before anything else is run on the screen's thread.
  Task<void> await_the_moment();
  /// What the page is doing now; on the screen's thread.
  [[nodiscard]] LeftIn doing() const noexcept;
  /// The user leaves: from now on the frames that go are timed.
  void note_left() noexcept;

 private:
  Task<void> keep_running();
  Task<Outcome<Outputs>> run_once(Inputs inputs, bool is_hasty);
  void note_end(const Outcome<Outputs>& outcome);
  [[nodiscard]] bool is_delivering() const noexcept;

  PagePlan plan_;
  PageCounts& counts_;
  std::optional<Session> session_;
  std::uint64_t submitted_ = 0;
  std::uint64_t delivered_ = 0;
  bool has_failed_ = false;
  bool has_asked_to_close_ = false;
  std::optional<TimePoint> left_at_;
};

}  // namespace tenure::cli
