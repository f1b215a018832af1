#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/output.hpp"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBarWidth = 30;
constexpr auto kNotBefore = 300ms;  // what is over sooner needs no bar
constexpr auto kBetween = 100ms;

}  // namespace

Progress::Progress(std::string title, std::size_t total)
    : title_(std::move(title)), total_(total), is_wanted_(is_terminal(stderr)) {}

Progress::~Progress() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::size_t done) {
  if (!is_wanted_) return;
  const Clock::time_point now = Clock::now();
  if (now - begin_ < kNotBefore || (is_shown_ && now - last_ < kBetween)) return;
  last_ = now;
  is_shown_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
  std::string line = "\r" + title_;
  if (total_ > 0) {
    const std::size_t filled = kBarWidth * std::min(done, total_) / total_;
    line += fmt::format(" [{}{}] {}/{}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), done, total_);
  }
  line += fmt::format(" {} s\x1b[K", seconds);
  std::fputs(line.c_str(), stderr);
}

}  // namespace tenure::cli
