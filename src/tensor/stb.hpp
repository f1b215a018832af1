#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// All that Tenure asks of the stb libraries, so that their headers are compiled in one file, with their warnings off.
namespace tenure::stb {

struct Size {
  int width = 0;
  int height = 0;
};

/// The size that a PNG or JPEG header announces; zero where there is none or stb refuses it, and `reason` says why.
[[nodiscard]] Size announced_size(std::span<const std::byte> bytes, const char*& reason) noexcept;
/// Decodes to 8-bit red, green, blue; empty on failure, and `reason` says why.
[[nodiscard]] std::vector<std::uint8_t> decode(std::span<const std::byte> bytes, Size& size, const char*& reason);
[[nodiscard]] std::vector<std::byte> encode_png(std::span<const std::uint8_t> rgb, Size size);
/// Resizes 8-bit red, green, blue; false where memory ran out.
[[nodiscard]] bool resize(std::span<const std::uint8_t> from, Size from_size, std::span<std::uint8_t> to, Size to_size);

}  // namespace tenure::stb
