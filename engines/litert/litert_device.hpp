#pragma once

#include <memory>
#include <string>

#include "engines/litert/litert_library.hpp"

namespace tenure::litert {

/// One LiteRT environment.
class LiteRtDevice final : public EngineDevice {
 public:
  explicit LiteRtDevice(std::shared_ptr<LiteRtLibrary> library);
  ~LiteRtDevice() override;
  LiteRtDevice(const LiteRtDevice&) = delete;
  LiteRtDevice& operator=(const LiteRtDevice&) = delete;

  [[nodiscard]] std::string_view device() const noexcept override { return "cpu"; }
  [[nodiscard]] std::size_t bytes() const noexcept override;
  std::unique_ptr<EngineInstance> load(const ModelSource& source, const InstanceOptions& options,
                                       StopSignal& stop) override;

 private:
  std::shared_ptr<LiteRtLibrary> library_;  // shared: a hung run keeps its device after the engine has gone
  LiteRtEnvironment environment_ = nullptr;
};

/// Reads, verifies and compiles a model.
[[nodiscard]] std::unique_ptr<EngineInstance> load_instance(std::shared_ptr<LiteRtLibrary> library,
                                                            LiteRtEnvironment environment, const ModelSource& source,
                                                            const InstanceOptions& options, StopSignal& stop);

}  // namespace tenure::litert
