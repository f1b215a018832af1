#include "cli/storm/storm.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <tenure/base/os.hpp>

#include "cli/storm/page.hpp"

namespace tenure::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

constexpr Duration kBeat = Milliseconds(2);
constexpr Duration kLongestPage = Seconds(30);  // a page that takes longer to go is hung
constexpr std::size_t kMostLeaving = 4;         // pages that are still on their way out
constexpr std::uint64_t kWarmUpPages = 200;

/// What the storm knows while it blows. On the screen's thread, but for `left`.
struct Weather {
  explicit Weather(const StormOptions& options) : options(options), random(options.seed) {}
  const StormOptions& options;
  std::mt19937_64 random;
  PageCounts counts;
  Durations close_time;
  Durations heartbeat_late;
  std::uint64_t opened = 0;
  std::uint64_t leaving = 0;
  std::uint64_t gone = 0;
  std::size_t warm_bytes = 0;
};

Duration between(Weather& weather, Duration low, Duration high) {
  std::uniform_int_distribution<Duration::rep> choice(low.count(), std::max(low, high).count());
  return Duration{choice(weather.random)};
}

// The coroutines below refer to locals of run_storm, which runs their loop to its end.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
Task<void> beat(Weather& weather) {
  TimePoint due = std::chrono::steady_clock::now() + kBeat;
  while (true) {
    co_await delay(due - std::chrono::steady_clock::now());
    const TimePoint now = std::chrono::steady_clock::now();
    weather.heartbeat_late.add(std::max(now - due, Duration{0}));
    due = now + kBeat;
    co_await yield_now();
  }
}

/// The state in which the fewest pages, for its share, have been left so far.
LeftIn choose_wanted(Weather& weather) {
  std::array<std::uint64_t, 5> seen = weather.counts.left_in;
  const std::uint64_t fewest = *std::min_element(seen.begin(), seen.end());
  std::vector<LeftIn> candidates;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] <= fewest + fewest / 4 + 1) candidates.push_back(static_cast<LeftIn>(i));
  }
  return candidates[weather.random() % candidates.size()];
}

PagePlan plan_page(Weather& weather) {
  const StormOptions& options = weather.options;
  PagePlan plan;
  plan.model = options.models[weather.random() % options.models.size()];
  plan.model.stoppable = (weather.random() & 1) != 0;  // half of the pages on kernels that can be stopped
  plan.is_hasty = plan.model.stoppable && (weather.random() & 1) != 0;
  plan.wanted = choose_wanted(weather);
  const bool is_alone = plan.wanted == LeftIn::kRunning || plan.wanted == LeftIn::kDelivery;
  plan.in_flight = plan.wanted == LeftIn::kQueued ? std::max(2, options.in_flight) : is_alone ? 1 : options.in_flight;
  plan.moment = between(weather, options.min_dwell, options.max_dwell);
  if (plan.wanted == LeftIn::kLoading) plan.moment /= 2;
  plan.dwell = Duration{0};
  plan.seed = weather.random();
  return plan;
}

class Gone {
 public:
  Gone(Weather& weather, TimePoint left_at) noexcept : weather_(weather), left_at_(left_at) {}
  void operator()() noexcept {
    weather_.close_time.add(std::chrono::steady_clock::now() - left_at_);
    --weather_.leaving;
    ++weather_.gone;
  }

 private:
  Weather& weather_;
  TimePoint left_at_;
};

Task<void> see_off(Job page, Gone gone) {
  co_await page.join();
  gone();
}

Task<void> show_page(Scope screen, Runtime& runtime, Dispatcher& loop, Weather& weather) {
  if (weather.options.models.empty()) {
    Owner page = runtime.open("page", loop);
    co_await delay(between(weather, weather.options.min_dwell, weather.options.max_dwell));
    page.cancel();
    co_return;
  }
  Owner page = runtime.open("page", loop);
  Kept<Page> state = page.keep<Page>(plan_page(weather), weather.counts);
  Scope scope = page.scope();
  Page* content = &*state;
  scope.launch(&Page::live, content, scope);
  co_await content->await_the_moment();
  content->note_left();
  ++weather.leaving;
  screen.launch(see_off, page.job(), Gone(weather, std::chrono::steady_clock::now()));
  page.cancel();
}

