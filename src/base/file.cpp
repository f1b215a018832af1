#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>

namespace tenure {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void refuse(const std::filesystem::path& file, const char* verb, int error) {
  const std::string name = "'" + file.string() + "'";
  switch (error) {
    case ENOENT:
    case ENOTDIR: throw Error(ErrorCode::kNotFound, "there is no file " + name);
    case EACCES:
    case EPERM:
      throw Error(ErrorCode::kInvalidArgument, "no permission to " + std::string(verb) + " " + name +
                                                   "; expected a file that this user may " + verb);
    case ENOSPC:
    case EDQUOT:
      throw Error(ErrorCode::kResourceExhausted,
                  "the disk is full: " + name + " could not be written; free some space and try again");
    default:
      throw Error(ErrorCode::kDataLoss,
                  "could not " + std::string(verb) + " " + name + ": " + std::generic_category().message(error));
  }
}

struct OpenedFile {
  FileHandle handle;
  std::size_t size = 0;
};

OpenedFile open_to_read(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse(file, "read", error ? error.value() : ENOENT);
  // A pipe or a device could hang the reader or feed it without end.
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + file.string() + "' is " +
                    (std::filesystem::is_directory(status) ? "a folder" : "no regular file") + "; expected a file");
  }
  OpenedFile opened;
  opened.handle.reset(std::fopen(file.c_str(), "rb"));
  if (opened.handle == nullptr) refuse(file, "read", errno);
  opened.size = std::filesystem::file_size(file, error);
  if (error) refuse(file, "read", error.value());
  return opened;
}

std::vector<std::byte> read_bytes(const std::filesystem::path& file, OpenedFile opened, std::size_t count) {
  std::vector<std::byte> bytes(count);
  if (count == 0) return bytes;
  const std::size_t got = std::fread(bytes.data(), 1, count, opened.handle.get());
  if (got == count) return bytes;
  if (std::ferror(opened.handle.get()) != 0) refuse(file, "read", errno);
  throw Error(ErrorCode::kDataLoss, "'" + file.string() + "' became shorter while it was read: " + std::to_string(got) +
                                        " of " + std::to_string(count) + " bytes");
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic, std::size_t at = 0) noexcept {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

// An ONNX file is a bare protobuf message: its first field is the version of the format, a small number, then a text.
bool looks_like_onnx(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < 3 || bytes[0] != std::byte{0x08}) return false;
  const bool version = bytes[1] >= std::byte{1} && bytes[1] <= std::byte{32};
  return version && (bytes[2] == std::byte{0x12} || bytes[2] == std::byte{0x3a} || bytes[2] == std::byte{0x42});
}

bool looks_like_text(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return false;
  for (const std::byte byte : bytes) {
    const auto c = std::to_integer<unsigned char>(byte);
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c >= 0x7f) return false;
  }
  return true;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& file, std::size_t limit) {
  OpenedFile opened = open_to_read(file);
  const std::size_t size = opened.size;
  if (size > limit) {
    throw Error(ErrorCode::kInvalidArgument, "'" + file.string() + "' has " + std::to_string(size) +
                                                 " bytes; expected at most " + std::to_string(limit));
  }
  return read_bytes(file, std::move(opened), size);
}

std::vector<std::byte> read_file_start(const std::filesystem::path& file, std::size_t count) {
  OpenedFile opened = open_to_read(file);
  const std::size_t size = opened.size < count ? opened.size : count;
  return read_bytes(file, std::move(opened), size);
}

void write_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::filesystem::path beside = file;
  beside += ".part";
  FileHandle handle(std::fopen(beside.c_str(), "wb"));
  if (handle == nullptr) refuse(file, "write", errno);
  const bool written = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), handle.get()) == bytes.size();
  int error = written ? 0 : errno;
  // The last block may only meet the full disk when the file is closed.
  if (std::fclose(handle.release()) != 0 && error == 0) error = errno;
  std::error_code moved;
  if (error == 0) std::filesystem::rename(beside, file, moved);
  if (error == 0 && !moved) return;
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  refuse(file, "write", error != 0 ? error : moved.value());
}

std::string_view kind_of_file(std::span<const std::byte> start) noexcept {
  using namespace std::string_view_literals;
  if (starts_with(start, "\x89PNG\r\n\x1a\n"sv)) return "a PNG image";
  if (starts_with(start, "\xff\xd8\xff"sv)) return "a JPEG image";
  if (starts_with(start, "GIF8"sv)) return "a GIF image";
  if (starts_with(start, "BM"sv) && !looks_like_text(start)) return "a BMP image";
  if (starts_with(start, "RIFF"sv) && starts_with(start, "WEBP"sv, 8)) return "a WebP image";
  if (starts_with(start, "TFL3"sv, 4)) return "a TFLite model";
  if (starts_with(start, "GGUF"sv)) return "a GGUF model";
  if (starts_with(start, "PK\x03\x04"sv)) return "a ZIP archive";
  if (starts_with(start, "\x1f\x8b"sv)) return "a gzip file";
  if (starts_with(start, "%PDF"sv)) return "a PDF document";
  if (starts_with(start,
                  "\x7f"
                  "ELF"sv))
    return "an ELF program";
  if (starts_with(start, "\x89HDF\r\n"sv)) return "an HDF5 file";
  if (starts_with(start, "\x93NUMPY"sv)) return "a NumPy array";
  if (looks_like_onnx(start)) return "an ONNX model";
  // What a failed download leaves in place of a model.
  if (starts_with(start, "version https://git-lfs"sv)) return "a Git LFS pointer, not the file itself";
  if (starts_with(start, "<!DOCTYPE"sv) || starts_with(start, "<html"sv)) return "a web page";
  if (looks_like_text(start)) return "a text file";
  return {};
}

}  // namespace tenure
