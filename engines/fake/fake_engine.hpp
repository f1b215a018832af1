#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/base/error.hpp>
#include <tenure/base/time.hpp>
#include <tenure/engine/engine.hpp>

namespace tenure::testing {

class FakeState;

/// Where the fake engine's time comes from: the real clock, or a virtual one that a test moves.
///
/// Returns   `now()`: the present point in time.
/// Errors    none.
/// Cancel    `sleep` takes its whole time: the fake looks at the stop signal itself, between its steps.
/// Threads   any: each lane that is in a fake run calls it.
class FakeTime {
 public:
  virtual ~FakeTime() = default;
  /// Lets `duration` pass on the calling thread. `stop` tells whose run it is.
  virtual void sleep(Duration duration, StopSignal& stop) = 0;
  [[nodiscard]] virtual TimePoint now() = 0;
  /// The calling thread begins to hang until `release_hung()`: virtual time must not wait for it.
  virtual void hang_begins() {}
  virtual void hang_ends() {}
};

/// What the fake engine will do. Runs are numbered from 1, over all of the engine's contexts.
struct FakeScript {
  Duration run_time{0};
  Duration load_time{0};
  Stops stops = Stops::kNever;  ///< unless kNever, a run looks at its stop signal after each of `steps`
  std::uint32_t steps = 10;
  bool load_stops = false;  ///< a load looks at its stop signal after each of `steps` too
  bool thread_bound = false;
  bool concurrent_runs = false;
  bool shares_weights = false;
  std::optional<ErrorCode> fail_device{};
  std::optional<ErrorCode> fail_load{};
  std::optional<ErrorCode> fail_context{};
  std::set<std::uint64_t> fail_run_at{};  ///< these end with kEngine after their time
  std::set<std::uint64_t> hang_run_at{};  ///< these block until `release_hung()`
  std::uint64_t device_lost_at = 0;       ///< from this run on, its device answers kDeviceLost; 0 for never
  bool late_write = false;  ///< inputs are read and outputs written at the very end, also of a run that was stopped
  std::size_t device_bytes = 0;
  std::size_t instance_bytes = 1024;
  std::size_t context_bytes = 256;
  ModelSignature signature = {{{"x", ElementType::kFloat32, {1, 4}}}, {{"y", ElementType::kFloat32, {1, 4}}}};
  bool refuse_accelerator = false;  ///< the device "gpu" is not here
  bool require_file = false;        ///< the model's file must exist and hold `kFakeModel`
  bool watchdog = false;            ///< a driver thread touches what is alive every 10 ms, see `touches_after_free`
  /// Replaces what a run computes. By default float32 outputs are 2 * the first input, others a copy of its bytes.
  std::function<void(std::span<const ConstTensorView>, std::span<const TensorView>)> compute{};
};

/// What a file must hold for `require_file`.
inline constexpr std::string_view kFakeModel = "FAKE model\nend\n";

/// What was seen at the boundary of the fake engine. All but the runs must stay 0 whoever uses it rightly.
struct FakeReport {
  std::uint64_t runs_begun = 0;
  std::uint64_t runs_ended = 0;    ///< came back, however
  std::uint64_t runs_stopped = 0;  ///< came back at a checkpoint
  std::uint64_t runs_failed = 0;
  std::uint64_t most_concurrent_runs = 0;
  std::uint64_t out_of_order = 0;       ///< freed before its children or under a run; made or run on something freed
  std::uint64_t thread_violations = 0;  ///< on another thread than the one that loaded, where `thread_bound`
  std::uint64_t overlapping_runs = 0;   ///< of one instance, unless `concurrent_runs`; of one context, always
  std::uint64_t touches_after_free = 0;
};

/// A scripted engine that counts and logs all that is done to it, and never breaks when it is misused.
///
/// Returns   `log()`: "device made", "model loaded", "context made", "run", then "run ended", "run stopped" or
///           "run failed", "context freed", "instance freed", "device freed", in the order in which they happened.
/// Errors    as the script says.
/// Cancel    as the script says.
/// Threads   any.
/// Lifetime  copies share one state, which outlives them as long as a run, a context or a device does.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(FakeScript script = {}, std::shared_ptr<FakeTime> time = nullptr);

  [[nodiscard]] std::string_view name() const noexcept override { return "fake"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override;
  [[nodiscard]] bool recognises(const ModelSource& source) const override;
  std::unique_ptr<EngineDevice> open_device(std::string_view device) override;
  [[nodiscard]] NativeCounts native_counts() const noexcept override;

  /// An engine for whoever wants to share its ownership; one and the same state.
  [[nodiscard]] std::shared_ptr<Engine> share() const { return std::make_shared<FakeEngine>(*this); }

  /// Holds for what begins from now on; what is loaded keeps its signature and capabilities.
  void set_script(FakeScript script);
  void set_time(std::shared_ptr<FakeTime> time);

  [[nodiscard]] std::vector<std::string> log() const;
  /// The log from the first `entry` on: what followed on a "run", say.
  [[nodiscard]] std::vector<std::string> log_from(std::string_view entry) const;
  void clear_log();
  [[nodiscard]] FakeReport report() const;

  /// Lets every run that hangs now come back.
  void release_hung();
  [[nodiscard]] std::uint64_t hung_now() const;
  /// Blocks until `count` runs have begun, or hang; for tests with real threads.
  void await_runs_begun(std::uint64_t count) const;
  void await_hung(std::uint64_t count) const;
  /// What the driver's thread does every 10 ms.
  void tick_watchdog();

 private:
  std::shared_ptr<FakeState> state_;  // shared: a hung run outlives the engine and the test that made it
};

}  // namespace tenure::testing
