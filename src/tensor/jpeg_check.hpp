#pragma once

#include <cstddef>
#include <span>

namespace tenure::stb {

/// Walks the segments of a JPEG file before stb decodes it: Debian's stb_image (2.27) writes beyond its table where the
/// code counts of a Huffman table add up to more than 256.
///
/// Returns what is wrong with the file, or null.
[[nodiscard]] const char* damage_in_jpeg(std::span<const std::byte> file) noexcept;

}  // namespace tenure::stb
