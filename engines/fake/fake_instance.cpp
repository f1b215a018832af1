#include <algorithm>
#include <cstring>
#include <tenure/base/file.hpp>
#include <tenure/engine/views.hpp>

#include "engines/fake/fake_state.hpp"

namespace tenure::testing {
namespace {

constexpr std::int64_t kScriptedEngineCode = 42;

void compute_by_default(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs) {
  if (inputs.empty() || inputs[0].bytes.empty()) return;
  const ConstTensorView& input = inputs[0];
  for (const TensorView& output : outputs) {
    const bool floats = input.spec->type == ElementType::kFloat32 && output.spec->type == ElementType::kFloat32;
    for (std::size_t i = 0; i < output.bytes.size(); ++i) output.bytes[i] = input.bytes[i % input.bytes.size()];
    if (!floats) continue;
    for (std::size_t at = 0; at + sizeof(float) <= output.bytes.size(); at += sizeof(float)) {
      float value = 0.0F;
      std::memcpy(&value, output.bytes.data() + at, sizeof(value));
      value *= 2.0F;
      std::memcpy(output.bytes.data() + at, &value, sizeof(value));
    }
  }
}

void compute(const FakeScript& script, std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs) {
  if (script.compute) {
    script.compute(inputs, outputs);
  } else {
    compute_by_default(inputs, outputs);
  }
}

/// Lets `duration` pass, in steps where the work can be stopped. True where it was stopped.
bool pass_time(FakeTime& time, Duration duration, bool stoppable, std::uint32_t steps, StopSignal& stop) {
  if (!stoppable || steps == 0) {
    time.sleep(duration, stop);
    return false;
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (stop.requested()) return true;
    // What the division leaves over goes to the last step, so that the whole takes the time it was given.
    time.sleep(step + 1 == steps ? duration - duration / steps * (steps - 1) : duration / steps, stop);
    stop.step();
  }
  return false;
}

/// Ends the run in the books whatever way it is left. Holds all it needs: the context may be freed under the run.
class RunInProgress {
 public:
  RunInProgress(std::shared_ptr<FakeState> state, FakeNativePtr context)
      : state_(std::move(state)), context_(std::move(context)), number_(state_->begin_run(context_)) {}
  ~RunInProgress() { state_->end_run(context_, result_); }
  RunInProgress(const RunInProgress&) = delete;
  RunInProgress& operator=(const RunInProgress&) = delete;

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  void came_back(FakeState::RunResult result) noexcept { result_ = result; }

 private:
  std::shared_ptr<FakeState> state_;
  FakeNativePtr context_;
  std::uint64_t number_;
  FakeState::RunResult result_ = FakeState::RunResult::kFailed;
};

class FakeContext final : public EngineContext {
 public:
  FakeContext(std::shared_ptr<FakeState> state, std::shared_ptr<const ModelSignature> signature, FakeNativePtr instance,
              const FakeScript& script)
      : state_(std::move(state)),
        signature_(std::move(signature)),
        bytes_(script.context_bytes),
        native_(state_->create(FakeTier::kContext, std::move(instance), script)) {}
  ~FakeContext() override { state_->destroy(native_); }
  FakeContext(const FakeContext&) = delete;
  FakeContext& operator=(const FakeContext&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }
  RunEnd run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs, StopSignal& stop) override {
    require_views(*signature_, inputs, outputs);
    // Nothing of `this` is used below: a test of misuse destroys it in mid-run.
    return run_native(state_, native_, inputs, outputs, stop);
  }

