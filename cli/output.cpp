#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tenure/base/error.hpp>

namespace tenure::cli {
namespace {

bool is_set(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

const char* code_of(Tone tone) noexcept {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kStrong: return "\x1b[1m";
    case Tone::kFaint: return "\x1b[2m";
    case Tone::kGood: return "\x1b[32m";
    case Tone::kBad: return "\x1b[31m";
  }
  return "";
}

// How many columns a text takes: its code points, since nothing here is wider.
std::size_t width_of(std::string_view text) noexcept {
  const auto is_start = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, is_start));
}

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

bool is_terminal(std::FILE* stream) noexcept {
  if (isatty(fileno(stream)) == 0) return false;
  const char* kind = std::getenv("TERM");
  return kind == nullptr || std::string_view(kind) != "dumb";
}

std::string paint(Tone tone, std::string_view text) {
  static const bool wants_colour = is_terminal(stdout) && !is_set("NO_COLOR");
  if (!wants_colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  return code_of(tone) + std::string(text) + "\x1b[0m";
}

void print_line(std::string_view line) {
  write(line);
  write("\n");
}

void print_json(const Json& document) {
  // File names may hold bytes that are no UTF-8; a document with a replacement is worth more than none.
  print_line(document.dump(2, ' ', false, Json::error_handler_t::replace));
}

void flush_output() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return;
  if (errno == ENOSPC) throw Error(ErrorCode::kResourceExhausted, "the disk is full: the output could not be written");
  throw Error(ErrorCode::kDataLoss, "the output could not be written");
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string ms_text(double ms) {
  if (ms < 1) return fmt::format("{:.3f} ms", ms);
  return ms < 100 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.0f} ms", ms);
}

void Table::print() const {
  std::vector<std::size_t> widths;
  widths.reserve(header_.size());
  for (const std::string& title : header_) widths.push_back(width_of(title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  const auto print_row = [&](const std::vector<Cell>& row) {
    std::string line(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const std::string padding(widths.at(i) - width_of(row[i].text), ' ');
      const bool is_right = std::ranges::find(right_, i) != right_.end();
      if (is_right) line += padding;
      line += paint(row[i].tone, row[i].text);
      if (!is_right && !is_last) line += padding;
      if (!is_last) line += "  ";
    }
    print_line(line);
  };
  std::vector<Cell> header;
  header.reserve(header_.size());
  for (const std::string& title : header_) header.emplace_back(title, Tone::kStrong);
  print_row(header);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace tenure::cli
