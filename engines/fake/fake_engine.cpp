#include "engines/fake/fake_engine.hpp"

#include <algorithm>

#include "engines/fake/fake_state.hpp"

namespace tenure::testing {
namespace {

class FakeDevice final : public EngineDevice {
 public:
  FakeDevice(std::shared_ptr<FakeState> state, std::string device)
      : state_(std::move(state)), device_(std::move(device)) {
    const std::shared_ptr<const FakeScript> script = state_->script();
    bytes_ = script->device_bytes;
    native_ = state_->create(FakeTier::kDevice, nullptr, *script);
  }
  ~FakeDevice() override { state_->destroy(native_); }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  [[nodiscard]] std::string_view device() const noexcept override { return device_; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }
  std::unique_ptr<EngineInstance> load(const ModelSource& source, const InstanceOptions& /*options*/,
                                       StopSignal& stop) override {
    return load_fake(state_, native_, source, stop);
  }

 private:
  std::shared_ptr<FakeState> state_;
  std::string device_;
  std::size_t bytes_ = 0;
  FakeNativePtr native_;
};

}  // namespace

FakeEngine::FakeEngine(FakeScript script, std::shared_ptr<FakeTime> time)
    : state_(std::make_shared<FakeState>(std::move(script), std::move(time))) {}

std::vector<DeviceInfo> FakeEngine::devices() {
  const bool refused = state_->script()->refuse_accelerator;
  return {{.device = "cpu", .available = true, .reason = ""},
          {.device = "gpu", .available = !refused, .reason = refused ? "the script refuses the accelerator" : ""}};
}

bool FakeEngine::recognises(const ModelSource& source) const {
  return source.file.extension() == ".fake" || source.file.filename() == "fake";
}

std::unique_ptr<EngineDevice> FakeEngine::open_device(std::string_view device) {
  const std::shared_ptr<const FakeScript> script = state_->script();
  if (device != "cpu" && device != "gpu") {
    throw Error(ErrorCode::kNotFound,
                "the fake engine has no device '" + std::string(device) + "'; there are cpu, gpu");
  }
  if (device == "gpu" && script->refuse_accelerator) {
    throw Error(ErrorCode::kUnavailable, "the fake engine has no gpu here: the script refuses the accelerator");
  }
  if (script->fail_device) throw Error(*script->fail_device, "the script lets the device fail");
  return std::make_unique<FakeDevice>(state_, std::string(device));
}

NativeCounts FakeEngine::native_counts() const noexcept { return state_->counts(); }

void FakeEngine::set_script(FakeScript script) { state_->set_script(std::move(script)); }
void FakeEngine::set_time(std::shared_ptr<FakeTime> time) { state_->set_time(std::move(time)); }
std::vector<std::string> FakeEngine::log() const { return state_->log(); }

std::vector<std::string> FakeEngine::log_from(std::string_view entry) const {
  std::vector<std::string> entries = state_->log();
  entries.erase(entries.begin(), std::ranges::find(entries, entry));
  return entries;
}

void FakeEngine::clear_log() { state_->clear_log(); }
FakeReport FakeEngine::report() const { return state_->report(); }
void FakeEngine::release_hung() { state_->release_hung(); }
std::uint64_t FakeEngine::hung_now() const { return state_->hung_now(); }
void FakeEngine::await_runs_begun(std::uint64_t count) const { state_->await_runs_begun(count); }
void FakeEngine::await_hung(std::uint64_t count) const { state_->await_hung(count); }
void FakeEngine::tick_watchdog() { state_->tick_watchdog(); }

}  // namespace tenure::testing
