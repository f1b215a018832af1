#include <cstdio>
#include <tenure/base/cancel_receipt.hpp>

namespace tenure {

std::string_view to_string(CancelEffect effect) noexcept {
  switch (effect) {
    case CancelEffect::kDropped: return "dropped";
    case CancelEffect::kStopped: return "stopped";
    case CancelEffect::kDiscarded: return "discarded";
    case CancelEffect::kQuarantined: return "quarantined";
  }
  return "unknown";
}

std::string to_string(const CancelReceipt& receipt) {
  const double milliseconds = std::chrono::duration<double, std::milli>(receipt.until_quiet).count();
  char text[128] = {};
  switch (receipt.effect) {
    case CancelEffect::kDropped: return "dropped in the queue, native code never saw it";
    case CancelEffect::kStopped:
      std::snprintf(text, sizeof(text), "stopped after %llu steps, quiet after %.1f ms",
                    static_cast<unsigned long long>(receipt.steps), milliseconds);
      break;
    case CancelEffect::kDiscarded:
      std::snprintf(text, sizeof(text), "ran to the end and was discarded, quiet after %.1f ms", milliseconds);
      break;
    case CancelEffect::kQuarantined:
      std::snprintf(text, sizeof(text), "quarantined, not quiet after %.1f ms", milliseconds);
      break;
  }
  return text;
}

}  // namespace tenure
