#include "engines/litert/tflite_model.hpp"

#include <algorithm>
#include <cmath>

namespace tenure::litert {
namespace {

constexpr std::size_t kMaxRank = 8;                                // LiteRT's own limit
constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{1} << 31;  // the engine counts in 32-bit numbers
constexpr std::int32_t kDequantize = 6;
constexpr std::int32_t kCustom = 32;
constexpr std::int32_t kMaxVersion = 100;
constexpr std::uint8_t kLastType = 22;
constexpr std::uint8_t kInt4 = 17;
constexpr std::uint8_t kInt2 = 19;
constexpr std::uint8_t kUInt4 = 20;

void require(bool holds, const char* what) {
  if (!holds) throw Damage{what};
}

struct Code {
  std::int32_t code = 0;
  std::string_view custom_name;
};

struct Buffers {
  std::vector<std::span<const std::byte>> data;
  std::vector<bool> present;
};

Buffers read_buffers(const FlatBytes& bytes, const FlatTable& model) {
  Buffers buffers;
  const FlatTables tables = model.tables(4);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const FlatTable table = tables[i];
    std::span<const std::byte> data = table.list<std::uint8_t>(0).bytes();
    const auto offset = table.number<std::uint64_t>(1, 0);
    const auto size = table.number<std::uint64_t>(2, 0);
    // Large models keep their constants behind the FlatBuffer; 0 and 1 mean that this one doesn't.
    if (offset > 1) {
      require(offset <= bytes.size() && size <= bytes.size() - offset, "a constant outside the file");
      data = bytes.range(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    }
    buffers.data.push_back(data);
    buffers.present.push_back(!data.empty());
  }
  // The format keeps the first buffer empty: it stands for "no constant".
  require(buffers.data.empty() || !buffers.present[0], "a first buffer that is not empty");
  return buffers;
}

std::vector<Code> read_codes(const FlatTable& model) {
  std::vector<Code> codes;
  const FlatTables tables = model.tables(1);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const FlatTable table = tables[i];
    const auto old_code = table.number<std::int8_t>(0, 0);
    const auto new_code = table.number<std::int32_t>(3, 0);
    const auto version = table.number<std::int32_t>(2, 1);
    Code code{.code = std::max<std::int32_t>(old_code, new_code), .custom_name = table.text(1)};
    require(old_code >= 0 && new_code >= 0 && code.code < 1024, "an operator of an unknown code");
    // Files carry the code twice, and an old reader sees only the first.
    require(new_code == 0 || old_code == 0 || old_code == new_code || (old_code == 127 && new_code > 127),
            "an operator with two different codes");
    require((code.code == kCustom) == !code.custom_name.empty(), "a custom operator without a name");
    require(version >= 1 && version <= kMaxVersion, "an operator of an impossible version");
    codes.push_back(code);
  }
  return codes;
}

std::vector<std::int32_t> read_indices(const FlatTable& table, unsigned field, std::size_t tensors,
                                       bool may_leave_out) {
  const auto list = table.list<std::int32_t>(field);
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int32_t index = list[i];
    require((may_leave_out && index == -1) || (index >= 0 && static_cast<std::size_t>(index) < tensors),
            "a tensor that does not exist");
    indices.push_back(index);
  }
  return indices;
}

void check_quantization(const FlatTable& table, const TfliteTensor& tensor) {
  const auto scales = table.list<float>(2);
  const auto zero_points = table.list<std::int64_t>(3);
  const auto dimension = table.number<std::int32_t>(6, 0);
  (void)table.list<float>(0);
  (void)table.list<float>(1);
  require(dimension >= 0 && static_cast<std::size_t>(dimension) < std::max<std::size_t>(tensor.shape.size(), 1),
          "a quantization over a dimension that does not exist");
  for (std::size_t i = 0; i < scales.size(); ++i) {
    require(std::isfinite(scales[i]) && scales[i] >= 0.0F, "a quantization scale that is no number");
  }
  for (std::size_t i = 0; i < zero_points.size(); ++i) {
    require(zero_points[i] >= INT32_MIN && zero_points[i] <= INT32_MAX, "a quantization zero point out of range");
  }
  if (scales.size() > 1) {
    require(!tensor.shape.empty() &&
                static_cast<std::int64_t>(scales.size()) == tensor.shape[static_cast<std::size_t>(dimension)],
            "another number of quantization scales than channels");
  }
  require(zero_points.empty() || zero_points.size() == 1 || zero_points.size() == scales.size(),
          "another number of quantization zero points than scales");
}

