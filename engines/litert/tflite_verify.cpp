#include "engines/litert/tflite_verify.hpp"

#include <algorithm>
#include <string>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>
#include <vector>

#include "engines/litert/tflite_model.hpp"

namespace tenure::litert {
namespace {

constexpr std::size_t kSmallestFile = 64;
constexpr std::int32_t kCustom = 32;

bool is_dynamic(const TfliteSubgraph& graph) { return std::ranges::any_of(graph.tensors, &TfliteTensor::open); }

std::uint64_t bytes_of(const TfliteTensor& tensor) {
  return tflite_element_count(tensor.shape) * tflite_element_bytes(tensor.type);
}

void add_weights(const TfliteSubgraph& graph, TfliteSummary& summary) {
  for (const TfliteTensor& tensor : graph.tensors) {
    // Small constants are shapes and the like, not weights.
    if (tensor.constant && tensor.shape.size() > 1) summary.weight_elements += tflite_element_count(tensor.shape);
  }
}

/// The most that is alive at once when each tensor lives from the operator that computes it to the last that uses it.
void add_activations(const TfliteSubgraph& graph, TfliteSummary& summary) {
  const std::size_t steps = graph.operators.size() + 1;
  constexpr std::size_t kNever = SIZE_MAX;
  std::vector<std::size_t> begin(graph.tensors.size(), kNever);
  std::vector<std::size_t> end(graph.tensors.size(), 0);
  for (const std::int32_t input : graph.inputs) begin[static_cast<std::size_t>(input)] = 0;
  for (std::size_t step = 0; step < graph.operators.size(); ++step) {
    const TfliteOperator& op = graph.operators[step];
    for (const std::int32_t input : op.inputs) {
      if (input >= 0) end[static_cast<std::size_t>(input)] = step;
    }
    for (const std::int32_t output : op.outputs) {
      if (graph.tensors[static_cast<std::size_t>(output)].converted) {
        summary.converted_weight_bytes += bytes_of(graph.tensors[static_cast<std::size_t>(output)]);
      } else {
        begin[static_cast<std::size_t>(output)] = step;
      }
    }
  }
  for (const std::int32_t output : graph.outputs) end[static_cast<std::size_t>(output)] = steps - 1;
  std::vector<std::int64_t> change(steps + 1, 0);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (begin[i] == kNever) continue;
    const auto bytes = static_cast<std::int64_t>(bytes_of(graph.tensors[i]));
    change[begin[i]] += bytes;
    change[std::max(begin[i], end[i]) + 1] -= bytes;
  }
  std::int64_t alive = 0;
  std::int64_t peak = 0;
  for (const std::int64_t step : change) peak = std::max(peak, alive += step);
  summary.peak_activation_bytes += static_cast<std::uint64_t>(peak);
}

TfliteSummary summarise(const TfliteModel& model) {
  TfliteSummary summary;
  for (const TfliteSubgraph& graph : model.subgraphs) {
    const bool dynamic = is_dynamic(graph);
    for (const TfliteOperator& op : graph.operators) {
      check_operator(graph, op, dynamic);
      ++summary.operators;
      if (op.code == kCustom) ++summary.custom_operators;
    }
    add_weights(graph, summary);
    add_activations(graph, summary);
  }
  return summary;
}

}  // namespace

TfliteSummary verify_tflite(std::span<const std::byte> file, std::string_view name) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (file.empty()) throw Error(ErrorCode::kDataLoss, quoted + " is empty; expected a TFLite model");
  const std::string_view kind = kind_of_file(file.first(std::min<std::size_t>(file.size(), 64)));
  if (kind != "a TFLite model") {
    throw Error(ErrorCode::kInvalidArgument,
                quoted + " is " + (kind.empty() ? "no TFLite model" : std::string(kind)) + "; expected a TFLite model");
  }
  try {
    if (file.size() < kSmallestFile) throw Damage{"fewer bytes than the smallest model"};
    return summarise(parse_tflite(FlatBytes(file)));
  } catch (const Damage& damage) {
    throw Error(ErrorCode::kDataLoss, quoted + " is a damaged or cut-short TFLite model: it has " + damage.what +
                                          "; expected the file as it was published");
  }
}

}  // namespace tenure::litert
