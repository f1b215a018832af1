#include <cstring>
#include <string>
#include <tenure/base/error.hpp>
#include <tenure/engine/views.hpp>

#include "engines/litert/litert_instance.hpp"

namespace tenure::litert {
namespace {

LiteRtRankedTensorType ranked_type_of(const TensorSpec& spec) {
  LiteRtRankedTensorType type{};
  switch (spec.type) {
    case ElementType::kFloat32: type.element_type = kLiteRtElementTypeFloat32; break;
    case ElementType::kFloat16: type.element_type = kLiteRtElementTypeFloat16; break;
    case ElementType::kInt8: type.element_type = kLiteRtElementTypeInt8; break;
    case ElementType::kUInt8: type.element_type = kLiteRtElementTypeUInt8; break;
    case ElementType::kInt16: type.element_type = kLiteRtElementTypeInt16; break;
    case ElementType::kInt32: type.element_type = kLiteRtElementTypeInt32; break;
    case ElementType::kInt64: type.element_type = kLiteRtElementTypeInt64; break;
    case ElementType::kBool: type.element_type = kLiteRtElementTypeBool; break;
  }
  type.layout.rank = static_cast<unsigned>(spec.shape.size());
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    type.layout.dimensions[i] = static_cast<std::int32_t>(spec.shape[i]);
  return type;
}

/// The host memory of a tensor buffer, as long as this lives.
class LockedBuffer {
 public:
  LockedBuffer(const LiteRtApi& api, LiteRtTensorBuffer buffer, LiteRtTensorBufferLockMode mode)
      : api_(api), buffer_(buffer) {
    require_ok(api_.lock_tensor_buffer(buffer_, &address_, mode), "reach the memory of a tensor");
  }
  ~LockedBuffer() { api_.unlock_tensor_buffer(buffer_); }
  LockedBuffer(const LockedBuffer&) = delete;
  LockedBuffer& operator=(const LockedBuffer&) = delete;

  [[nodiscard]] void* address() const noexcept { return address_; }

 private:
  const LiteRtApi& api_;
  LiteRtTensorBuffer buffer_;
  void* address_ = nullptr;
};

/// The input and output buffers of one run.
class LiteRtContext final : public EngineContext {
 public:
  explicit LiteRtContext(LiteRtInstance& instance) : instance_(instance) {
    const ModelSignature& signature = instance.signature();
    for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
      LiteRtTensorBufferRequirements requirements = nullptr;
      require_ok(instance.api().get_input_requirements(instance.compiled(), 0, i, &requirements),
                 "tell what input '" + signature.inputs[i].name + "' needs");
      add(inputs_, signature.inputs[i], requirements);
    }
    for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
      LiteRtTensorBufferRequirements requirements = nullptr;
      require_ok(instance.api().get_output_requirements(instance.compiled(), 0, i, &requirements),
                 "tell what output '" + signature.outputs[i].name + "' needs");
      add(outputs_, signature.outputs[i], requirements);
    }
    for (const OwnedTensorBuffer& buffer : inputs_) raw_inputs_.push_back(buffer.get());
    for (const OwnedTensorBuffer& buffer : outputs_) raw_outputs_.push_back(buffer.get());
    instance.library().buffer_sets.fetch_add(1);
  }
  ~LiteRtContext() override {
    inputs_.clear();
    outputs_.clear();
    instance_.library().buffer_sets.fetch_sub(1);
  }
  LiteRtContext(const LiteRtContext&) = delete;
  LiteRtContext& operator=(const LiteRtContext&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept override { return bytes_; }

  RunEnd run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs, StopSignal& stop) override {
    require_views(instance_.signature(), inputs, outputs);
    const LiteRtApi& api = instance_.api();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const LockedBuffer locked(api, raw_inputs_[i], kLiteRtTensorBufferLockModeWrite);
      std::memcpy(locked.address(), inputs[i].bytes.data(), inputs[i].bytes.size());
    }
    bool stopped = false;
    const LiteRtStatus status = instance_.run(raw_inputs_, raw_outputs_, stop, stopped);
    // A run that was told to stop answers RuntimeFailure, not Cancelled; the callback knows the difference. One that
    // was told after its last node answers Ok, and is done.
    if (stopped && status != kLiteRtStatusOk) return RunEnd::kStopped;
    require_ok(status, "run the model");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const LockedBuffer locked(api, raw_outputs_[i], kLiteRtTensorBufferLockModeRead);
      std::memcpy(outputs[i].bytes.data(), locked.address(), outputs[i].bytes.size());
    }
    return RunEnd::kDone;
  }

 private:
  void add(std::vector<OwnedTensorBuffer>& side, const TensorSpec& spec, LiteRtTensorBufferRequirements requirements) {
    const LiteRtApi& api = instance_.api();
    const LiteRtRankedTensorType type = ranked_type_of(spec);
    OwnedTensorBuffer buffer(api);
    require_ok(api.create_tensor_buffer(instance_.environment(), &type, requirements, buffer.out()),
               "make a buffer for tensor '" + spec.name + "'");
    std::size_t packed = 0;
    std::size_t size = 0;
    require_ok(api.get_tensor_buffer_packed_size(buffer.get(), &packed), "measure tensor '" + spec.name + "'");
    require_ok(api.get_tensor_buffer_size(buffer.get(), &size), "measure tensor '" + spec.name + "'");
    // The copies in and out rely on it.
    if (packed != spec.byte_size() || size < packed) {
      throw Error(ErrorCode::kEngine, "LiteRT gave tensor '" + spec.name + "' a buffer of " + std::to_string(packed) +
                                          " bytes; expected " + std::to_string(spec.byte_size()));
    }
    bytes_ += size;
    side.push_back(std::move(buffer));
  }

  LiteRtInstance& instance_;  // outlives its contexts
  std::vector<OwnedTensorBuffer> inputs_;
  std::vector<OwnedTensorBuffer> outputs_;
  std::vector<LiteRtTensorBuffer> raw_inputs_;
  std::vector<LiteRtTensorBuffer> raw_outputs_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<EngineContext> LiteRtInstance::create_context() { return std::make_unique<LiteRtContext>(*this); }

}  // namespace tenure::litert