 private:
  // By value: these copies are what stays when the context goes.
  static RunEnd run_native(std::shared_ptr<FakeState> state,  // NOLINT(performance-unnecessary-value-param)
                           FakeNativePtr native,              // NOLINT(performance-unnecessary-value-param)
                           std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs,
                           StopSignal& stop) {
    const std::shared_ptr<const FakeScript> script = state->script();
    const std::shared_ptr<FakeTime> time = state->time();
    RunInProgress run(state, native);
    if (state->lose_device(native, run.number(), *script)) {
      throw Error(ErrorCode::kDeviceLost, "the script loses the device", kScriptedEngineCode);
    }
    if (!script->late_write) compute(*script, inputs, outputs);
    const bool stopped = pass_time(*time, script->run_time, script->stops != Stops::kNever, script->steps, stop);
    if (!stopped && script->hang_run_at.contains(run.number())) state->hang();
    if (script->late_write) compute(*script, inputs, outputs);
    if (stopped) {
      run.came_back(FakeState::RunResult::kStopped);
      return RunEnd::kStopped;
    }
    if (script->fail_run_at.contains(run.number())) {
      throw Error(ErrorCode::kEngine, "the script lets run " + std::to_string(run.number()) + " fail",
                  kScriptedEngineCode);
    }
    run.came_back(FakeState::RunResult::kDone);
    return RunEnd::kDone;
  }

  std::shared_ptr<FakeState> state_;
  std::shared_ptr<const ModelSignature> signature_;
  std::size_t bytes_;
  FakeNativePtr native_;
};

class FakeInstance final : public EngineInstance {
 public:
  FakeInstance(std::shared_ptr<FakeState> state, const FakeNativePtr& device, const FakeScript& script)
      : state_(std::move(state)),
        signature_(std::make_shared<const ModelSignature>(script.signature)),
        capabilities_{.stops = script.stops,
                      .concurrent_runs = script.concurrent_runs,
                      .thread_bound = script.thread_bound,
                      .shares_weights = script.shares_weights},
        bytes_(script.instance_bytes),
        native_(state_->create(FakeTier::kInstance, device, script)) {}
  ~FakeInstance() override { state_->destroy(native_); }
  FakeInstance(const FakeInstance&) = delete;
  FakeInstance& operator=(const FakeInstance&) = delete;

  [[nodiscard]] const ModelSignature& signature() const noexcept override { return *signature_; }
  [[nodiscard]] Capabilities capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }
  std::unique_ptr<EngineContext> create_context() override {
    const std::shared_ptr<const FakeScript> script = state_->script();
    if (script->fail_context) throw Error(*script->fail_context, "the script lets the context fail");
    return std::make_unique<FakeContext>(state_, signature_, native_, *script);
  }

 private:
  std::shared_ptr<FakeState> state_;
  std::shared_ptr<const ModelSignature> signature_;
  Capabilities capabilities_;
  std::size_t bytes_;
  FakeNativePtr native_;
};

void require_fake_model(const ModelSource& source) {
  const std::vector<std::byte> bytes = source.bytes != nullptr ? *source.bytes : read_file(source.file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = "'" + source.file.string() + "'";
  if (text == kFakeModel) return;
  if (text.empty()) throw Error(ErrorCode::kDataLoss, name + " is empty; expected a fake model");
  if (text.starts_with("FAKE"))
    throw Error(ErrorCode::kDataLoss, name + " is damaged or cut short; expected a fake model");
  const std::string_view kind = kind_of_file(bytes);
  throw Error(ErrorCode::kInvalidArgument,
              name + " is " + (kind.empty() ? "no fake model" : std::string(kind)) + "; expected a fake model");
}

}  // namespace

std::unique_ptr<EngineInstance> load_fake(const std::shared_ptr<FakeState>& state, const FakeNativePtr& device,
                                          const ModelSource& source, StopSignal& stop) {
  const std::shared_ptr<const FakeScript> script = state->script();
  if (script->require_file) require_fake_model(source);
  if (pass_time(*state->time(), script->load_time, script->load_stops, script->steps, stop)) {
    throw Error(ErrorCode::kAborted, "the load of '" + source.name() + "' was stopped");
  }
  if (script->fail_load) throw Error(*script->fail_load, "the script lets the load of '" + source.name() + "' fail");
  return std::make_unique<FakeInstance>(state, device, *script);
}

}  // namespace tenure::testing
