#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <string>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>
#include <tenure/tensor/image.hpp>

#include "tensor/jpeg_check.hpp"
#include "tensor/stb.hpp"

namespace tenure {
namespace {

constexpr std::int64_t kMaxPixels = 64'000'000;
constexpr std::size_t kMaxImageBytes = std::size_t{512} << 20;

struct Target {
  Shape shape;
  stb::Size size;
};

std::size_t rgb_bytes(stb::Size size) noexcept {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
}

void require_pixels(const Image& image) {
  if (image.width > 0 && image.height > 0 && image.rgb.size() == rgb_bytes({image.width, image.height})) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a picture of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels with " +
                  std::to_string(image.rgb.size()) + " bytes; expected 3 bytes for each pixel, and at least one pixel");
}

Target require_target(const TensorSpec& spec) {
  const bool type_fits = spec.type == ElementType::kFloat32 || spec.type == ElementType::kUInt8;
  const std::size_t rank = spec.shape.size();
  const bool batch_fits = rank == 3 || (rank == 4 && (spec.shape[0] == 1 || spec.shape[0] == -1));
  const auto side_fits = [](std::int64_t extent) { return extent > 0 && extent <= 1 << 15; };
  if (!type_fits || !batch_fits || spec.shape[rank - 1] != 3 || !side_fits(spec.shape[rank - 2]) ||
      !side_fits(spec.shape[rank - 3])) {
    throw Error(ErrorCode::kInvalidArgument, "input '" + spec.name + "' takes " + std::string(to_string(spec.type)) +
                                                 " " + to_string(spec.shape) +
                                                 " and no picture; a picture needs float32 or uint8 "
                                                 "[1, height, width, 3]");
  }
  Target target{spec.shape, {static_cast<int>(spec.shape[rank - 2]), static_cast<int>(spec.shape[rank - 3])}};
  if (rank == 4) target.shape[0] = 1;
  return target;
}

struct Place {
  int left = 0;
  int top = 0;
  stb::Size size;
};

Place place_in(const Image& image, stb::Size target, ImageFit how) {
  if (how == ImageFit::kStretch) return {0, 0, target};
  const double scale =
      std::min(static_cast<double>(target.width) / image.width, static_cast<double>(target.height) / image.height);
  const auto scaled = [scale](int side, int limit) {
    return std::clamp(static_cast<int>(std::lround(side * scale)), 1, limit);
  };
  const stb::Size size{scaled(image.width, target.width), scaled(image.height, target.height)};
  return {(target.width - size.width) / 2, (target.height - size.height) / 2, size};
}

std::vector<std::uint8_t> fitted_pixels(const Image& image, stb::Size target, ImageFit how) {
  const Place place = place_in(image, target, how);
  // A picture of the right size keeps its exact values.
  const bool same_size = place.size.width == image.width && place.size.height == image.height;
  std::vector<std::uint8_t> scaled;
  if (!same_size) {
    scaled.resize(rgb_bytes(place.size));
    if (!stb::resize(image.rgb, {image.width, image.height}, scaled, place.size)) throw std::bad_alloc();
  }
  const std::vector<std::uint8_t>& pixels = same_size ? image.rgb : scaled;
  std::vector<std::uint8_t> canvas(rgb_bytes(target), 0);
  const std::size_t row_bytes = static_cast<std::size_t>(place.size.width) * 3;
  for (int row = 0; row < place.size.height; ++row) {
    const std::size_t to = (static_cast<std::size_t>(place.top + row) * static_cast<std::size_t>(target.width) +
                            static_cast<std::size_t>(place.left)) *
                           3;
    std::copy_n(pixels.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * row_bytes), row_bytes,
                canvas.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return canvas;
}

}  // namespace

Image decode_image(std::span<const std::byte> bytes, std::string_view name) {
  const std::string file(name);
  const std::string_view kind = kind_of_file(bytes.first(std::min<std::size_t>(bytes.size(), 64)));
  if (kind != "a PNG image" && kind != "a JPEG image") {
    throw Error(ErrorCode::kInvalidArgument, "'" + file + "' is " +
                                                 (bytes.empty()  ? "empty"
                                                  : kind.empty() ? "no picture"
                                                                 : std::string(kind)) +
                                                 "; expected a PNG or JPEG picture");
  }
  const char* reason = kind == "a JPEG image" ? stb::damage_in_jpeg(bytes) : nullptr;
  const stb::Size announced = reason == nullptr ? stb::announced_size(bytes, reason) : stb::Size{};
  if (static_cast<std::int64_t>(announced.width) * announced.height > kMaxPixels) {
    throw Error(ErrorCode::kInvalidArgument, "'" + file + "' has " + std::to_string(announced.width) + " x " +
                                                 std::to_string(announced.height) +
                                                 " pixels; expected at most 64 million");
  }
  stb::Size size;
  Image image;
  if (reason == nullptr && announced.width > 0 && announced.height > 0) image.rgb = stb::decode(bytes, size, reason);
  if (image.rgb.empty()) {
    throw Error(ErrorCode::kDataLoss, "'" + file + "' begins like " + std::string(kind) + " but is damaged (" +
                                          (reason == nullptr ? "no pixels" : reason) + ")");
  }
  image.width = size.width;
  image.height = size.height;
  return image;
}

Image read_image(const std::filesystem::path& file) {
  return decode_image(read_file(file, kMaxImageBytes), file.string());
}

void write_png(const std::filesystem::path& file, const Image& image) {
  require_pixels(image);
  const std::vector<std::byte> bytes = stb::encode_png(image.rgb, {image.width, image.height});
  if (bytes.empty()) throw std::bad_alloc();
  write_file(file, bytes);
}

Tensor fit(const Image& image, const TensorSpec& spec, ImageRange range, ImageFit how) {
  require_pixels(image);
  const Target target = require_target(spec);
  const std::vector<std::uint8_t> pixels = fitted_pixels(image, target.size, how);
  Tensor tensor({.name = spec.name, .type = spec.type, .shape = target.shape});
  if (spec.type == ElementType::kUInt8) {
    std::ranges::copy(pixels, tensor.view<std::uint8_t>().begin());
    return tensor;
  }
  std::array<float, 256> values{};
  const float step = (range.high - range.low) / 255.0F;
  for (std::size_t value = 0; value < values.size(); ++value) {
    values[value] = static_cast<float>(value) * step + range.low;
  }
  std::ranges::transform(pixels, tensor.view<float>().begin(), [&values](std::uint8_t pixel) { return values[pixel]; });
  return tensor;
}

ImagePlacement placement_of(const Image& image, const TensorSpec& spec, ImageFit how) {
  require_pixels(image);
  const Target target = require_target(spec);
  const Place place = place_in(image, target.size, how);
  const auto width = static_cast<float>(target.size.width);
  const auto height = static_cast<float>(target.size.height);
  return {static_cast<float>(place.left) / width, static_cast<float>(place.top) / height,
          static_cast<float>(place.size.width) / width, static_cast<float>(place.size.height) / height};
}

void draw_box(Image& image, const PixelBox& box, Color color, int thickness) {
  require_pixels(image);
  const int left = std::max(box.left, 0);
  const int top = std::max(box.top, 0);
  const int right = std::min(box.right, image.width);
  const int bottom = std::min(box.bottom, image.height);
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      // Distances from the box itself, not from what is left of it inside the picture.
      const bool edge = x < static_cast<std::int64_t>(box.left) + thickness ||
                        y < static_cast<std::int64_t>(box.top) + thickness ||
                        x >= static_cast<std::int64_t>(box.right) - thickness ||
                        y >= static_cast<std::int64_t>(box.bottom) - thickness;
      if (!edge) continue;
      const std::size_t at =
          (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x)) * 3;
      image.rgb[at] = color.red;
      image.rgb[at + 1] = color.green;
      image.rgb[at + 2] = color.blue;
    }
  }
}

}  // namespace tenure
