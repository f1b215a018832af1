#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <tenure/tensor/tensor.hpp>

namespace tenure {

/// A picture of 8-bit red, green, blue, row by row from the top left, without padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  ///< width * height * 3 bytes
};

/// Which values a model expects for black (0) and for white (255).
struct ImageRange {
  float low = 0.0F;
  float high = 1.0F;
};

/// How a picture of another aspect ratio comes into the model's input.
enum class ImageFit : std::uint8_t {
  kLetterbox,  ///< the ratio is kept, and the rest is black
  kStretch,    ///< the whole input is filled
};

/// Where the picture lies in the model's input, in fractions of it: undoes the letterbox for what the model found.
struct ImagePlacement {
  float left = 0.0F;
  float top = 0.0F;
  float width = 1.0F;
  float height = 1.0F;
};

/// A box in pixels of a picture; may reach beyond it.
struct PixelBox {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

/// Reads a PNG or JPEG picture. Transparency is dropped, and the orientation that a camera noted is not applied.
///
/// Returns   the picture as 8-bit red, green, blue.
/// Errors    kNotFound: no such file. kInvalidArgument: another kind of file (the message says which), more than 64
///           million pixels, or no permission. kDataLoss: it begins like a picture, but is damaged or cut short.
/// Cancel    no cancellation point.
/// Threads   any.
[[nodiscard]] Image read_image(const std::filesystem::path& file);

/// As `read_image`, from memory; `name` stands for the file in messages.
[[nodiscard]] Image decode_image(std::span<const std::byte> bytes, std::string_view name);

/// Writes a picture as PNG.
///
/// Returns   nothing; the file is complete or not there.
/// Errors    kInvalidArgument: `rgb` doesn't hold width * height * 3 bytes. Else as `write_file`.
/// Cancel    no cancellation point.
/// Threads   any.
void write_png(const std::filesystem::path& file, const Image& image);

/// Scales a picture into a model's input.
///
/// Returns   a tensor of `spec`, an open batch being 1. float32 holds `range.low` for 0 to `range.high` for 255;
///           uint8 holds the picture's own values.
/// Errors    kInvalidArgument: the input takes no picture (the message says what it takes), or the picture is empty.
/// Cancel    no cancellation point.
/// Threads   any.
/// Shapes    `spec` is [1, height, width, 3] or [height, width, 3].
[[nodiscard]] Tensor fit(const Image& image, const TensorSpec& spec, ImageRange range = {},
                         ImageFit how = ImageFit::kLetterbox);

/// Where `fit` puts the picture.
///
/// Returns   the place of the picture in the input.
/// Errors    as `fit`.
/// Cancel    no cancellation point.
/// Threads   any.
[[nodiscard]] ImagePlacement placement_of(const Image& image, const TensorSpec& spec,
                                          ImageFit how = ImageFit::kLetterbox);

/// Draws the outline of a box, `thickness` pixels inwards; what lies outside the picture is cut off.
///
/// Returns   nothing.
/// Errors    kInvalidArgument: `rgb` doesn't hold width * height * 3 bytes.
/// Cancel    no cancellation point.
/// Threads   the picture from one at a time.
void draw_box(Image& image, const PixelBox& box, Color color, int thickness = 2);

}  // namespace tenure
