#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include <tenure/base/time.hpp>

namespace tenure::cli {

/// Durations collected by one thread, and their percentiles (nearest rank).
class Durations {
 public:
  void add(Duration duration) { all_.push_back(duration); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  [[nodiscard]] Duration percentile(double fraction) {
    if (all_.empty()) return Duration{0};
    const auto rank = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(all_.size() - 1)));
    std::nth_element(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(rank), all_.end());
    return all_[rank];
  }

  /// {"p50", "p99", "max"} in units of `Unit`.
  template <class Unit>
  [[nodiscard]] nlohmann::ordered_json to_json() {
    const auto in_unit = [](Duration duration) {
      return std::chrono::duration<double, typename Unit::period>(duration).count();
    };
    return {{"p50", in_unit(percentile(0.5))}, {"p99", in_unit(percentile(0.99))}, {"max", in_unit(percentile(1.0))}};
  }

 private:
  std::vector<Duration> all_;
};

}  // namespace tenure::cli
