#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "engines/fake/fake_engine.hpp"

namespace tenure::testing {

enum class FakeTier : std::uint8_t { kDevice, kInstance, kContext };

/// One "native" object. The record stays when the object is freed, so that a use after it is seen and does no harm.
/// Guarded by FakeState's mutex, but for what never changes.
struct FakeNative {
  FakeTier tier = FakeTier::kDevice;
  std::shared_ptr<FakeNative> parent;
  std::thread::id thread;  ///< the one that loaded the instance
  bool thread_bound = false;
  bool concurrent_runs = false;
  bool alive = true;
  bool lost = false;
  std::uint32_t children = 0;
  std::uint32_t running = 0;
};
using FakeNativePtr = std::shared_ptr<FakeNative>;

/// What all copies of a fake engine, its devices, instances, contexts and runs share.
class FakeState : public std::enable_shared_from_this<FakeState> {
 public:
  FakeState(FakeScript script, std::shared_ptr<FakeTime> time);

  [[nodiscard]] std::shared_ptr<const FakeScript> script() const;
  void set_script(FakeScript script);
  [[nodiscard]] std::shared_ptr<FakeTime> time() const;
  void set_time(std::shared_ptr<FakeTime> time);

  /// These two are the native create and destroy functions: here, and only here, `counts` move.
  FakeNativePtr create(FakeTier tier, FakeNativePtr parent, const FakeScript& script);
  void destroy(const FakeNativePtr& native) noexcept;

  std::uint64_t begin_run(const FakeNativePtr& context);
  enum class RunResult : std::uint8_t { kDone, kStopped, kFailed };
  void end_run(const FakeNativePtr& context, RunResult result);
  /// Whether the device of `context` is gone, and whether run `number` is the one that loses it.
  bool lose_device(const FakeNativePtr& context, std::uint64_t number, const FakeScript& script);

  void hang();
  void release_hung();
  void tick_watchdog();

  [[nodiscard]] std::vector<std::string> log() const;
  void clear_log();
  [[nodiscard]] FakeReport report() const;
  [[nodiscard]] std::uint64_t hung_now() const;
  void await_runs_begun(std::uint64_t count) const;
  void await_hung(std::uint64_t count) const;
  [[nodiscard]] NativeCounts counts() const noexcept;

 private:
  void check_thread(const FakeNative& native);
  void make_room();
  void start_watchdog();
  void watch(std::uint64_t generation);
  [[nodiscard]] std::thread take_idle_watchdog();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const FakeScript> script_;
  std::shared_ptr<FakeTime> time_;
  std::vector<std::string_view> log_;  // literals only
  FakeReport report_;
  std::uint64_t running_ = 0;
  std::uint64_t hung_ = 0;
  std::uint64_t releases_ = 0;
  std::set<FakeNativePtr> alive_;
  std::thread watchdog_;
  std::uint64_t watchdog_generation_ = 0;  // a watchdog of an earlier one ends
  std::atomic<std::int64_t> devices_{0};
  std::atomic<std::int64_t> instances_{0};
  std::atomic<std::int64_t> contexts_{0};
};

/// Loads the "model" on a device.
std::unique_ptr<EngineInstance> load_fake(const std::shared_ptr<FakeState>& state, const FakeNativePtr& device,
                                          const ModelSource& source, StopSignal& stop);

}  // namespace tenure::testing
