#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <tenure/base/file.hpp>
#include <tenure/tensor/image.hpp>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace tenure {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

Image checkered(int width, int height) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool white = (x / 4 + y / 4) % 2 == 0;
      image.rgb.insert(image.rgb.end(), {std::uint8_t{white ? std::uint8_t{255} : std::uint8_t{0}},
                                         static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)});
    }
  }
  return image;
}

TensorSpec image_spec(std::int64_t height, std::int64_t width, ElementType type = ElementType::kFloat32) {
  return {.name = "input", .type = type, .shape = {1, height, width, 3}};
}

TEST(ImageTest, ReadsBackThePngItWrote) {
  const TemporaryFolder folder;
  const Image image = checkered(31, 17);
  write_png(folder.path() / "x.png", image);
  const Image back = read_image(folder.path() / "x.png");
  EXPECT_EQ(back.width, 31);
  EXPECT_EQ(back.height, 17);
  EXPECT_EQ(back.rgb, image.rgb);
}

TEST(ImageTest, NamesAFileThatIsNoPicture) {
  const TemporaryFolder folder;
  const auto text = folder.write("notes.png", "just words");
  expect_error(
      ErrorCode::kInvalidArgument, [&] { (void)read_image(text); }, "notes.png", "a text file",
      "expected a PNG or JPEG picture");
  const auto empty = folder.write("empty.png", "");
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)read_image(empty); }, "empty.png' is empty");
  expect_error(ErrorCode::kNotFound, [&] { (void)read_image(folder.path() / "none.png"); }, "none.png");
}

TEST(ImageTest, ADamagedPictureIsDataLoss) {
  const TemporaryFolder folder;
  write_png(folder.path() / "x.png", checkered(64, 64));
  std::vector<std::byte> bytes = read_file(folder.path() / "x.png");
  bytes.resize(bytes.size() / 2);
  expect_error(ErrorCode::kDataLoss, [&] { (void)decode_image(bytes, "half.png"); }, "half.png", "damaged");
}

TEST(ImageTest, RefusesMorePixelsThanItsLimitBeforeItDecodes) {
  const TemporaryFolder folder;
  write_png(folder.path() / "x.png", checkered(8, 8));
  std::vector<std::byte> bytes = read_file(folder.path() / "x.png");
  // The size stands in the first chunk: 10,000 x 10,000.
  for (const std::size_t at : {16U, 20U}) {
    bytes[at + 2] = std::byte{0x27};
    bytes[at + 3] = std::byte{0x10};
  }
  expect_error(
      ErrorCode::kInvalidArgument, [&] { (void)decode_image(bytes, "bomb.png"); }, "10000 x 10000",
      "at most 64 million");
}

// NASA's photograph of an astronaut, as in the fetched images, in 48 x 40 pixels.
std::filesystem::path small_jpeg() {
  return std::filesystem::path(TENURE_TEST_DIR) / "unit" / "data" / "astronaut_48x40.jpg";
}

TEST(ImageTest, ReadsAJpeg) {
  const Image image = read_image(small_jpeg());
  EXPECT_EQ(image.width, 48);
  EXPECT_EQ(image.height, 40);
  EXPECT_EQ(image.rgb.size(), 48U * 40U * 3U);
}

TEST(ImageTest, RefusesAHuffmanTableThatTheDecoderWouldOverrun) {
  std::vector<std::byte> bytes = read_file(small_jpeg());
  const std::array<std::byte, 2> mark = {std::byte{0xff}, std::byte{0xc4}};
  const auto table = std::ranges::search(bytes, mark).begin();
  ASSERT_NE(table, bytes.end());
  std::fill_n(table + 5, 16, std::byte{0xff});
  expect_error(ErrorCode::kDataLoss, [&] { (void)decode_image(bytes, "bad.jpg"); }, "bad.jpg", "Huffman");
}

void expect_pictures_or_errors(const std::vector<std::byte>& good) {
  std::mt19937 random(11);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::byte> bytes = good;
    for (int flips = 0; flips < 3; ++flips)
      bytes[8 + random() % (bytes.size() - 8)] ^= static_cast<std::byte>(1U << (random() % 8));
    try {
      (void)decode_image(bytes, "flipped");
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal);
    }
  }
}

