#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <tenure/base/file.hpp>

#include "support/as_nobody.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace tenure {
namespace {

using testing::as_nobody;
using testing::expect_error;
using testing::TemporaryFolder;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(FileTest, WritesAndReadsBack) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "data";
  write_file(file, bytes_of("one two"));
  EXPECT_EQ(read_file(file).size(), 7U);
  EXPECT_EQ(read_file_start(file, 3).size(), 3U);
  EXPECT_EQ(read_file_start(file, 300).size(), 7U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "data.part"));
}

TEST(FileTest, NamesWhatIsMissingOrNoFile) {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing").string();
  expect_error(ErrorCode::kNotFound, [&] { (void)read_file(missing); }, missing);
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)read_file(folder.path()); }, "is a folder; expected a file");
  expect_error(ErrorCode::kNotFound, [&] { write_file(folder.path() / "no" / "file", bytes_of("x")); });
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)read_file(pipe); }, "no regular file");
}

TEST(FileTest, RefusesMoreThanItsLimit) {
  const TemporaryFolder folder;
  const auto file = folder.write("data", "12345");
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)read_file(file, 4); }, "has 5 bytes; expected at most 4");
}

TEST(FileTest, AFullDiskLeavesNothingBehind) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const TemporaryFolder folder;
  // The writer's own file beside the target is the disk that is full.
  std::filesystem::create_symlink("/dev/full", folder.path() / "data.part");
  expect_error(
      ErrorCode::kResourceExhausted, [&] { write_file(folder.path() / "data", bytes_of("x")); }, "disk is full");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FileDeathTest, SaysThatPermissionIsMissing) {
  const TemporaryFolder folder;
  const auto file = folder.write("secret", "x");
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_EXIT(as_nobody([&] { (void)read_file(file); }), ::testing::ExitedWithCode(0),
              "invalid_argument: no permission to read '.*secret'");
  EXPECT_EXIT(as_nobody([&] { write_file(folder.path() / "new", bytes_of("x")); }), ::testing::ExitedWithCode(0),
              "invalid_argument: no permission to write '.*new'");
}

TEST(FileTest, TellsKindsByTheirFirstBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(kind_of_file(bytes_of("\x1c\0\0\0TFL3"sv)), "a TFLite model");
  EXPECT_EQ(kind_of_file(bytes_of("GGUF\3\0\0\0"sv)), "a GGUF model");
  EXPECT_EQ(kind_of_file(bytes_of("PK\x03\x04"sv)), "a ZIP archive");
  EXPECT_EQ(kind_of_file(bytes_of("\x89PNG\r\n\x1a\n"sv)), "a PNG image");
  EXPECT_EQ(kind_of_file(bytes_of("\x08\x07\x12\x07pytorch"sv)), "an ONNX model");
  EXPECT_EQ(kind_of_file(bytes_of("<!DOCTYPE html>"sv)), "a web page");
  EXPECT_EQ(kind_of_file(bytes_of("version https://git-lfs.github.com"sv)), "a Git LFS pointer, not the file itself");
  EXPECT_EQ(kind_of_file(bytes_of("hello\n"sv)), "a text file");
  EXPECT_EQ(kind_of_file(bytes_of("\1\2\3\4"sv)), "");
  EXPECT_EQ(kind_of_file({}), "");
}

}  // namespace
}  // namespace tenure
