#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engines/litert/litert_library.hpp"
#include "engines/litert/tflite_verify.hpp"

namespace tenure::litert {

/// One compiled model with all that it stands on.
class LiteRtInstance final : public EngineInstance {
 public:
  LiteRtInstance(std::shared_ptr<LiteRtLibrary> library, LiteRtEnvironment environment, std::vector<std::byte> bytes,
                 const TfliteSummary& summary, const std::string& name);
  ~LiteRtInstance() override;
  LiteRtInstance(const LiteRtInstance&) = delete;
  LiteRtInstance& operator=(const LiteRtInstance&) = delete;

  /// Once, after construction, until it answers Ok.
  [[nodiscard]] LiteRtStatus compile(int threads, bool builtin_kernels);
  /// One run on buffers of this model; `stopped` tells whether the engine was told to stop.
  [[nodiscard]] LiteRtStatus run(std::vector<LiteRtTensorBuffer>& inputs, std::vector<LiteRtTensorBuffer>& outputs,
                                 StopSignal& stop, bool& stopped);

  [[nodiscard]] const ModelSignature& signature() const noexcept override { return signature_; }
  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::size_t bytes() const noexcept override;
  std::unique_ptr<EngineContext> create_context() override;

  [[nodiscard]] const LiteRtApi& api() const noexcept { return library_->api(); }
  [[nodiscard]] LiteRtLibrary& library() noexcept { return *library_; }
  [[nodiscard]] LiteRtEnvironment environment() const noexcept { return environment_; }
  [[nodiscard]] LiteRtCompiledModel compiled() const noexcept { return compiled_.get(); }

 private:
  static bool poll_stop(void* instance) noexcept;

  std::shared_ptr<LiteRtLibrary> library_;  // shared: see LiteRtDevice
  LiteRtEnvironment environment_;           // the device's, which outlives this
  ModelSignature signature_;
  TfliteSummary summary_;
  bool stoppable_ = false;
  std::atomic<StopSignal*> current_stop_{nullptr};
  std::atomic<bool> stop_seen_{false};
  // Released from the last to the first: compiled model, model, the bytes that both read, options.
  OwnedOptions options_;
  std::vector<std::byte> bytes_;
  OwnedModel model_;
  OwnedCompiledModel compiled_;
};

}  // namespace tenure::litert
