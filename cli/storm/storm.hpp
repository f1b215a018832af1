#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include <tenure/session.hpp>

namespace tenure::cli {

struct StormOptions {
  std::vector<ModelSpec> models;  ///< none: pages without a model, to compare the heartbeat with
  std::uint64_t pages = 200;
  std::optional<Duration> time;  ///< instead of a number of pages
  Duration min_dwell{0};
  Duration max_dwell = std::chrono::milliseconds(3);
  int in_flight = 2;
  std::uint64_t seed = 1;
};

/// Opens and leaves pages on the calling thread, the "screen", until all are through; then counts what is left. Returns
/// the report, all but `crashed`. `progress` is called now and then with how far it is, from 0 to 1.
[[nodiscard]] nlohmann::ordered_json run_storm(const StormOptions& options,
                                               const std::vector<std::shared_ptr<Engine>>& engines,
                                               const std::function<void(double)>& progress);

}  // namespace tenure::cli