TEST(ImageTest, AnyFlippedByteIsAPictureOrAnError) {
  const TemporaryFolder folder;
  write_png(folder.path() / "x.png", checkered(32, 24));
  expect_pictures_or_errors(read_file(folder.path() / "x.png"));
  expect_pictures_or_errors(read_file(small_jpeg()));
}

TEST(ImageTest, FitKeepsExactValuesWhereTheSizeIsRight) {
  const Image image = checkered(8, 8);
  const Tensor bytes = fit(image, image_spec(8, 8, ElementType::kUInt8));
  EXPECT_TRUE(std::ranges::equal(bytes.view<std::uint8_t>(), image.rgb));
  const Tensor floats = fit(image, image_spec(8, 8), {.low = -1.0F, .high = 1.0F});
  EXPECT_EQ(floats.name(), "input");
  EXPECT_EQ(floats.view<float>()[0], 1.0F);
  EXPECT_EQ(floats.view<float>()[12], -1.0F);
}

TEST(ImageTest, LetterboxKeepsTheRatioAndFillsWithBlack) {
  Image white{.width = 20, .height = 10, .rgb = std::vector<std::uint8_t>(600, 255)};
  const TensorSpec spec{.name = "input", .type = ElementType::kUInt8, .shape = {-1, 8, 8, 3}};
  const Tensor tensor = fit(white, spec);
  EXPECT_EQ(tensor.spec().shape, (Shape{1, 8, 8, 3}));
  const auto pixels = tensor.view<std::uint8_t>();
  EXPECT_EQ(pixels[0], 0);
  EXPECT_EQ(pixels[2 * 8 * 3], 255);
  EXPECT_EQ(pixels[6 * 8 * 3], 0);
  const ImagePlacement place = placement_of(white, spec);
  EXPECT_FLOAT_EQ(place.top, 0.25F);
  EXPECT_FLOAT_EQ(place.height, 0.5F);
  EXPECT_FLOAT_EQ(place.width, 1.0F);
  const Tensor stretched = fit(white, spec, {}, ImageFit::kStretch);
  EXPECT_EQ(stretched.view<std::uint8_t>()[0], 255);
}

TEST(ImageTest, FitSaysWhatAnInputTakesThatIsNoPicture) {
  const Image image = checkered(8, 8);
  const TensorSpec plain{.name = "x", .type = ElementType::kFloat32, .shape = {1, 4}};
  expect_error(
      ErrorCode::kInvalidArgument, [&] { (void)fit(image, plain); }, "'x' takes float32 [1, 4]",
      "[1, height, width, 3]");
  const TensorSpec open{.name = "x", .type = ElementType::kFloat32, .shape = {1, -1, -1, 3}};
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)fit(image, open); }, "[1, -1, -1, 3]");
  const TensorSpec scalar{.name = "x", .type = ElementType::kFloat32, .shape = {}};
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)fit(image, scalar); });
  expect_error(ErrorCode::kInvalidArgument, [] { (void)fit(Image{}, image_spec(8, 8)); }, "at least one pixel");
}

TEST(ImageTest, DrawsABoxAndCutsItAtTheEdges) {
  Image image{.width = 10, .height = 10, .rgb = std::vector<std::uint8_t>(300, 0)};
  draw_box(image, {.left = 2, .top = 2, .right = 20, .bottom = 8}, {.red = 9, .green = 8, .blue = 7}, 1);
  const auto red_at = [&image](int x, int y) { return image.rgb[static_cast<std::size_t>(y * 10 + x) * 3]; };
  EXPECT_EQ(red_at(2, 2), 9);
  EXPECT_EQ(red_at(9, 2), 9);
  EXPECT_EQ(red_at(9, 5), 0);
  EXPECT_EQ(red_at(3, 3), 0);
  EXPECT_EQ(red_at(1, 1), 0);
  draw_box(image, {.left = -2147483647, .top = -5, .right = 2147483647, .bottom = -1}, {}, 2147483647);
}

}  // namespace
}  // namespace tenure
