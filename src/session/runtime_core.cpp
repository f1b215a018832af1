#include "session/runtime_core.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "session/lane.hpp"

namespace tenure::detail {
namespace {

int default_threads() noexcept { return std::max(2, static_cast<int>(std::thread::hardware_concurrency())); }

void print_error(const std::exception_ptr& error, const char* job_name) noexcept {
  try {
    std::fprintf(stderr, "tenure: nobody awaited an error in \"%s\": %s\n", job_name, describe(error).c_str());
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; there is nobody left to tell
  }
}

}  // namespace

RuntimeCore::RuntimeCore(RuntimeOptions options)
    : options_(std::move(options)),
      own_pool_(options_.dispatcher != nullptr
                    ? nullptr
                    : std::make_unique<ThreadPool>(options_.threads > 0 ? options_.threads : default_threads())),
      own_timers_(options_.timers != nullptr ? nullptr : std::make_unique<TimerThread>()),
      dispatcher_(options_.dispatcher != nullptr ? options_.dispatcher : own_pool_.get()),
      timers_(options_.timers != nullptr ? options_.timers : own_timers_.get()),
      hard_limit(options_.hard_limit),
      ledger(*timers_, options_.abort_on_disorder),
      devices(ledger) {
  Root::ErrorHandler on_error = std::move(options_.on_error);
  if (!on_error) on_error = &print_error;
  root = std::make_unique<Root>(*dispatcher_, *timers_, std::move(on_error));
  root->host = this;
  known_dispatchers_.push_back(dispatcher_);
}

RuntimeCore::~RuntimeCore() {
  // Timers post to the pool, and the pool's last items may still touch the root on their way out.
  own_timers_.reset();
  own_pool_.reset();
  root.reset();
}

void RuntimeCore::add_engine(std::shared_ptr<Engine> engine) {
  const LockGuard guard(lock_);
  engines_.push_back(std::move(engine));
}

std::vector<Engine*> RuntimeCore::engines() {
  std::vector<Engine*> engines;
  const LockGuard guard(lock_);
  engines.reserve(engines_.size());
  for (const auto& engine : engines_) engines.push_back(engine.get());
  return engines;
}

Engine& RuntimeCore::choose_engine(const ModelSpec& spec) {
  const ModelSource source{spec.file, spec.bytes};
  std::string known;
  for (Engine* engine : engines()) {
    if (spec.engine.empty() ? engine->recognises(source) : engine->name() == spec.engine) return *engine;
    known += (known.empty() ? "" : ", ") + std::string(engine->name());
  }
  if (known.empty())
    throw Error(ErrorCode::kUnavailable, "no engine: the runtime was given none (Runtime::add_engine)");
  if (!spec.engine.empty()) {
    throw Error(ErrorCode::kUnavailable, "no engine \"" + spec.engine + "\": there is " + known);
  }
  std::error_code ignored;
  if (spec.bytes == nullptr && !std::filesystem::exists(spec.file, ignored)) {
    throw Error(ErrorCode::kNotFound, "no such model file: " + spec.file.string());
  }
  throw Error(ErrorCode::kInvalidArgument,
              "no engine knows this kind of model: " + spec.file.string() + "; there is " + known);
}

void RuntimeCore::remember_dispatcher(Dispatcher& dispatcher) {
  const LockGuard guard(lock_);
  if (std::find(known_dispatchers_.begin(), known_dispatchers_.end(), &dispatcher) == known_dispatchers_.end()) {
    known_dispatchers_.push_back(&dispatcher);
  }
}

Dispatcher* RuntimeCore::dispatcher_here() {
  const LockGuard guard(lock_);
  for (Dispatcher* dispatcher : known_dispatchers_) {
    if (dispatcher->is_here()) return dispatcher;
  }
  return nullptr;
}

void RuntimeCore::give_back_memory() noexcept {
  constexpr Duration kAtMostEvery = std::chrono::milliseconds(100);
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::int64_t last = last_gift_.load(std::memory_order_relaxed);
  if (now - last < kAtMostEvery.count()) return;
  if (last_gift_.compare_exchange_strong(last, now, std::memory_order_relaxed)) os::give_back_free_memory();
}

bool RuntimeCore::is_own_thread() const noexcept { return is_on_worker() || LaneThreads::is_lane(); }

ShutdownReport RuntimeCore::shut_down(Duration deadline) {
  ShutdownReport report;
  if (is_shut_down_.load(std::memory_order_acquire) || root->is_inert() || is_process_ending()) {
    report.is_complete = is_shut_down_.load(std::memory_order_acquire);
    return report;
  }
  const TimePoint begin = std::chrono::steady_clock::now();
  bool is_complete = root->end(deadline, dispatcher_here());
  const Duration left = deadline - (std::chrono::steady_clock::now() - begin);
  const int hung = lanes.stop(std::max(left, Duration{0}));
  is_complete = is_complete && hung == 0;
  report.is_complete = is_complete;
  // release: who sees it sees all that was released. Never back to false: another's shutdown may have come to its end.
  if (is_complete) is_shut_down_.store(true, std::memory_order_release);
  os::give_back_free_memory();
  if (is_complete) return report;
  for (const LedgerEntry& entry : ledger.entries()) {
    report.left.push_back(std::string(to_string(entry.tier)) + " \"" + entry.name + "\" of \"" + entry.creator +
                          "\", " + std::to_string(entry.bytes) + " bytes" +
                          (entry.is_quarantined ? ", quarantined" : ""));
  }
  if (hung > 0) report.left.push_back(std::to_string(hung) + " lane(s) in native code that has not come back");
  if (report.left.empty()) report.left.emplace_back("a coroutine that has not ended");
  return report;
}

}  // namespace tenure::detail
