#include "engines/fake/fake_state.hpp"

#include <algorithm>
#include <tenure/base/check.hpp>

namespace tenure::testing {
namespace {

constexpr auto kWatchdogPeriod = std::chrono::milliseconds(10);

std::string_view made_entry(FakeTier tier) noexcept {
  switch (tier) {
    case FakeTier::kDevice: return "device made";
    case FakeTier::kInstance: return "model loaded";
    case FakeTier::kContext: return "context made";
  }
  return {};
}

std::string_view freed_entry(FakeTier tier) noexcept {
  switch (tier) {
    case FakeTier::kDevice: return "device freed";
    case FakeTier::kInstance: return "instance freed";
    case FakeTier::kContext: return "context freed";
  }
  return {};
}

class RealTime final : public FakeTime {
 public:
  void sleep(Duration duration, StopSignal& /*stop*/) override {
    if (duration > Duration::zero()) std::this_thread::sleep_for(duration);
  }
  TimePoint now() override { return std::chrono::steady_clock::now(); }
};

}  // namespace

FakeState::FakeState(FakeScript script, std::shared_ptr<FakeTime> time)
    : script_(std::make_shared<const FakeScript>(std::move(script))),
      time_(time != nullptr ? std::move(time) : std::make_shared<RealTime>()) {}

std::shared_ptr<const FakeScript> FakeState::script() const {
  const std::lock_guard lock(mutex_);
  return script_;
}

void FakeState::set_script(FakeScript script) {
  auto next = std::make_shared<const FakeScript>(std::move(script));
  const std::lock_guard lock(mutex_);
  script_.swap(next);
}

std::shared_ptr<FakeTime> FakeState::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

void FakeState::set_time(std::shared_ptr<FakeTime> time) {
  TENURE_CHECK(time != nullptr, "a fake engine needs a source of time");
  const std::lock_guard lock(mutex_);
  time_ = std::move(time);
}

FakeNativePtr FakeState::create(FakeTier tier, FakeNativePtr parent, const FakeScript& script) {
  auto native = std::make_shared<FakeNative>();
  native->tier = tier;
  native->thread = parent != nullptr && tier == FakeTier::kContext ? parent->thread : std::this_thread::get_id();
  native->thread_bound =
      tier == FakeTier::kContext ? parent->thread_bound : tier == FakeTier::kInstance && script.thread_bound;
  native->concurrent_runs = script.concurrent_runs;
  native->parent = std::move(parent);
  const std::lock_guard lock(mutex_);
  alive_.insert(native);
  make_room();
  if (script.watchdog) start_watchdog();
  check_thread(*native);
  if (native->parent != nullptr) {
    if (!native->parent->alive) ++report_.out_of_order;
    ++native->parent->children;
  }
  (tier == FakeTier::kDevice ? devices_ : tier == FakeTier::kInstance ? instances_ : contexts_).fetch_add(1);
  log_.push_back(made_entry(tier));
  return native;
}

void FakeState::destroy(const FakeNativePtr& native) noexcept {
  std::thread idle_watchdog;
  {
    const std::lock_guard lock(mutex_);
    check_thread(*native);
    const bool parent_gone = native->parent != nullptr && !native->parent->alive;
    if (!native->alive || native->children != 0 || native->running != 0 || parent_gone) ++report_.out_of_order;
    native->alive = false;
    if (native->parent != nullptr) --native->parent->children;
    (native->tier == FakeTier::kDevice     ? devices_
     : native->tier == FakeTier::kInstance ? instances_
                                           : contexts_)
        .fetch_sub(1);
    alive_.erase(native);
    log_.push_back(freed_entry(native->tier));
    idle_watchdog = take_idle_watchdog();
  }
  if (idle_watchdog.joinable()) {
    changed_.notify_all();
    idle_watchdog.join();
  }
}

std::uint64_t FakeState::begin_run(const FakeNativePtr& context) {
  const std::lock_guard lock(mutex_);
  make_room();
  check_thread(*context);
  FakeNative& instance = *context->parent;
  if (!context->alive || !instance.alive || !instance.parent->alive) ++report_.out_of_order;
  if (context->running != 0 || (instance.running != 0 && !context->concurrent_runs)) ++report_.overlapping_runs;
  ++context->running;
  ++instance.running;
  ++running_;
  report_.most_concurrent_runs = std::max(report_.most_concurrent_runs, running_);
  log_.push_back("run");
  changed_.notify_all();
  return ++report_.runs_begun;
}

void FakeState::end_run(const FakeNativePtr& context, RunResult result) {
  const std::lock_guard lock(mutex_);
  --context->running;
  --context->parent->running;
  --running_;
  ++report_.runs_ended;
  if (result == RunResult::kStopped) ++report_.runs_stopped;
  if (result == RunResult::kFailed) ++report_.runs_failed;
  log_.push_back(result == RunResult::kDone      ? "run ended"
                 : result == RunResult::kStopped ? "run stopped"
                                                 : "run failed");
  changed_.notify_all();
}

bool FakeState::lose_device(const FakeNativePtr& context, std::uint64_t number, const FakeScript& script) {
  const std::lock_guard lock(mutex_);
  FakeNative& device = *context->parent->parent;
  if (number == script.device_lost_at) device.lost = true;
  return device.lost;
}

void FakeState::hang() {
  const std::shared_ptr<FakeTime> time = this->time();
  // Under the lock, so that who sees virtual time go on, or sees nothing hang, sees the other too.
  std::unique_lock lock(mutex_);
  const std::uint64_t seen = releases_;
  ++hung_;
  changed_.notify_all();
  time->hang_begins();
  changed_.wait(lock, [&] { return releases_ != seen; });
  time->hang_ends();
  --hung_;
}

void FakeState::release_hung() {
  const std::lock_guard lock(mutex_);
  ++releases_;
  changed_.notify_all();
}

void FakeState::tick_watchdog() {
  const std::lock_guard lock(mutex_);
  for (const FakeNativePtr& native : alive_) {
    for (const FakeNative* above = native->parent.get(); above != nullptr; above = above->parent.get()) {
      if (!above->alive) ++report_.touches_after_free;
    }
  }
}

std::vector<std::string> FakeState::log() const {
  const std::lock_guard lock(mutex_);
  return {log_.begin(), log_.end()};
}

void FakeState::clear_log() {
  const std::lock_guard lock(mutex_);
  log_.clear();
}

FakeReport FakeState::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::uint64_t FakeState::hung_now() const {
  const std::lock_guard lock(mutex_);
  return hung_;
}

void FakeState::await_runs_begun(std::uint64_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return report_.runs_begun >= count; });
}

