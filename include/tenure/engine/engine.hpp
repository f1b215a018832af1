#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/engine/stop_signal.hpp>
#include <tenure/tensor/tensor.hpp>

namespace tenure {

/// At what points an engine can end a run that it has begun.
enum class Stops : std::uint8_t { kNever, kPerNode, kPerToken, kPerBatch };
[[nodiscard]] std::string_view to_string(Stops stops) noexcept;

/// What an engine can do on a device with a model, as measured, not as hoped (design.md section 5).
struct Capabilities {
  Stops stops = Stops::kNever;
  bool concurrent_runs = false;  ///< several contexts of one instance may run at once
  bool thread_bound = false;     ///< create, run and destroy must be on one thread
  bool shares_weights = false;   ///< a second context costs no second copy of the weights
};

/// How many native objects of each tier live, counted where the engine's own create and destroy functions are
/// called: apart from the ledger, so that the ledger can be checked against it.
struct NativeCounts {
  std::int64_t devices = 0;
  std::int64_t instances = 0;
  std::int64_t contexts = 0;
  bool operator==(const NativeCounts&) const = default;
};

/// One engine on one kind of device, and whether it can be used here.
struct DeviceInfo {
  std::string device;  ///< "cpu", "gpu"
  bool available = false;
  std::string reason;  ///< why not, and what to do about it; empty where available
};

/// What a model takes and gives.
struct ModelSignature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  bool operator==(const ModelSignature&) const = default;
};

/// Where a model comes from. The engine reads or copies it during `load`; the caller's bytes may be freed at once.
struct ModelSource {
  std::filesystem::path file;                           ///< used where `bytes` is null
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< a model in memory; `file` then only names it

  [[nodiscard]] std::string name() const { return file.filename().string(); }
};

struct InstanceOptions {
  int threads = 1;         ///< intra-op threads
  bool stoppable = false;  ///< prefer kernels between which a run can be stopped, where they cost speed
};

/// How a native run came back. An error is thrown.
enum class RunEnd : std::uint8_t { kDone, kStopped };

/// Tier 3: what one run needs. Used by one thread at a time: its lane.
class EngineContext {
 public:
  virtual ~EngineContext() = default;
  /// Runs the model; returns when the native call is over and no memory of the caller is used any more.
  /// The views are checked against the signature before. Errors: kEngine with the engine's code; kDeviceLost.
  virtual RunEnd run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs,
                     StopSignal& stop) = 0;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
};

/// Tier 2: a model loaded on a device.
class EngineInstance {
 public:
  virtual ~EngineInstance() = default;
  [[nodiscard]] virtual const ModelSignature& signature() const noexcept = 0;
  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  virtual std::unique_ptr<EngineContext> create_context() = 0;
};

/// Tier 1: the compute resource. Outlives its instances; the caller keeps that order.
class EngineDevice {
 public:
  virtual ~EngineDevice() = default;
  [[nodiscard]] virtual std::string_view device() const noexcept = 0;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Loads a model. `stop` may be requested while it loads: then kAborted is thrown where the engine can stop.
  /// Errors: kNotFound, kDataLoss, kInvalidArgument (another kind of file), kResourceExhausted, kEngine.
  virtual std::unique_ptr<EngineInstance> load(const ModelSource& source, const InstanceOptions& options,
                                               StopSignal& stop) = 0;
};

/// One engine: LiteRT, ONNX Runtime, llama.cpp, or the scripted fake. Lives as long as the process, never unloaded.
///
/// Returns   see each member.
/// Errors    kUnavailable: the library or the device is not here; the message says what to do.
/// Cancel    no member is a cancellation point; `EngineContext::run` polls its StopSignal.
/// Threads   the engine's members from any thread. Device, instance and context from one thread at a time, and
///           from the one that made them where `thread_bound`.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
  /// Whether the file looks like one of this engine's, by its first bytes and its name.
  [[nodiscard]] virtual bool recognises(const ModelSource& source) const = 0;
  virtual std::unique_ptr<EngineDevice> open_device(std::string_view device) = 0;
  [[nodiscard]] virtual NativeCounts native_counts() const noexcept = 0;
};

}  // namespace tenure
