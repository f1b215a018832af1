#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenure::litert {

/// What a verified model needs, as far as its file tells.
struct TfliteSummary {
  std::uint64_t weight_elements = 0;         ///< over all constant tensors of more than one dimension
  std::uint64_t converted_weight_bytes = 0;  ///< of weights that stand in the file in a smaller type
  std::uint64_t peak_activation_bytes = 0;   ///< the most that is alive at once of what runs compute
  std::uint32_t operators = 0;
  std::uint32_t custom_operators = 0;
};

/// Verifies a .tflite file before the engine sees it, since the engine trusts it: every offset, length and index in
/// range, every constant as large as its shape says, every operator with the inputs and options that it needs.
///
/// Returns   what the model needs.
/// Errors    kDataLoss: empty, cut short or damaged; kInvalidArgument: another kind of file. Each names the file, what
///           was wrong and what was expected.
/// Cancel    no cancellation point.
/// Threads   any.
TfliteSummary verify_tflite(std::span<const std::byte> file, std::string_view name);

}  // namespace tenure::litert
