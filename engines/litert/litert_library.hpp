#pragma once

#include <litert/c/litert_common.h>
#include <litert/c/litert_compiled_model.h>
#include <litert/c/litert_environment.h>
#include <litert/c/litert_model.h>
#include <litert/c/litert_opaque_options.h>
#include <litert/c/litert_options.h>
#include <litert/c/litert_tensor_buffer.h>
#include <litert/c/litert_tensor_buffer_requirements.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tenure/engine/engine.hpp>

namespace tenure::litert {

/// The functions of libLiteRt.so that Tenure calls, each with the type of its own declaration.
struct LiteRtApi {
  decltype(&LiteRtCreateEnvironment) create_environment = nullptr;
  decltype(&LiteRtDestroyEnvironment) destroy_environment = nullptr;
  decltype(&LiteRtCreateModelFromBuffer) create_model_from_buffer = nullptr;
  decltype(&LiteRtDestroyModel) destroy_model = nullptr;
  decltype(&LiteRtGetModelSignature) get_model_signature = nullptr;
  decltype(&LiteRtGetNumModelSignatures) get_num_model_signatures = nullptr;
  decltype(&LiteRtGetNumSignatureInputs) get_num_signature_inputs = nullptr;
  decltype(&LiteRtGetNumSignatureOutputs) get_num_signature_outputs = nullptr;
  decltype(&LiteRtGetSignatureInputName) get_signature_input_name = nullptr;
  decltype(&LiteRtGetSignatureOutputName) get_signature_output_name = nullptr;
  decltype(&LiteRtGetSignatureInputTensorByIndex) get_signature_input_tensor = nullptr;
  decltype(&LiteRtGetSignatureOutputTensorByIndex) get_signature_output_tensor = nullptr;
  decltype(&LiteRtGetTensorTypeId) get_tensor_type_id = nullptr;
  decltype(&LiteRtGetRankedTensorType) get_ranked_tensor_type = nullptr;
  decltype(&LiteRtCreateOptions) create_options = nullptr;
  decltype(&LiteRtDestroyOptions) destroy_options = nullptr;
  decltype(&LiteRtSetOptionsHardwareAccelerators) set_options_hardware_accelerators = nullptr;
  decltype(&LiteRtCreateOpaqueOptions) create_opaque_options = nullptr;
  decltype(&LiteRtDestroyOpaqueOptions) destroy_opaque_options = nullptr;
  decltype(&LiteRtAddOpaqueOptions) add_opaque_options = nullptr;
  decltype(&LiteRtCreateCompiledModel) create_compiled_model = nullptr;
  decltype(&LiteRtDestroyCompiledModel) destroy_compiled_model = nullptr;
  decltype(&LiteRtGetCompiledModelInputBufferRequirements) get_input_requirements = nullptr;
  decltype(&LiteRtGetCompiledModelOutputBufferRequirements) get_output_requirements = nullptr;
  decltype(&LiteRtSetCompiledModelCancellationFunction) set_cancellation_function = nullptr;
  decltype(&LiteRtRunCompiledModel) run_compiled_model = nullptr;
  decltype(&LiteRtCreateManagedTensorBufferFromRequirements) create_tensor_buffer = nullptr;
  decltype(&LiteRtDestroyTensorBuffer) destroy_tensor_buffer = nullptr;
  decltype(&LiteRtGetTensorBufferSize) get_tensor_buffer_size = nullptr;
  decltype(&LiteRtGetTensorBufferPackedSize) get_tensor_buffer_packed_size = nullptr;
  decltype(&LiteRtLockTensorBuffer) lock_tensor_buffer = nullptr;
  decltype(&LiteRtUnlockTensorBuffer) unlock_tensor_buffer = nullptr;
  // Not called: it is what 2.1.6 exports and earlier releases don't, so its absence tells an older library.
  decltype(&LiteRtRunCompiledModelWithSchedulingInfo) run_with_scheduling_info = nullptr;
};

/// The opened library and the count of what lives in it. Never unloaded: its threads and exit handlers stay.
class LiteRtLibrary {
 public:
  /// Errors: kUnavailable, naming the library, what is wrong with it and what was expected.
  [[nodiscard]] static std::shared_ptr<LiteRtLibrary> open(const std::filesystem::path& folder);

  LiteRtLibrary(const LiteRtLibrary&) = delete;
  LiteRtLibrary& operator=(const LiteRtLibrary&) = delete;

  [[nodiscard]] const LiteRtApi& api() const noexcept { return api_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  /// Moved right beside the create and destroy calls of the engine, nowhere else.
  std::atomic<std::int64_t> environments{0};
  std::atomic<std::int64_t> compiled_models{0};
  std::atomic<std::int64_t> buffer_sets{0};

 private:
  explicit LiteRtLibrary(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  LiteRtApi api_;
};

/// Owns one native object; `Destroy` is the member of LiteRtApi that ends it.
template <class Handle, auto Destroy>
class Owned {
 public:
  explicit Owned(const LiteRtApi& api) noexcept : api_(&api) {}
  Owned(Owned&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  /// Where a create function writes to.
  [[nodiscard]] Handle* out() noexcept { return &handle_; }
  void reset() noexcept {
    if (handle_ != nullptr) (api_->*Destroy)(std::exchange(handle_, nullptr));
  }

 private:
  const LiteRtApi* api_;
  Handle handle_ = nullptr;
};

using OwnedModel = Owned<LiteRtModel, &LiteRtApi::destroy_model>;
using OwnedOptions = Owned<LiteRtOptions, &LiteRtApi::destroy_options>;
using OwnedCompiledModel = Owned<LiteRtCompiledModel, &LiteRtApi::destroy_compiled_model>;
using OwnedTensorBuffer = Owned<LiteRtTensorBuffer, &LiteRtApi::destroy_tensor_buffer>;

/// The name of a status; the library exports none.
[[nodiscard]] std::string_view status_name(LiteRtStatus status) noexcept;

/// Throws kEngine with the engine's own code unless `status` is Ok; `what` names what was tried.
void require_ok(LiteRtStatus status, const std::string& what);

}  // namespace tenure::litert
