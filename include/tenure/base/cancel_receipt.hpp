#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
class ReceiptState;
using ReceiptPtr = std::shared_ptr<ReceiptState>;  // shared by the request and by every copy of the error that tells of it
}  // namespace detail

}  // namespace tenure
