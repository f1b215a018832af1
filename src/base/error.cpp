#include <tenure/base/error.hpp>

namespace tenure {
namespace {

std::string text_of(ErrorCode code, const std::string& message, std::int64_t engine_code) {
  std::string text(to_string(code));
  text += ": ";
  text += message;
  if (engine_code != 0) text += " (engine code " + std::to_string(engine_code) + ")";
  return text;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kClosed: return "closed";
    case ErrorCode::kAborted: return "aborted";
    case ErrorCode::kDeadlineExceeded: return "deadline_exceeded";
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kFailedPrecondition: return "failed_precondition";
    case ErrorCode::kResourceExhausted: return "resource_exhausted";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kEngine: return "engine";
    case ErrorCode::kDeviceLost: return "device_lost";
    case ErrorCode::kDataLoss: return "data_loss";
    case ErrorCode::kUnimplemented: return "unimplemented";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message, std::int64_t engine_code, std::source_location where)
    : code_(code),
      engine_code_(engine_code),
      message_(std::move(message)),
      text_(text_of(code, message_, engine_code)),
      where_(where) {}

Error::Error(ErrorCode code, std::string message, std::exception_ptr cause, std::source_location where)
    : code_(code),
      engine_code_(0),
      message_(std::move(message)),
      text_(text_of(code, message_, 0)),
      cause_(std::move(cause)),
      where_(where) {}

std::string describe(const std::exception_ptr& error) {
  if (error == nullptr) return "no error";
  std::string text;
  std::exception_ptr current = error;
  while (current != nullptr) {
    if (!text.empty()) text += ": caused by ";
    std::exception_ptr cause;
    try {
      std::rethrow_exception(current);
    } catch (const Error& ours) {
      text += ours.what();
      cause = ours.cause();
    } catch (const std::exception& foreign) {
      text += foreign.what();
    } catch (...) {
      text += "an exception that is no std::exception";
    }
    current = std::move(cause);
  }
  return text;
}

}  // namespace tenure
