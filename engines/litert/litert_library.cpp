#include "engines/litert/litert_library.hpp"

#include <dlfcn.h>

#include <tenure/base/error.hpp>

namespace tenure::litert {
namespace {

constexpr std::string_view kLibraryName = "libLiteRt.so";
constexpr std::string_view kExpected = "expected libLiteRt.so of LiteRT 2.1.6 (PyPI ai-edge-litert 2.1.6)";

std::string last_loader_error() {
  const char* message = dlerror();
  return message != nullptr ? message : "no reason given";
}

class SymbolLoader {
 public:
  SymbolLoader(void* library, const std::filesystem::path& file) : library_(library), file_(file) {}

  template <class Function>
  void load(Function& function, const char* name) const {
    void* address = dlsym(library_, name);
    if (address == nullptr) {
      throw Error(ErrorCode::kUnavailable,
                  "'" + file_.string() + "' has no function " + name + "; " + std::string(kExpected));
    }
    function = reinterpret_cast<Function>(address);
  }

 private:
  void* library_;
  const std::filesystem::path& file_;
};

}  // namespace

std::shared_ptr<LiteRtLibrary> LiteRtLibrary::open(const std::filesystem::path& folder) {
  // Absolute, so that neither the loader's search path nor the working folder decides what code is run.
  const std::filesystem::path file = std::filesystem::absolute(folder) / kLibraryName;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw Error(ErrorCode::kUnavailable, "there is no '" + file.string() + "'; " + std::string(kExpected));
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::kUnavailable,
                "'" + file.string() + "' could not be opened (" + last_loader_error() + "); " + std::string(kExpected));
  }
  std::shared_ptr<LiteRtLibrary> opened(new LiteRtLibrary(file.parent_path()));
  const SymbolLoader loader(library, file);
  LiteRtApi& api = opened->api_;
  loader.load(api.create_environment, "LiteRtCreateEnvironment");
  loader.load(api.destroy_environment, "LiteRtDestroyEnvironment");
  loader.load(api.create_model_from_buffer, "LiteRtCreateModelFromBuffer");
  loader.load(api.destroy_model, "LiteRtDestroyModel");
  loader.load(api.get_model_signature, "LiteRtGetModelSignature");
  loader.load(api.get_num_model_signatures, "LiteRtGetNumModelSignatures");
  loader.load(api.get_num_signature_inputs, "LiteRtGetNumSignatureInputs");
  loader.load(api.get_num_signature_outputs, "LiteRtGetNumSignatureOutputs");
  loader.load(api.get_signature_input_name, "LiteRtGetSignatureInputName");
  loader.load(api.get_signature_output_name, "LiteRtGetSignatureOutputName");
  loader.load(api.get_signature_input_tensor, "LiteRtGetSignatureInputTensorByIndex");
  loader.load(api.get_signature_output_tensor, "LiteRtGetSignatureOutputTensorByIndex");
  loader.load(api.get_tensor_type_id, "LiteRtGetTensorTypeId");
  loader.load(api.get_ranked_tensor_type, "LiteRtGetRankedTensorType");
  loader.load(api.create_options, "LiteRtCreateOptions");
  loader.load(api.destroy_options, "LiteRtDestroyOptions");
  loader.load(api.set_options_hardware_accelerators, "LiteRtSetOptionsHardwareAccelerators");
  loader.load(api.create_opaque_options, "LiteRtCreateOpaqueOptions");
  loader.load(api.destroy_opaque_options, "LiteRtDestroyOpaqueOptions");
  loader.load(api.add_opaque_options, "LiteRtAddOpaqueOptions");
  loader.load(api.create_compiled_model, "LiteRtCreateCompiledModel");
  loader.load(api.destroy_compiled_model, "LiteRtDestroyCompiledModel");
  loader.load(api.get_input_requirements, "LiteRtGetCompiledModelInputBufferRequirements");
  loader.load(api.get_output_requirements, "LiteRtGetCompiledModelOutputBufferRequirements");
  loader.load(api.set_cancellation_function, "LiteRtSetCompiledModelCancellationFunction");
  loader.load(api.run_compiled_model, "LiteRtRunCompiledModel");
  loader.load(api.create_tensor_buffer, "LiteRtCreateManagedTensorBufferFromRequirements");
  loader.load(api.destroy_tensor_buffer, "LiteRtDestroyTensorBuffer");
  loader.load(api.get_tensor_buffer_size, "LiteRtGetTensorBufferSize");
  loader.load(api.get_tensor_buffer_packed_size, "LiteRtGetTensorBufferPackedSize");
  loader.load(api.lock_tensor_buffer, "LiteRtLockTensorBuffer");
  loader.load(api.unlock_tensor_buffer, "LiteRtUnlockTensorBuffer");
  loader.load(api.run_with_scheduling_info, "LiteRtRunCompiledModelWithSchedulingInfo");
  return opened;
}

std::string_view status_name(LiteRtStatus status) noexcept {
  switch (static_cast<int>(status)) {
    case kLiteRtStatusOk: return "Ok";
    case kLiteRtStatusErrorInvalidArgument: return "InvalidArgument";
    case kLiteRtStatusErrorMemoryAllocationFailure: return "MemoryAllocationFailure";
    case kLiteRtStatusErrorRuntimeFailure: return "RuntimeFailure";
    case kLiteRtStatusErrorMissingInputTensor: return "MissingInputTensor";
    case kLiteRtStatusErrorUnsupported: return "Unsupported";
    case kLiteRtStatusErrorNotFound: return "NotFound";
    case kLiteRtStatusErrorTimeoutExpired: return "TimeoutExpired";
    case kLiteRtStatusErrorWrongVersion: return "WrongVersion";
    case kLiteRtStatusErrorUnknown: return "Unknown";
    case kLiteRtStatusErrorAlreadyExists: return "AlreadyExists";
    case kLiteRtStatusCancelled: return "Cancelled";
    case kLiteRtStatusErrorFileIO: return "FileIO";
    case kLiteRtStatusErrorInvalidFlatbuffer: return "InvalidFlatbuffer";
    case kLiteRtStatusErrorDynamicLoading: return "DynamicLoading";
    case kLiteRtStatusErrorSerialization: return "Serialization";
    case kLiteRtStatusErrorCompilation: return "Compilation";
    case kLiteRtStatusErrorIndexOOB: return "IndexOOB";
    case kLiteRtStatusErrorInvalidIrType: return "InvalidIrType";
    case kLiteRtStatusErrorInvalidGraphInvariant: return "InvalidGraphInvariant";
    default: return "another status";
  }
}

void require_ok(LiteRtStatus status, const std::string& what) {
  if (status == kLiteRtStatusOk) return;
  const ErrorCode code =
      status == kLiteRtStatusErrorMemoryAllocationFailure ? ErrorCode::kResourceExhausted : ErrorCode::kEngine;
  throw Error(code, "LiteRT could not " + what + ": " + std::string(status_name(status)), status);
}

}  // namespace tenure::litert