Task<void> blow(Scope screen, Runtime& runtime, Dispatcher& loop, Weather& weather,
                const std::function<void(double)>& progress) {
  const StormOptions& options = weather.options;
  const TimePoint begin = std::chrono::steady_clock::now();
  const auto done = [&] {
    if (!options.time)
      return static_cast<double>(weather.opened) / static_cast<double>(std::max<std::uint64_t>(options.pages, 1));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return passed / std::chrono::duration<double>(*options.time);
  };
  while (done() < 1.0) {
    while (weather.leaving >= kMostLeaving) co_await delay(std::chrono::microseconds(200));
    ++weather.opened;
    co_await show_page(screen, runtime, loop, weather);
    if (weather.opened == kWarmUpPages) weather.warm_bytes = os::resident_bytes();
    progress(std::min(done(), 1.0));
  }
  const TimePoint patience = std::chrono::steady_clock::now() + kLongestPage;
  while (weather.leaving > 0 && std::chrono::steady_clock::now() < patience) co_await delay(Milliseconds(1));
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

nlohmann::ordered_json by_tier(std::int64_t devices, std::int64_t instances, std::int64_t contexts) {
  return {{"devices", devices}, {"instances", instances}, {"contexts", contexts}};
}

}  // namespace

nlohmann::ordered_json run_storm(const StormOptions& options, const std::vector<std::shared_ptr<Engine>>& engines,
                                 const std::function<void(double)>& progress) {
  Weather weather(options);
  LoopDispatcher screen;
  std::atomic<std::uint64_t> reported{0};
  RuntimeOptions runtime_options;
  runtime_options.on_error = [&reported](const std::exception_ptr&, const char*) { ++reported; };
  Runtime runtime(std::move(runtime_options));
  for (const auto& engine : engines) runtime.add_engine(engine);
  const TimePoint begin = std::chrono::steady_clock::now();
  {
    Owner app = runtime.open("storm", screen);
    app.launch(beat, std::ref(weather));
    Job storm = app.launch(blow, app.scope(), std::ref(runtime), std::ref(screen), std::ref(weather), progress);
    storm.on_completion([&screen](const Outcome<void>&) { screen.stop(); });
    screen.run();
  }
  const ShutdownReport end = runtime.shutdown(Seconds(20));
  const std::size_t bytes = os::resident_bytes();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

  NativeCounts native;
  for (const auto& engine : engines) {
    const NativeCounts counts = engine->native_counts();
    native.devices += counts.devices;
    native.instances += counts.instances;
    native.contexts += counts.contexts;
  }
  const LedgerTotals ledger = runtime.ledger().totals();
  const RunTotals runs = runtime.ledger().runs();
  nlohmann::ordered_json left_in;
  for (std::size_t i = 0; i < kLeftInNames.size(); ++i)
    left_in[std::string(kLeftInNames[i])] = weather.counts.left_in[i];
  const double growth =
      weather.warm_bytes == 0 ? 0.0 : (static_cast<double>(bytes) - static_cast<double>(weather.warm_bytes)) / 1e6;
  const bool counts_agree =
      native.devices == ledger.live[0] && native.instances == ledger.live[1] && native.contexts == ledger.live[2];
  nlohmann::ordered_json report{
      {"pages", weather.opened},
      {"leaked",
       std::max(native.devices + native.instances + native.contexts, ledger.live[0] + ledger.live[1] + ledger.live[2])},
      {"out_of_order", ledger.out_of_order},
      {"hung", weather.leaving + (end.is_complete ? 0 : 1)},
      {"failed", weather.counts.failed + reported.load()},
      {"refused", weather.counts.refused},
      {"counts_agree", counts_agree},
      {"left_in", left_in},
      {"runs",
       {{"done", runs.done},
        {"dropped", runs.cancelled[0]},
        {"stopped", runs.cancelled[1]},
        {"discarded", runs.cancelled[2]},
        {"quarantined", runs.cancelled[3]}}},
      {"caller_release_us", weather.counts.caller_release.to_json<std::chrono::microseconds>()},
      {"close_ms", weather.close_time.to_json<Milliseconds>()},
      {"heartbeat_late_ms", weather.heartbeat_late.to_json<Milliseconds>()},
      {"native", by_tier(native.devices, native.instances, native.contexts)},
      {"ledger", by_tier(ledger.live[0], ledger.live[1], ledger.live[2])},
      {"rss_growth_mb", growth},
      {"seed", options.seed},
      {"seconds", took.count()}};
  if (!weather.counts.first_failure.empty()) report["first_failure"] = weather.counts.first_failure;
  if (!end.left.empty()) report["left"] = end.left;
  return report;
}

}  // namespace tenure::cli
