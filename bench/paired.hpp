#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tenure::bench {

using Nanoseconds = double;

/// Two ways to do the same, measured one after the other in each round, so that what else the machine does hits both.
struct Paired {
  std::vector<Nanoseconds> ours;
  std::vector<Nanoseconds> bare;
};

/// A median, and the interval that holds it with 95 % by the order statistics of the sample (the sign test).
struct Median {
  double low = 0;
  double mid = 0;
  double high = 0;
};

inline Median median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double half_width = 1.96 * std::sqrt(n) / 2;
  const auto at = [&](double rank) { return values[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  return {at(std::floor(n / 2 - half_width)), at(n / 2), at(std::ceil(n / 2 + half_width))};
}

template <class F>
Nanoseconds time_of(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// `prepare` is not timed. Each round swaps which goes first.
template <class Prepare, class Ours, class Bare>
Paired measure(int rounds, Prepare&& prepare, Ours&& ours, Bare&& bare) {
  Paired result;
  for (int round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      prepare();
      const bool is_ours = (turn == 0) == (round % 2 == 0);
      (is_ours ? result.ours : result.bare).push_back(is_ours ? time_of(ours) : time_of(bare));
    }
  }
  return result;
}

inline Median ratio(const Paired& paired) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < paired.ours.size(); ++i) ratios.push_back(paired.ours[i] / paired.bare[i]);
  return median_of(std::move(ratios));
}

inline Median difference(const Paired& paired) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < paired.ours.size(); ++i) differences.push_back(paired.ours[i] - paired.bare[i]);
  return median_of(std::move(differences));
}

}  // namespace tenure::bench
