#pragma once

#include <optional>
#include <string_view>
#include <tenure/base/time.hpp>

namespace tenure::cli {

/// Reads a duration as it is typed: "80ms", "2s", "1.5s", "500us", "2min". Nothing where it is none, or not above 0.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text) noexcept;

[[nodiscard]] inline double to_ms(Duration duration) noexcept {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace tenure::cli
