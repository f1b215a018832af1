#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <tenure/tensor/tensor.hpp>

namespace tenure {

/// Reads a NumPy array file (.npy, version 1, little-endian, C order) of one of Tenure's element types.
///
/// Returns   a tensor with the array's type and shape, and no name.
/// Errors    kNotFound: no such file. kInvalidArgument: another kind of file, version, byte order, element type or
///           order of elements; more than 16 dimensions; no permission. kDataLoss: the header is damaged, or the data
///           is shorter or longer than its shape says. Each names the file, what was wrong and what was expected.
/// Cancel    no cancellation point.
/// Threads   any.
[[nodiscard]] Tensor read_npy(const std::filesystem::path& file);

/// As `read_npy`, from memory; `name` stands for the file in messages.
[[nodiscard]] Tensor parse_npy(std::span<const std::byte> bytes, std::string_view name);

/// Writes a tensor as a NumPy array file, which `numpy.load` reads.
///
/// Returns   nothing; the file is complete or not there.
/// Errors    as `write_file`.
/// Cancel    no cancellation point.
/// Threads   any.
void write_npy(const std::filesystem::path& file, const Tensor& tensor);

}  // namespace tenure
