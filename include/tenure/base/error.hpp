#pragma once

#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include <tenure/base/cancel_receipt.hpp>

namespace tenure {

/// The closed set of what can go wrong. Cancellation is not in it: it is no error.
enum class ErrorCode : std::uint8_t {
  kClosed,              ///< what was used has been closed, or its owner has ended
  kAborted,             ///< someone else cancelled, or dropped, what was waited for
  kDeadlineExceeded,    ///< a time limit passed
  kInvalidArgument,     ///< an input is wrong; the message names it and what was expected
  kNotFound,            ///< a name or a file does not exist
  kFailedPrecondition,  ///< not possible in the present state
  kResourceExhausted,   ///< a bound (intake, memory, budget) is reached
  kUnavailable,         ///< an engine or a device is not here
  kEngine,              ///< the engine refused or failed; its own code is kept
  kDeviceLost,          ///< the device is gone; every session on it fails
  kDataLoss,            ///< a model or a file is damaged
  kUnimplemented,       ///< this engine cannot do it
  kInternal,            ///< a defect of Tenure
};

/// The code's name as it stands in messages and JSON, such as "closed" or "deadline_exceeded".
std::string_view to_string(ErrorCode code) noexcept;

/// What every failing operation of Tenure throws or hands on.
///
/// Returns   `what()` reads "code: message (engine code n)".
/// Errors    none of its own.
/// Cancel    an Error never stands for cancellation.
/// Threads   const members from any thread.
/// Lifetime  a value; the cause, where there is one, is shared.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, std::int64_t engine_code = 0,
        std::source_location where = std::source_location::current());
  Error(ErrorCode code, std::string message, std::exception_ptr cause,
        std::source_location where = std::source_location::current());

  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  /// The engine's own status, 0 where no engine was involved.
  [[nodiscard]] std::int64_t engine_code() const noexcept { return engine_code_; }
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }
  /// What became of the native run that this error left behind; null where there was none. See Outcome::receipt.
  [[nodiscard]] const detail::ReceiptPtr& receipt() const noexcept { return receipt_; }
  void set_receipt(detail::ReceiptPtr receipt) noexcept { receipt_ = std::move(receipt); }

 private:
  ErrorCode code_;
  std::int64_t engine_code_;
  std::string message_;
  std::string text_;
  std::exception_ptr cause_;
  std::source_location where_;
  detail::ReceiptPtr receipt_;
};

/// "code: message: caused by …" down the chain of causes; any exception, also a foreign one.
std::string describe(const std::exception_ptr& error);

}  // namespace tenure