std::uint64_t needed_bytes(const TfliteTensor& tensor) {
  const std::uint64_t count = tflite_element_count(tensor.shape);
  if (tensor.type == kInt4 || tensor.type == kUInt4) return (count + 1) / 2;
  if (tensor.type == kInt2) return (count + 3) / 4;
  return count * tflite_element_bytes(tensor.type);
}

TfliteTensor read_tensor(const FlatTable& table, const Buffers& buffers) {
  TfliteTensor tensor;
  const auto shape = table.list<std::int32_t>(0);
  const auto open_shape = table.list<std::int32_t>(7);
  require(shape.size() <= kMaxRank, "a tensor of more than 8 dimensions");
  require(open_shape.empty() || open_shape.size() == shape.size(), "two shapes of different rank for one tensor");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    require(shape[i] >= 0 || shape[i] == -1, "a negative dimension");
    if (!open_shape.empty()) require(open_shape[i] == -1 || open_shape[i] == shape[i], "two different shapes");
    tensor.open = tensor.open || shape[i] == -1 || (!open_shape.empty() && open_shape[i] == -1);
    tensor.shape.push_back(std::max<std::int64_t>(shape[i], shape[i] == -1 ? 1 : 0));
  }
  const auto type = table.number<std::int8_t>(1, 0);
  require(type >= 0 && type <= kLastType, "a tensor of an unknown element type");
  tensor.type = static_cast<std::uint8_t>(type);
  (void)table.text(3);
  tensor.variable = table.number<std::uint8_t>(5, 0) != 0;
  tensor.sparse = table.table(6).has_value();
  require(table.number<std::uint32_t>(10, 0) == 0, "a constant kept in another file, which Tenure does not open");
  require(needed_bytes(tensor) <= kMaxTensorBytes, "a tensor of more than 2 GiB");
  const auto buffer = table.number<std::uint32_t>(2, 0);
  require(buffer == 0 || buffer < buffers.data.size(), "a constant that does not exist");
  tensor.constant = buffer != 0 && buffers.present[buffer];
  if (tensor.constant) {
    tensor.values = buffers.data[buffer];
    require(!tensor.variable, "a constant that is a variable");
    const bool sized = needed_bytes(tensor) != 0 || tflite_element_bytes(tensor.type) != 0;
    if (sized && !tensor.sparse) {
      require(tensor.values.size() == needed_bytes(tensor), "a constant of another size than its shape");
    }
  }
  if (const std::optional<FlatTable> quantization = table.table(4)) check_quantization(*quantization, tensor);
  return tensor;
}

TfliteOperator read_operator(const FlatTable& table, const std::vector<Code>& codes, std::size_t tensors) {
  TfliteOperator op;
  const auto code = table.number<std::uint32_t>(0, 0);
  require(code < codes.size(), "an operator without its code");
  op.code = codes[code].code;
  op.custom_name = codes[code].custom_name;
  op.inputs = read_indices(table, 1, tensors, true);
  op.outputs = read_indices(table, 2, tensors, false);
  op.options_type = table.number<std::uint8_t>(3, 0);
  op.options = table.table(4);
  require(op.options_type != 0 || !op.options, "options of no kind");
  op.custom_options = table.list<std::uint8_t>(5).bytes();
  require(table.number<std::int8_t>(6, 0) == 0, "custom options in an unknown format");
  require(table.number<std::uint64_t>(9, 0) == 0 && table.number<std::uint64_t>(10, 0) == 0,
          "custom options outside the model");
  (void)read_indices(table, 8, tensors, true);
  return op;
}

// An operator may use what is given, constant or computed before it, and each tensor is computed once. The engine
// takes all of that for granted.
void check_order(const TfliteSubgraph& graph) {
  std::vector<bool> ready(graph.tensors.size(), false);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    ready[i] = graph.tensors[i].constant || graph.tensors[i].variable;
  for (const std::int32_t input : graph.inputs) {
    const auto index = static_cast<std::size_t>(input);
    require(!ready[index], "an input that is a constant, or named twice");
    ready[index] = true;
  }
  for (const TfliteOperator& op : graph.operators) {
    for (const std::int32_t input : op.inputs) {
      require(input == -1 || ready[static_cast<std::size_t>(input)], "an operator that uses what is not computed yet");
    }
    for (const std::int32_t output : op.outputs) {
      require(!ready[static_cast<std::size_t>(output)], "a tensor that is computed twice, or is given and computed");
      ready[static_cast<std::size_t>(output)] = true;
    }
  }
  for (const std::int32_t output : graph.outputs) {
    require(ready[static_cast<std::size_t>(output)], "an output that nothing computes");
  }
}