void FakeState::await_hung(std::uint64_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return hung_ >= count; });
}

NativeCounts FakeState::counts() const noexcept {
  return {.devices = devices_.load(), .instances = instances_.load(), .contexts = contexts_.load()};
}

void FakeState::check_thread(const FakeNative& native) {
  if (native.thread_bound && native.thread != std::this_thread::get_id()) ++report_.thread_violations;
}

// What frees or ends something must not need memory: the room for its entry is taken when it is made or begun.
void FakeState::make_room() {
  const std::size_t needed = log_.size() + alive_.size() + running_ + 2;
  if (log_.capacity() < needed) log_.reserve(needed * 2);
}

void FakeState::start_watchdog() {
  if (watchdog_.joinable()) return;
  watchdog_ = std::thread([self = shared_from_this(), generation = watchdog_generation_] { self->watch(generation); });
}

void FakeState::watch(std::uint64_t generation) {
  const auto over = [this, generation] { return watchdog_generation_ != generation; };
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kWatchdogPeriod, over)) {
    lock.unlock();
    tick_watchdog();
    lock.lock();
  }
}

// The driver's thread goes with the last object that it could touch; what hangs keeps it, as it would a real one.
std::thread FakeState::take_idle_watchdog() {
  if (!alive_.empty() || !watchdog_.joinable()) return {};
  ++watchdog_generation_;
  return std::move(watchdog_);
}

}  // namespace tenure::testing
