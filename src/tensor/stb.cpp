#include "tensor/stb.hpp"

#include <limits>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
// Only the two formats that are asked for: the decoders of the others are where stb's known defects are.
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS 32768
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace tenure::stb {
namespace {

bool fits_int(std::size_t count) noexcept { return count <= static_cast<std::size_t>(std::numeric_limits<int>::max()); }

const stbi_uc* as_stb(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const stbi_uc*>(bytes.data());
}

}  // namespace

Size announced_size(std::span<const std::byte> bytes, const char*& reason) noexcept {
  Size size;
  int channels = 0;
  if (!fits_int(bytes.size())) {
    reason = "more than 2 GiB";
    return {};
  }
  const int known =
      stbi_info_from_memory(as_stb(bytes), static_cast<int>(bytes.size()), &size.width, &size.height, &channels);
  if (known == 0) reason = stbi_failure_reason();
  return known != 0 ? size : Size{};
}

std::vector<std::uint8_t> decode(std::span<const std::byte> bytes, Size& size, const char*& reason) {
  int channels = 0;
  stbi_uc* pixels =
      stbi_load_from_memory(as_stb(bytes), static_cast<int>(bytes.size()), &size.width, &size.height, &channels, 3);
  if (pixels == nullptr) {
    reason = stbi_failure_reason();
    return {};
  }
  struct Free {
    stbi_uc* pixels;
    ~Free() { stbi_image_free(pixels); }
  } const free{pixels};
  const std::size_t count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
  return {pixels, pixels + count};
}

std::vector<std::byte> encode_png(std::span<const std::uint8_t> rgb, Size size) {
  std::vector<std::byte> bytes;
  const auto append = [](void* to, void* data, int count) {
    const auto* begin = static_cast<const std::byte*>(data);
    static_cast<std::vector<std::byte>*>(to)->insert(static_cast<std::vector<std::byte>*>(to)->end(), begin,
                                                     begin + count);
  };
  if (stbi_write_png_to_func(append, &bytes, size.width, size.height, 3, rgb.data(), size.width * 3) == 0)
    bytes.clear();
  return bytes;
}

bool resize(std::span<const std::uint8_t> from, Size from_size, std::span<std::uint8_t> to, Size to_size) {
  return stbir_resize_uint8(from.data(), from_size.width, from_size.height, 0, to.data(), to_size.width, to_size.height,
                            0, 3) != 0;
}

}  // namespace tenure::stb
