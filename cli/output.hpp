#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::cli {

using Json = nlohmann::ordered_json;

/// Whether a person watches `stream`: a terminal that can move its cursor.
[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

enum class Tone : std::uint8_t { kPlain, kStrong, kFaint, kGood, kBad };

/// `text` in the colour of `tone` where stdout is a terminal and NO_COLOR is not set; else as it is.
[[nodiscard]] std::string paint(Tone tone, std::string_view text);

/// A line for a person.
void print_line(std::string_view line = {});
/// The one document that a verb prints for a program.
void print_json(const Json& document);
/// Ends the output. Errors: kDataLoss or kResourceExhausted where what was printed did not all arrive.
void flush_output();

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
[[nodiscard]] std::string ms_text(double ms);

/// Columns that line up.
class Table {
 public:
  struct Cell {
    Cell(std::string content, Tone look = Tone::kPlain)  // NOLINT(google-explicit-constructor): a text is a cell
        : text(std::move(content)), tone(look) {}
    Cell(const char* content) : text(content) {}  // NOLINT(google-explicit-constructor)
    std::string text;
    Tone tone = Tone::kPlain;
  };
  explicit Table(std::vector<std::string> header, std::size_t indent = 0)
      : header_(std::move(header)), indent_(indent) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  /// Columns whose texts stand to the right, such as numbers.
  void align_right(std::vector<std::size_t> columns) { right_ = std::move(columns); }
  void print() const;

 private:
  std::vector<std::string> header_;
  std::size_t indent_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::size_t> right_;
};

}  // namespace tenure::cli
