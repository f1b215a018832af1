#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tenure::cli {

/// A bar on stderr while long work goes on; nothing at all where stderr is no terminal.
///
/// Threads   one at a time.
class Progress {
 public:
  /// With a `total` of 0 only the time is shown.
  explicit Progress(std::string title, std::size_t total = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void show(std::size_t done = 0);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::size_t total_;
  bool is_wanted_;
  bool is_shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace tenure::cli