TfliteSubgraph read_subgraph(const FlatTable& table, const Buffers& buffers, const std::vector<Code>& codes) {
  TfliteSubgraph graph;
  const FlatTables tensors = table.tables(0);
  for (std::size_t i = 0; i < tensors.size(); ++i) graph.tensors.push_back(read_tensor(tensors[i], buffers));
  graph.inputs = read_indices(table, 1, graph.tensors.size(), false);
  graph.outputs = read_indices(table, 2, graph.tensors.size(), false);
  const FlatTables operators = table.tables(3);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    graph.operators.push_back(read_operator(operators[i], codes, graph.tensors.size()));
  }
  (void)table.text(4);
  check_order(graph);
  for (const TfliteOperator& op : graph.operators) {
    const bool of_constant = op.code == kDequantize && !op.inputs.empty() && op.inputs[0] >= 0 && !op.outputs.empty() &&
                             graph.tensors[static_cast<std::size_t>(op.inputs[0])].constant;
    if (of_constant) graph.tensors[static_cast<std::size_t>(op.outputs[0])].converted = true;
  }
  return graph;
}

void check_tensor_names(const FlatTable& signature, unsigned field, const std::vector<std::int32_t>& expected) {
  const FlatTables maps = signature.tables(field);
  require(maps.size() == expected.size(), "a signature with another number of tensors than its graph");
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const FlatTable map = maps[i];
    const auto index = map.number<std::uint32_t>(1, 0);
    require(!map.text(0).empty(), "a signature with a tensor of no name");
    require(std::ranges::find(expected, static_cast<std::int64_t>(index),
                              [](std::int32_t x) { return static_cast<std::int64_t>(x); }) != expected.end(),
            "a signature that names a tensor which its graph neither takes nor gives");
  }
}

void check_rest(const FlatTable& model, const TfliteModel& parsed, const Buffers& buffers) {
  const auto metadata_buffers = model.list<std::int32_t>(5);
  for (std::size_t i = 0; i < metadata_buffers.size(); ++i) {
    require(metadata_buffers[i] >= 0 && static_cast<std::size_t>(metadata_buffers[i]) < buffers.data.size(),
            "metadata that do not exist");
  }
  const FlatTables metadata = model.tables(6);
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    (void)metadata[i].text(0);
    require(metadata[i].number<std::uint32_t>(1, 0) < buffers.data.size(), "metadata that do not exist");
  }
  const FlatTables signatures = model.tables(7);
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const FlatTable signature = signatures[i];
    const auto graph = signature.number<std::uint32_t>(4, 0);
    require(graph < parsed.subgraphs.size(), "a signature of a graph that does not exist");
    require(!signature.text(2).empty(), "a signature without a name");
    check_tensor_names(signature, 0, parsed.subgraphs[graph].inputs);
    check_tensor_names(signature, 1, parsed.subgraphs[graph].outputs);
  }
  require(model.tables(8).size() == 0 && model.tables(9).size() == 0,
          "constants kept in other files, which Tenure does not open");
}

}  // namespace

std::size_t tflite_element_bytes(std::uint8_t type) noexcept {
  switch (type) {
    case 3:
    case 6:
    case 9:
    case 21:
    case 22: return 1;
    case 1:
    case 7:
    case 16:
    case 18: return 2;
    case 0:
    case 2:
    case 15: return 4;
    case 4:
    case 8:
    case 10:
    case 12: return 8;
    case 11: return 16;
    default: return 0;
  }
}

std::uint64_t tflite_element_count(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape) {
    // Each factor has 31 bits, so the product of two in range can't overflow before it is seen.
    count *= static_cast<std::uint64_t>(extent);
    require(count <= kMaxTensorBytes, "a tensor of more than 2 GiB");
  }
  return count;
}

TfliteModel parse_tflite(const FlatBytes& bytes) {
  const FlatTable root(bytes, bytes.follow(0));
  require(root.number<std::uint32_t>(0, 0) == 3, "another version of the format than 3");
  const std::vector<Code> codes = read_codes(root);
  const Buffers buffers = read_buffers(bytes, root);
  (void)root.text(3);
  TfliteModel model;
  const FlatTables subgraphs = root.tables(2);
  require(subgraphs.size() >= 1, "no graph");
  for (std::size_t i = 0; i < subgraphs.size(); ++i) {
    model.subgraphs.push_back(read_subgraph(subgraphs[i], buffers, codes));
  }
  check_rest(root, model, buffers);
  return model;
}

}  // namespace tenure::litert
