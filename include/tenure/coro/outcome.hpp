#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <tenure/base/error.hpp>
#include <tenure/coro/task.hpp>

namespace tenure {

/// How a task ended, as a value: with a value, with an error, or cancelled.
///
/// Returns   one of three; `value()` gives the first, `error()` the second, `cause()` why it was cancelled.
/// Errors    `value()` throws the error, or kAborted where the end was a cancellation.
/// Cancel    `receipt()` tells what became of the native run that a time limit or a cancel left behind.
/// Threads   a value.
/// Source    P2300's three completion signals.
template <class T = void>
class [[nodiscard]] Outcome {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  static Outcome of_value(Value value) { return Outcome(detail::End::kValue, std::move(value), nullptr); }
  static Outcome of_error(std::exception_ptr error) {
    return Outcome(detail::End::kError, std::nullopt, std::move(error));
  }
  static Outcome of_cancelled(std::exception_ptr cause = nullptr) {
    return Outcome(detail::End::kCancelled, std::nullopt, std::move(cause));
  }

  [[nodiscard]] bool has_value() const noexcept { return end_ == detail::End::kValue; }
  [[nodiscard]] bool is_error() const noexcept { return end_ == detail::End::kError; }
  [[nodiscard]] bool is_cancelled() const noexcept { return end_ == detail::End::kCancelled; }
  [[nodiscard]] std::exception_ptr error() const noexcept { return is_error() ? error_ : nullptr; }
  [[nodiscard]] std::exception_ptr cause() const noexcept { return is_cancelled() ? error_ : nullptr; }

  /// The code of an error that is a tenure::Error; nothing for a value, a cancellation or a foreign exception.
  [[nodiscard]] std::optional<ErrorCode> code() const noexcept {
    std::optional<ErrorCode> code;
    inspect([&code](const Error& error) { code = error.code(); });
    return code;
  }

  T value() && {
    require_value();
    if constexpr (!std::is_void_v<T>) return std::move(*value_);
  }
  const Value& value() const& {
    require_value();
    return *value_;
  }

  /// Waits until the native run that this end left behind is quiet or quarantined, and says what became of it.
  /// Errors    kFailedPrecondition: this end left no native run behind.
  [[nodiscard]] Task<CancelReceipt> receipt() const;

 private:
  Outcome(detail::End end, std::optional<Value> value, std::exception_ptr error)
      : end_(end), value_(std::move(value)), error_(std::move(error)) {}

  void require_value() const {
    if (is_error()) std::rethrow_exception(error_);
    if (is_cancelled()) throw Error(ErrorCode::kAborted, "the outcome is a cancellation, not a value", error_);
  }

  // An exception's type shows only when it is thrown; errors are rare enough for that.
  template <class F>
  void inspect(F&& look) const noexcept {
    if (!is_error()) return;
    try {
      std::rethrow_exception(error_);
    } catch (const Error& error) {
      look(error);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a foreign exception has no code
    }
  }

  detail::End end_;
  std::optional<Value> value_;
  std::exception_ptr error_;
};

namespace detail {
/// The error as an end seen by as_outcome: kAborted, which says that others cancelled what was awaited, is a
/// cancellation there.
template <class T>
Outcome<T> outcome_of_error(std::exception_ptr error) {
  Outcome<T> outcome = Outcome<T>::of_error(std::move(error));
  if (outcome.code() != ErrorCode::kAborted) return outcome;
  try {
    std::rethrow_exception(outcome.error());
  } catch (const Error& aborted) {
    return Outcome<T>::of_cancelled(aborted.cause());
  }
}

[[nodiscard]] Task<CancelReceipt> wait_for_receipt(ReceiptPtr receipt);
}  // namespace detail

template <class T>
Task<CancelReceipt> Outcome<T>::receipt() const {
  detail::ReceiptPtr receipt;
  inspect([&receipt](const Error& error) { receipt = error.receipt(); });
  return detail::wait_for_receipt(std::move(receipt));
}

}  // namespace tenure
