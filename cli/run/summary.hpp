#pragma once

#include <cstddef>
#include <tenure/base/time.hpp>
#include <tenure/tensor/tensor.hpp>
#include <vector>

#include "cli/output.hpp"

namespace tenure::cli {

/// What a tensor holds, in a few numbers. Of values that are no number only their count tells.
struct TensorSummary {
  double min = 0;
  double mean = 0;
  double max = 0;
  std::size_t not_finite = 0;
  std::vector<double> first;  ///< at most `kFirstValues`
};
inline constexpr std::size_t kFirstValues = 8;

[[nodiscard]] TensorSummary summarise(const Tensor& tensor);

/// What times came to; all in milliseconds.
struct TimeSummary {
  double first = 0;
  double min = 0;
  double median = 0;
  double p99 = 0;
  double max = 0;
};
/// `times` must not be empty.
[[nodiscard]] TimeSummary summarise(const std::vector<Duration>& times);

}  // namespace tenure::cli
