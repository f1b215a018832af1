#include "tensor/jpeg_check.hpp"

#include <cstdint>

namespace tenure::stb {
namespace {

constexpr unsigned kHuffmanTables = 0xc4;
constexpr unsigned kScan = 0xda;
constexpr unsigned kEnd = 0xd9;
constexpr std::size_t kCounts = 16;
constexpr std::size_t kMaxCodes = 256;

unsigned at(std::span<const std::byte> bytes, std::size_t index) noexcept {
  return std::to_integer<unsigned>(bytes[index]);
}

/// Markers that stand alone: restarts, start, end, and one for arithmetic coding.
bool has_no_length(unsigned marker) noexcept { return (marker >= 0xd0 && marker <= kEnd) || marker == 0x01; }

const char* damage_in_tables(std::span<const std::byte> tables) noexcept {
  while (!tables.empty()) {
    if (tables.size() < 1 + kCounts) return "a Huffman table that is cut short";
    std::size_t codes = 0;
    for (std::size_t i = 1; i <= kCounts; ++i) codes += at(tables, i);
    if (codes > kMaxCodes || codes > tables.size() - 1 - kCounts) return "a Huffman table of too many codes";
    tables = tables.subspan(1 + kCounts + codes);
  }
  return nullptr;
}

/// The next marker in what a scan holds: there a 0xff is followed by 0 where it is data, and restarts belong to it.
std::size_t end_of_scan(std::span<const std::byte> file, std::size_t from) noexcept {
  for (std::size_t i = from; i + 1 < file.size(); ++i) {
    const unsigned next = at(file, i + 1);
    if (at(file, i) == 0xff && next != 0 && next != 0xff && (next < 0xd0 || next > 0xd7)) return i;
  }
  return file.size();
}

}  // namespace

const char* damage_in_jpeg(std::span<const std::byte> file) noexcept {
  std::size_t place = 2;  // after the mark of the format
  while (place < file.size()) {
    if (at(file, place) != 0xff) return "something between its segments";
    while (place < file.size() && at(file, place) == 0xff) ++place;
    if (place == file.size()) return nullptr;
    const unsigned marker = at(file, place++);
    if (marker == kEnd) return nullptr;
    if (has_no_length(marker)) continue;
    if (file.size() - place < 2) return "a segment that is cut short";
    const std::size_t length = (std::size_t{at(file, place)} << 8U) | at(file, place + 1);
    if (length < 2 || length > file.size() - place) return "a segment that is cut short";
    if (marker == kHuffmanTables) {
      if (const char* damage = damage_in_tables(file.subspan(place + 2, length - 2))) return damage;
    }
    place += length;
    if (marker == kScan) place = end_of_scan(file, place);
  }
  return nullptr;
}

}  // namespace tenure::stb
