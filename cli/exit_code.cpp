#include "cli/exit_code.hpp"

namespace tenure::cli {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kDataLoss:
    case ErrorCode::kUnimplemented:  // the engine does not know this kind of model
    case ErrorCode::kEngine:         // it refused this model, or failed on it
      return kBadInput;
    case ErrorCode::kUnavailable: return kEngineMissing;
    case ErrorCode::kClosed:
    case ErrorCode::kAborted:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kDeviceLost:
    case ErrorCode::kInternal: return kCheckFailed;
  }
  return kCheckFailed;
}

}  // namespace tenure::cli
