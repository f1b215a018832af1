#include "engines/litert/litert_device.hpp"

#include <array>

namespace tenure::litert {
namespace {

constexpr std::int64_t kSilent = 4;  // LiteRtLogSeverity: nothing is written to stderr, errors come as errors

LiteRtEnvOption int_option(LiteRtEnvOptionTag tag, std::int64_t value) noexcept {
  LiteRtEnvOption option{};
  option.tag = tag;
  option.value.type = kLiteRtAnyTypeInt;
  option.value.int_value = value;
  return option;
}

}  // namespace

LiteRtDevice::LiteRtDevice(std::shared_ptr<LiteRtLibrary> library) : library_(std::move(library)) {
  // Only the CPU is registered: the search for the other accelerators opens libraries by name.
  const std::array options = {int_option(kLiteRtEnvOptionTagMinLoggerSeverity, kSilent),
                              int_option(kLiteRtEnvOptionTagAutoRegisterAccelerators, kLiteRtHwAcceleratorCpu)};
  require_ok(library_->api().create_environment(static_cast<int>(options.size()), options.data(), &environment_),
             "make an environment");
  library_->environments.fetch_add(1);
}

LiteRtDevice::~LiteRtDevice() {
  library_->api().destroy_environment(environment_);
  library_->environments.fetch_sub(1);
}

std::size_t LiteRtDevice::bytes() const noexcept { return 0; }

std::unique_ptr<EngineInstance> LiteRtDevice::load(const ModelSource& source, const InstanceOptions& options,
                                                   StopSignal& stop) {
  return load_instance(library_, environment_, source, options, stop);
}

}  // namespace tenure::litert
