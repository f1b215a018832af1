#include "cli/run/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "cli/duration.hpp"

namespace tenure::cli {
namespace {

double half_to_double(std::uint16_t half) noexcept {
  const double sign = (half & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (half >> 10U) & 0x1F;
  const int fraction = half & 0x3FF;
  if (exponent == 0x1F) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(0x400 + fraction, exponent - 25);
}

template <class Number>
double number_at(const std::byte* address) noexcept {
  Number number{};
  std::memcpy(&number, address, sizeof(number));
  return static_cast<double>(number);
}

double value_at(const Tensor& tensor, std::size_t index) noexcept {
  const std::byte* address = tensor.bytes().data() + index * size_of(tensor.spec().type);
  switch (tensor.spec().type) {
    case ElementType::kFloat32: return number_at<float>(address);
    case ElementType::kFloat16: {
      std::uint16_t half = 0;
      std::memcpy(&half, address, sizeof(half));
      return half_to_double(half);
    }
    case ElementType::kInt8: return number_at<std::int8_t>(address);
    case ElementType::kUInt8:
    case ElementType::kBool: return number_at<std::uint8_t>(address);
    case ElementType::kInt16: return number_at<std::int16_t>(address);
    case ElementType::kInt32: return number_at<std::int32_t>(address);
    case ElementType::kInt64: return number_at<std::int64_t>(address);
  }
  return 0;
}

}  // namespace

TensorSummary summarise(const Tensor& tensor) {
  TensorSummary summary;
  const std::size_t count = tensor.byte_size() / size_of(tensor.spec().type);
  double sum = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = value_at(tensor, i);
    if (i < kFirstValues) summary.first.push_back(value);
    if (!std::isfinite(value)) {
      ++summary.not_finite;
      continue;
    }
    summary.min = finite == 0 ? value : std::min(summary.min, value);
    summary.max = finite == 0 ? value : std::max(summary.max, value);
    sum += value;
    ++finite;
  }
  if (finite > 0) summary.mean = sum / static_cast<double>(finite);
  return summary;
}

TimeSummary summarise(const std::vector<Duration>& times) {
  std::vector<Duration> sorted = times;
  std::ranges::sort(sorted);
  // The nearest rank: always a time that was measured.
  const auto at = [&sorted](double quantile) {
    const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(sorted.size())));
    return to_ms(sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]);
  };
  return {.first = to_ms(times.front()),
          .min = to_ms(sorted.front()),
          .median = at(0.5),
          .p99 = at(0.99),
          .max = to_ms(sorted.back())};
}

}  // namespace tenure::cli
