#include "cli/duration.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tenure::cli {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array kUnits = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}, Unit{"min", 60e9}};
constexpr double kLongest = 1e9 * 3600 * 24 * 365;

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) noexcept {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : kUnits) {
    if (rest != unit.name) continue;
    const double nanoseconds = number * unit.nanoseconds;
    if (!(nanoseconds >= 1 && nanoseconds <= kLongest)) return std::nullopt;
    return Duration(std::llround(nanoseconds));
  }
  return std::nullopt;
}

}  // namespace tenure::cli
