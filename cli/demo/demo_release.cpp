// The second step of the demonstration: one page, left in mid-run.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tenure/session.hpp>

#include "cli/context.hpp"
#include "cli/demo/steps.hpp"
#include "cli/duration.hpp"
#include "cli/json_of.hpp"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestLimit = 16ms;   // of the first run
constexpr Duration kBeforeLeaving = 20ms;  // how long the second run has been going when the page is left

struct Moment {
  TimePoint at;
  std::string what;
  bool is_resource = false;  // one that the ledger told
};

void insert_by_time(std::vector<Moment>& moments, Moment moment) {
  const auto place = std::ranges::upper_bound(moments, moment.at, {}, &Moment::at);
  moments.insert(place, std::move(moment));
}

/// What happened on the page, by several threads.
class Diary {
 public:
  void note(TimePoint at, std::string what) {
    const LockGuard guard(lock_);
    insert_by_time(moments_, {at, std::move(what), false});
  }
  [[nodiscard]] std::vector<Moment> moments() const {
    const LockGuard guard(lock_);
    return moments_;
  }

 private:
  mutable Lock lock_;
  std::vector<Moment> moments_ TENURE_GUARDED_BY(lock_);
};

/// Stands in the page's coroutine: its end is the moment in which the page's own code is gone.
class GoneMark {
 public:
  GoneMark(Diary& diary, Scope scope) noexcept : diary_(diary), scope_(std::move(scope)) {}
  GoneMark(const GoneMark&) = delete;
  GoneMark& operator=(const GoneMark&) = delete;
  ~GoneMark() { diary_.note(scope_.now(), "the page's coroutine is gone, with all that it held"); }

 private:
  Diary& diary_;
  Scope scope_;
};

Inputs blank_inputs(const Session& session) {
  Inputs inputs;
  for (const TensorSpec& spec : session.signature().inputs) inputs.add(Tensor(spec));
  return inputs;
}

/// A run with a time limit: the page goes on when it passes, and asks what became of the native run.
Task<CancelReceipt> run_out_of_time(Scope scope, Session session, Diary* diary) {
  for (Duration limit = kLongestLimit;; limit /= 2) {  // some machine may be done in time
    Task<Outputs> run = session.run(blank_inputs(session));
    const Outcome<Outputs> outcome = co_await as_outcome(with_timeout(limit, std::move(run)));
    if (outcome.code() != ErrorCode::kDeadlineExceeded) {
      static_cast<void>(outcome.value());  // throws what else went wrong
      continue;
    }
    diary->note(scope.now(), fmt::format("a run met its limit of {}; the page goes on", ms_text(to_ms(limit))));
    Task<CancelReceipt> receipt = outcome.receipt();
    co_return co_await std::move(receipt);
  }
}

Task<void> run_until_left(Scope scope, Session session, Diary* diary) {
  const GoneMark mark(*diary, scope);
  while (true) {
    Task<Outputs> run = session.run(blank_inputs(session));
    co_await std::move(run);
  }
}

/// Waits until a run is in native code, and a little longer.
Task<void> wait_for_mid_run(Session session) {
  while (session.running() == 0) co_await delay(1ms);
  co_await delay(kBeforeLeaving);
}

Task<void> wait_for_end(Job page) { co_await page.join(); }

struct Left {
  CancelReceipt receipt;
  std::vector<Moment> moments;
  TimePoint left_at;
  Duration cancel_took{0};
  bool is_gone_from_engine = false;
  bool is_gone_from_ledger = false;
};

Left leave_a_page(Context& context, const ModelFile& model) {
  Diary diary;  // outlives the runtime, whose coroutines write into it
  Left left;
  const auto runtime = context.make_runtime();
  const NativeCounts before = context.engine()->native_counts();
  ModelSpec spec(model.file);
  spec.stoppable = true;
  Owner page = runtime->open("demo page");
  const Scope scope = page.scope();
  {
    const Session session = runtime->block_on(load_session(scope, std::move(spec)));
    left.receipt = runtime->block_on(run_out_of_time(scope, session, &diary));
    page.launch(run_until_left, session, &diary);
    runtime->block_on(wait_for_mid_run(session));
    left.left_at = scope.now();
    page.cancel();
    left.cancel_took = scope.now() - left.left_at;
  }
  diary.note(left.left_at, "the page is left: owner.cancel()");
  diary.note(left.left_at + left.cancel_took, "owner.cancel() has returned");
  runtime->block_on(wait_for_end(page.job()));
  diary.note(scope.now(), "the owner has ended: nothing of the page is left");
  left.moments = diary.moments();
  for (const LedgerEvent& event : runtime->ledger().events()) {
    insert_by_time(left.moments, {event.at, std::string(event.what) + ": " + event.subject.data(), true});
  }
  const LedgerTotals totals = runtime->ledger().totals();
  left.is_gone_from_ledger = totals.live == std::array<std::int64_t, 3>{} && totals.out_of_order == 0;
  left.is_gone_from_engine = context.engine()->native_counts() == before;
  return left;
}

/// Whether all of `words` come among the moments, in this order, after the page was left.
bool come_in_order(const Left& left, const std::vector<std::string>& words) {
  auto from = std::ranges::find_if(left.moments, [&](const Moment& moment) { return moment.at >= left.left_at; });
  for (const std::string& word : words) {
    from = std::find_if(from, left.moments.end(), [&](const Moment& moment) { return moment.what.starts_with(word); });
    if (from == left.moments.end()) return false;
  }
  return true;
}

}  // namespace

StepResult show_release(Context& context) {
  const ModelFile model = context.model("pose");
  const Left left = leave_a_page(context, model);
  Json steps = Json::array();
  for (const Moment& moment : left.moments) {
    const double ms = to_ms(moment.at - left.left_at);
    steps.push_back({{"ms", ms}, {"what", moment.what}});
    if (context.wants_json) continue;
    const bool is_leaving = moment.at == left.left_at && !moment.is_resource;
    print_line(paint(is_leaving ? Tone::kStrong : Tone::kPlain, fmt::format("  {:>9.2f} ms  {}", ms, moment.what)));
  }
  const bool is_ordered = come_in_order(
      left, {"the page's coroutine is gone", "context freed", "instance freed", "device freed", "the owner has ended"});
  const bool is_clean = left.is_gone_from_ledger && left.is_gone_from_engine;
  if (!context.wants_json) {
    print_line("  the receipt of the run that met its limit: " + to_string(left.receipt));
    print_line("  " + (is_ordered ? paint(Tone::kGood, "caller, context, instance, device: released in this order")
                                  : paint(Tone::kBad, "released out of order")));
    print_line("  " + (is_clean ? paint(Tone::kGood, "nothing is left, by the ledger's count and by the engine's own")
                                : paint(Tone::kBad, "something is left")));
  }
  return {.is_as_promised = is_ordered && is_clean,
          .document = {{"model", model.name},
                       {"cancel_us", to_ms(left.cancel_took) * 1000},
                       {"receipt", json_of(left.receipt)},
                       {"steps", std::move(steps)},
                       {"in_order", is_ordered},
                       {"nothing_left", is_clean}}};
}

}  // namespace tenure::cli
