#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tenure/base/time.hpp>

namespace tenure {

/// What a cancel did to a request.
enum class CancelEffect : std::uint8_t {
  kDropped,      ///< it had not been taken by a lane; native code never saw it
  kStopped,      ///< native code ended at a checkpoint after `steps`
  kDiscarded,    ///< native code ran to its end and the outputs were dropped
  kQuarantined,  ///< native code did not come back by its hard limit
};

[[nodiscard]] std::string_view to_string(CancelEffect effect) noexcept;

/// What a cancel really did, and how long it took until native code was quiet.
///
/// Returns   `to_string`: such as "stopped after 41 steps, quiet after 2.3 ms".
/// Errors    none.
/// Cancel    it tells of one; complete when all is quiet or quarantined.
/// Threads   a value.
/// Units     `until_quiet` runs from the cancel to the end of the native call; for kQuarantined, to the quarantine.
struct CancelReceipt {
  CancelEffect effect = CancelEffect::kDropped;
  std::uint64_t steps = 0;
  Duration until_quiet{0};
};

[[nodiscard]] std::string to_string(const CancelReceipt& receipt);

namespace detail {

/// A receipt on its way. Counted: the request and every copy of the error that tells of it hold it, and a cancel, which
/// hands it on, allocates nothing.
class ReceiptState {
 public:
  virtual void ref() noexcept = 0;
  virtual void unref() noexcept = 0;

 protected:
  ~ReceiptState() = default;
};

class ReceiptPtr {
 public:
  ReceiptPtr() = default;
  ReceiptPtr(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): reads like a pointer
  /// Takes over a reference that the caller holds.
  static ReceiptPtr adopt(ReceiptState& state) noexcept {
    ReceiptPtr pointer;
    pointer.state_ = &state;
    return pointer;
  }
  ReceiptPtr(const ReceiptPtr& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->ref();
  }
  ReceiptPtr(ReceiptPtr&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  ReceiptPtr& operator=(ReceiptPtr other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~ReceiptPtr() {
    if (state_ != nullptr) state_->unref();
  }
  [[nodiscard]] ReceiptState* get() const noexcept { return state_; }
  bool operator==(std::nullptr_t) const noexcept { return state_ == nullptr; }

 private:
  ReceiptState* state_ = nullptr;
};

}  // namespace detail

}  // namespace tenure
