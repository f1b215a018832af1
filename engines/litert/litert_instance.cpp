#include "engines/litert/litert_instance.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>

#include "engines/litert/litert_device.hpp"
#include "engines/litert/tflite_verify.hpp"

namespace tenure::litert {
namespace {

// The engine takes the text over and frees it with the function given beside it.
void add_toml(const LiteRtApi& api, LiteRtOptions options, const char* identifier, const std::string& toml) {
  char* text = strdup(toml.c_str());
  if (text == nullptr) throw std::bad_alloc();
  LiteRtOpaqueOptions opaque = nullptr;
  const LiteRtStatus made = api.create_opaque_options(identifier, text, [](void* data) { std::free(data); }, &opaque);
  if (made != kLiteRtStatusOk) std::free(text);
  require_ok(made, std::string("make options for ") + identifier);
  const LiteRtStatus added = api.add_opaque_options(options, opaque);
  if (added != kLiteRtStatusOk) api.destroy_opaque_options(opaque);
  require_ok(added, std::string("add options for ") + identifier);
}

OwnedOptions make_options(const LiteRtApi& api, int threads, bool builtin_kernels) {
  OwnedOptions options(api);
  require_ok(api.create_options(options.out()), "make options");
  require_ok(api.set_options_hardware_accelerators(options.get(), kLiteRtHwAcceleratorCpu), "choose the CPU");
  std::string toml = "num_threads = " + std::to_string(threads) + "\n";
  if (builtin_kernels) toml += "kernel_mode = \"builtin\"\n";
  add_toml(api, options.get(), "xnnpack", toml);
  // Mode 2 keeps the engine's account of an error for us; every other one writes it to stderr.
  add_toml(api, options.get(), "runtime_options_string", "error_reporter_mode = 2\n");
  return options;
}

std::optional<ElementType> element_type_of(LiteRtElementType type) noexcept {
  switch (type) {
    case kLiteRtElementTypeFloat32: return ElementType::kFloat32;
    case kLiteRtElementTypeFloat16: return ElementType::kFloat16;
    case kLiteRtElementTypeInt8: return ElementType::kInt8;
    case kLiteRtElementTypeUInt8: return ElementType::kUInt8;
    case kLiteRtElementTypeInt16: return ElementType::kInt16;
    case kLiteRtElementTypeInt32: return ElementType::kInt32;
    case kLiteRtElementTypeInt64: return ElementType::kInt64;
    case kLiteRtElementTypeBool: return ElementType::kBool;
    default: return std::nullopt;
  }
}

TensorSpec spec_of(const LiteRtApi& api, LiteRtTensor tensor, std::string name) {
  LiteRtTensorTypeId kind{};
  require_ok(api.get_tensor_type_id(tensor, &kind), "tell the type of tensor '" + name + "'");
  if (kind != kLiteRtRankedTensorType) {
    throw Error(ErrorCode::kUnimplemented, "tensor '" + name + "' has no rank; expected a model with fixed ranks");
  }
  LiteRtRankedTensorType type{};
  require_ok(api.get_ranked_tensor_type(tensor, &type), "tell the shape of tensor '" + name + "'");
  const std::optional<ElementType> element = element_type_of(type.element_type);
  if (!element) {
    throw Error(ErrorCode::kUnimplemented, "tensor '" + name + "' has elements of LiteRT's type " +
                                               std::to_string(type.element_type) +
                                               "; expected a float, an integer up to 64 bits or bool");
  }
  TensorSpec spec{.name = std::move(name), .type = *element, .shape = {}};
  for (unsigned i = 0; i < type.layout.rank; ++i) spec.shape.push_back(type.layout.dimensions[i]);
  return spec;
}

// A model without a signature gets one from LiteRT whose names are those of its tensors; a tensor may have none at all.
std::string name_or_place(const char* name, const char* side, LiteRtParamIndex index) {
  if (name != nullptr && *name != '\0') return name;
  return std::string(side) + "_" + std::to_string(index);
}

ModelSignature signature_of(const LiteRtApi& api, LiteRtModel model) {
  LiteRtSignature signature = nullptr;
  require_ok(api.get_model_signature(model, 0, &signature), "read the model's signature");
  ModelSignature result;
  LiteRtParamIndex count = 0;
  require_ok(api.get_num_signature_inputs(signature, &count), "count the model's inputs");
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    const char* name = nullptr;
    LiteRtTensor tensor = nullptr;
    require_ok(api.get_signature_input_name(signature, i, &name), "name an input");
    require_ok(api.get_signature_input_tensor(signature, i, &tensor), "find an input");
    result.inputs.push_back(spec_of(api, tensor, name_or_place(name, "input", i)));
  }
  require_ok(api.get_num_signature_outputs(signature, &count), "count the model's outputs");
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    const char* name = nullptr;
    LiteRtTensor tensor = nullptr;
    require_ok(api.get_signature_output_name(signature, i, &name), "name an output");
    require_ok(api.get_signature_output_tensor(signature, i, &tensor), "find an output");
    result.outputs.push_back(spec_of(api, tensor, name_or_place(name, "output", i)));
  }
  return result;
}

