#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/litert/flatbuffer_view.hpp"

namespace tenure::litert {

/// The element types of the format that have a size of their own, by their numbers there.
enum class TfliteType : std::uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUInt8 = 3,
  kInt64 = 4,
  kInt8 = 9,
  kInt16 = 7
};

struct TfliteTensor {
  std::vector<std::int64_t> shape;
  std::uint8_t type = 0;
  bool open = false;      ///< the model leaves a dimension to its caller
  bool constant = false;  ///< its values stand in the file
  bool variable = false;
  bool sparse = false;
  bool converted = false;  ///< a constant of a smaller type, which an operator widens
  std::span<const std::byte> values;

  [[nodiscard]] bool is(TfliteType wanted) const noexcept { return type == static_cast<std::uint8_t>(wanted); }
};

struct TfliteOperator {
  std::int32_t code = 0;
  std::string_view custom_name;
  std::vector<std::int32_t> inputs;  ///< -1: left out
  std::vector<std::int32_t> outputs;
  std::uint8_t options_type = 0;
  std::optional<FlatTable> options;
  std::span<const std::byte> custom_options;
};

struct TfliteSubgraph {
  std::vector<TfliteTensor> tensors;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<TfliteOperator> operators;  ///< each uses only what stands before it
};

struct TfliteModel {
  std::vector<TfliteSubgraph> subgraphs;
};

/// The bytes of one element, 0 where the type has none (text, resources) or packs several into a byte.
[[nodiscard]] std::size_t tflite_element_bytes(std::uint8_t type) noexcept;
[[nodiscard]] std::uint64_t tflite_element_count(const std::vector<std::int64_t>& shape);

/// Reads the parts of a model that decide what the engine allocates and touches, and checks all that holds for every
/// operator: offsets, indices, sizes of constants, the order of the graph. Throws Damage.
[[nodiscard]] TfliteModel parse_tflite(const FlatBytes& bytes);

/// Checks one operator against its inputs, options and outputs, where its kind is known; `dynamic` leaves the shape of
/// outputs open. Throws Damage.
void check_operator(const TfliteSubgraph& graph, const TfliteOperator& op, bool dynamic);

}  // namespace tenure::litert
