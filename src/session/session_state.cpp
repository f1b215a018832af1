#include <tenure/session/session_state.hpp>

namespace tenure {

std::string_view to_string(SessionState state) noexcept {
  switch (state) {
    case SessionState::kLoading: return "loading";
    case SessionState::kReady: return "ready";
    case SessionState::kDraining: return "draining";
    case SessionState::kClosing: return "closing";
    case SessionState::kClosed: return "closed";
    case SessionState::kFailed: return "failed";
    case SessionState::kQuarantined: return "quarantined";
  }
  return "unknown";
}

bool may_move(SessionState from, SessionState to) noexcept {
  using enum SessionState;
  switch (from) {
    case kLoading: return to == kReady || to == kFailed || to == kClosing || to == kQuarantined;
    case kReady: return to == kDraining || to == kClosing || to == kFailed || to == kQuarantined;
    case kDraining: return to == kClosing || to == kFailed || to == kQuarantined;
    case kClosing:
    case kFailed: return to == kClosed || to == kQuarantined;
    case kQuarantined: return to == kClosed;
    case kClosed: return false;
  }
  return false;
}

}  // namespace tenure
