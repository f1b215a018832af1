#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace tenure {

/// No file that Tenure reads whole may be larger than this, unless its reader says so: a model of 4 GiB is not mapped
/// into a vector by accident.
inline constexpr std::size_t kMaxFileBytes = std::size_t{4} << 30;

/// Reads a whole regular file.
///
/// Returns   its bytes.
/// Errors    kNotFound: no such file. kInvalidArgument: a folder, a device, larger than `limit`, or no permission
///           (the message says which). kDataLoss: it could not be read to its end.
/// Cancel    no cancellation point; call it from a thread that may block.
/// Threads   any.
[[nodiscard]] std::vector<std::byte> read_file(const std::filesystem::path& file, std::size_t limit = kMaxFileBytes);

/// Reads the first bytes of a regular file, at most `count`.
///
/// Returns   what is there; less than `count` where the file is shorter.
/// Errors    as `read_file`.
/// Cancel    no cancellation point.
/// Threads   any.
[[nodiscard]] std::vector<std::byte> read_file_start(const std::filesystem::path& file, std::size_t count);

/// Writes a whole file: beside it first, then in its place, so that a full disk leaves no half of one.
///
/// Returns   nothing.
/// Errors    kNotFound: no such folder. kInvalidArgument: no permission. kResourceExhausted: the disk is full.
/// Cancel    no cancellation point.
/// Threads   any; two writers of one file: the last one wins.
void write_file(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// What a file is, told from its first bytes (16 are enough but for text).
///
/// Returns   such as "a PNG image" or "a GGUF model"; empty where it isn't known.
/// Errors    none.
/// Cancel    no cancellation point.
/// Threads   any.
[[nodiscard]] std::string_view kind_of_file(std::span<const std::byte> start) noexcept;

}  // namespace tenure