void require_not_stopped(const StopSignal& stop, const ModelSource& source) {
  if (stop.requested()) throw Error(ErrorCode::kAborted, "the load of '" + source.name() + "' was stopped");
}

}  // namespace

LiteRtInstance::LiteRtInstance(std::shared_ptr<LiteRtLibrary> library, LiteRtEnvironment environment,
                               std::vector<std::byte> bytes, const TfliteSummary& summary, const std::string& name)
    : library_(std::move(library)),
      environment_(environment),
      summary_(summary),
      options_(library_->api()),
      bytes_(std::move(bytes)),
      model_(library_->api()),
      compiled_(library_->api()) {
  const LiteRtApi& api = library_->api();
  require_ok(api.create_model_from_buffer(environment_, bytes_.data(), bytes_.size(), model_.out()),
             "read the model '" + name + "'");
  signature_ = signature_of(api, model_.get());
}

LiteRtInstance::~LiteRtInstance() {
  if (compiled_.get() == nullptr) return;
  compiled_.reset();
  library_->compiled_models.fetch_sub(1);
}

LiteRtStatus LiteRtInstance::compile(int threads, bool builtin_kernels) {
  const LiteRtApi& api = library_->api();
  OwnedOptions options = make_options(api, threads, builtin_kernels);
  const LiteRtStatus status = api.create_compiled_model(environment_, model_.get(), options.get(), compiled_.out());
  if (status != kLiteRtStatusOk) return status;
  library_->compiled_models.fetch_add(1);
  options_ = std::move(options);
  stoppable_ = builtin_kernels;
  if (stoppable_) {
    require_ok(api.set_cancellation_function(compiled_.get(), this, &LiteRtInstance::poll_stop), "listen for a stop");
  }
  return status;
}

Capabilities LiteRtInstance::capabilities() const noexcept {
  return {.stops = stoppable_ ? Stops::kPerNode : Stops::kNever,
          .concurrent_runs = false,
          .thread_bound = false,
          .shares_weights = true};
}

std::size_t LiteRtInstance::bytes() const noexcept {
  // Computed, since the engine tells nothing: see "Bytes" in README.md for how near it comes.
  const std::uint64_t weights = stoppable_ ? summary_.converted_weight_bytes : summary_.weight_elements * sizeof(float);
  return bytes_.size() + static_cast<std::size_t>(weights + summary_.peak_activation_bytes);
}

bool LiteRtInstance::poll_stop(void* instance) noexcept {
  // The signal of the run that is going on, and of no other: so a stop can't reach the next run (I12).
  auto* self = static_cast<LiteRtInstance*>(instance);
  StopSignal* stop = self->current_stop_.load(std::memory_order_acquire);
  if (stop == nullptr) return false;
  stop->step();
  if (!stop->requested()) return false;
  self->stop_seen_.store(true, std::memory_order_relaxed);  // read by the same thread, after the run
  return true;
}

LiteRtStatus LiteRtInstance::run(std::vector<LiteRtTensorBuffer>& inputs, std::vector<LiteRtTensorBuffer>& outputs,
                                 StopSignal& stop, bool& stopped) {
  StopSignal* idle = nullptr;
  // acquire and release: the engine's own state, which the last run left, must be seen by this one.
  if (!current_stop_.compare_exchange_strong(idle, &stop, std::memory_order_acq_rel)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "another context of this model is running; LiteRT runs one at a time on an instance");
  }
  stop_seen_.store(false, std::memory_order_relaxed);
  const LiteRtStatus status = library_->api().run_compiled_model(compiled_.get(), 0, inputs.size(), inputs.data(),
                                                                 outputs.size(), outputs.data());
  stopped = stop_seen_.load(std::memory_order_relaxed);
  current_stop_.store(nullptr, std::memory_order_release);
  return status;
}

std::unique_ptr<EngineInstance> load_instance(std::shared_ptr<LiteRtLibrary> library, LiteRtEnvironment environment,
                                              const ModelSource& source, const InstanceOptions& options,
                                              StopSignal& stop) {
  // Copied, also from memory: the engine works on the bytes as long as the instance lives.
  std::vector<std::byte> bytes = source.bytes != nullptr ? *source.bytes : read_file(source.file);
  const std::string name = source.file.string();
  const TfliteSummary summary = verify_tflite(bytes, name);
  require_not_stopped(stop, source);
  auto instance = std::make_unique<LiteRtInstance>(std::move(library), environment, std::move(bytes), summary, name);
  const int threads = std::max(options.threads, 1);
  // Stoppable is a wish: a model that the builtin kernels can't run goes on XNNPACK, and its capabilities say so. One
  // with a custom operator compiles for them, but only XNNPACK has more than a stub of it.
  if (options.stoppable && summary.custom_operators == 0 && instance->compile(threads, true) == kLiteRtStatusOk)
    return instance;
  require_not_stopped(stop, source);
  require_ok(instance->compile(threads, false), "compile the model '" + name + "'");
  return instance;
}

}  // namespace tenure::litert
