#pragma once

#include <cstdint>
#include <string_view>

namespace tenure {

/// Where a session stands (I18). The table; each cell is walked by SessionStatesTest.
///
/// | from         | to                                        | because of                                     |
/// |--------------|-------------------------------------------|------------------------------------------------|
/// | kLoading     | kReady, kFailed, kClosing, kQuarantined   | loaded; refused; closed; hard limit passed      |
/// | kReady       | kDraining, kClosing, kFailed, kQuarantined | last handle gone; closed; device lost; hard limit |
/// | kDraining    | kClosing, kFailed, kQuarantined           | intake empty, or closed; device lost; hard limit |
/// | kClosing     | kClosed, kQuarantined                     | all released; hard limit                        |
/// | kFailed      | kClosed, kQuarantined                     | all released; hard limit                        |
/// | kQuarantined | kClosed                                   | the native call came back, and all is released  |
/// | kClosed      | –                                         |                                                |
enum class SessionState : std::uint8_t { kLoading, kReady, kDraining, kClosing, kClosed, kFailed, kQuarantined };

[[nodiscard]] std::string_view to_string(SessionState state) noexcept;
[[nodiscard]] bool may_move(SessionState from, SessionState to) noexcept;

}  // namespace tenure
