#include <algorithm>
#include <array>
#include <cstring>

#include "engines/litert/operator_forms.hpp"
#include "engines/litert/tflite_model.hpp"

namespace tenure::litert {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr std::int64_t kMaxStep = 1 << 16;  // of strides, windows and dilations: keeps all products in range

void require(bool holds, const char* what) {
  if (!holds) throw Damage{what};
}

/// An operator with its tensors at hand.
class Checked {
 public:
  Checked(const TfliteSubgraph& graph, const TfliteOperator& op, bool dynamic)
      : graph_(graph), op_(op), dynamic_(dynamic) {}

  void arity(std::size_t least, std::size_t most) const {
    require(op_.inputs.size() >= least && op_.inputs.size() <= most, "an operator with the wrong number of inputs");
    require(op_.outputs.size() == 1, "an operator with the wrong number of outputs");
    for (std::size_t i = 0; i < least; ++i) require(op_.inputs[i] >= 0, "an operator without an input that it needs");
  }
  void options(std::uint8_t type, bool needed) const {
    require(op_.options_type == type || (!needed && op_.options_type == 0), "an operator with options of another kind");
    require(!needed || op_.options.has_value(), "an operator without its options");
  }
  [[nodiscard]] const TfliteTensor& input(std::size_t index) const {
    return graph_.tensors[static_cast<std::size_t>(op_.inputs[index])];
  }
  [[nodiscard]] bool has_input(std::size_t index) const { return index < op_.inputs.size() && op_.inputs[index] >= 0; }
  [[nodiscard]] std::size_t inputs() const noexcept { return op_.inputs.size(); }
  [[nodiscard]] const TfliteTensor& output() const { return graph_.tensors[static_cast<std::size_t>(op_.outputs[0])]; }
  template <class Number>
  [[nodiscard]] Number option(unsigned field, Number otherwise) const {
    return op_.options ? op_.options->number<Number>(field, otherwise) : otherwise;
  }
  [[nodiscard]] FlatList<std::int32_t> list_option(unsigned field) const {
    return op_.options ? op_.options->list<std::int32_t>(field) : FlatList<std::int32_t>();
  }
  [[nodiscard]] std::int64_t step_option(unsigned field, std::int32_t otherwise = 0) const {
    const auto value = option<std::int32_t>(field, otherwise);
    require(value >= 1 && value <= kMaxStep, "a stride, a window or a dilation out of range");
    return value;
  }
  void activation(unsigned field) const {
    const auto value = option<std::int8_t>(field, 0);
    require(value >= 0 && value <= 5, "an unknown activation");
  }
  void gives(const Extents& shape) const {
    if (!dynamic_) require(output().shape == shape, "an operator whose output has another shape than it computes");
  }
  void same_type() const { require(input(0).type == output().type, "an operator that changes the element type"); }
  [[nodiscard]] const TfliteOperator& op() const noexcept { return op_; }

 private:
  const TfliteSubgraph& graph_;
  const TfliteOperator& op_;
  bool dynamic_;
};

std::int64_t windows(std::int64_t extent, std::int64_t window, std::int64_t stride, std::int64_t dilation, bool valid) {
  const std::int64_t reach = (window - 1) * dilation + 1;
  const std::int64_t count = valid ? (extent - reach + stride) / stride : (extent + stride - 1) / stride;
  require(extent >= 1 && count >= 1 && (!valid || extent >= reach), "a window larger than what it slides over");
  return count;
}

bool valid_padding(const Checked& op, unsigned field) {
  const auto padding = op.option<std::int8_t>(field, 0);
  require(padding == 0 || padding == 1, "an unknown padding");
  return padding == 1;
}

void check_weights(const TfliteTensor& input, const TfliteTensor& filter) {
  const bool integer_filter = filter.is(TfliteType::kInt8) || filter.is(TfliteType::kUInt8) || filter.type == 17;
  const bool float_pair = input.is(TfliteType::kFloat32) && (filter.is(TfliteType::kFloat32) || integer_filter);
  const bool integer_pair =
      (input.is(TfliteType::kInt8) || input.is(TfliteType::kUInt8) || input.is(TfliteType::kInt16)) && integer_filter;
  require(float_pair || integer_pair, "weights of a type that does not fit the input");
}

void check_bias(const Checked& op, std::int64_t channels) {
  if (!op.has_input(2)) return;
  const TfliteTensor& bias = op.input(2);
  const bool type_fits = op.input(0).is(TfliteType::kFloat32)
                             ? bias.is(TfliteType::kFloat32)
                             : bias.is(TfliteType::kInt32) || bias.is(TfliteType::kInt64);
  require(type_fits && bias.shape == Extents({channels}), "a bias that does not fit the weights");
}

void check_conv(const Checked& op, bool depthwise) {
  op.arity(2, 3);
  op.options(depthwise ? 2 : 1, true);
  op.same_type();
  const Extents& in = op.input(0).shape;
  const Extents& filter = op.input(1).shape;
  require(in.size() == 4 && filter.size() == 4, "a convolution of other than 4 dimensions");
  require(*std::ranges::min_element(in) >= 1 && *std::ranges::min_element(filter) >= 1, "an empty convolution");
  check_weights(op.input(0), op.input(1));
  const bool valid = valid_padding(op, 0);
  const std::int64_t stride_x = op.step_option(1);
  const std::int64_t stride_y = op.step_option(2);
  op.activation(depthwise ? 4 : 3);
  const std::int64_t dilation_x = op.step_option(depthwise ? 5 : 4, 1);
  const std::int64_t dilation_y = op.step_option(depthwise ? 6 : 5, 1);
  const std::int64_t channels = depthwise ? filter[3] : filter[0];
  if (depthwise) {
    const auto multiplier = op.option<std::int32_t>(3, 0);
    require(filter[0] == 1 && channels % in[3] == 0 && (multiplier == 0 || multiplier * in[3] == channels),
            "a depthwise convolution with weights for other channels");
    // The builtin kernel copies the bias without a look at whether there is one, and XNNPACK leaves such a node to it.
    require(op.has_input(2) || !op.input(0).is(TfliteType::kFloat32), "a depthwise convolution without its bias");
  } else {
    require(in[3] % filter[3] == 0 && channels % (in[3] / filter[3]) == 0,
            "a convolution with weights for other channels");
  }
  check_bias(op, channels);
  op.gives({in[0], windows(in[1], filter[1], stride_y, dilation_y, valid),
            windows(in[2], filter[2], stride_x, dilation_x, valid), channels});
}

void check_pool(const Checked& op) {
  op.arity(1, 1);
  op.options(5, true);
  op.same_type();
  const Extents& in = op.input(0).shape;
  require(in.size() == 4, "a pooling of other than 4 dimensions");
  const bool valid = valid_padding(op, 0);
  op.activation(5);
  op.gives({in[0], windows(in[1], op.step_option(4), op.step_option(2), 1, valid),
            windows(in[2], op.step_option(3), op.step_option(1), 1, valid), in[3]});
}

void check_fully_connected(const Checked& op) {
  op.arity(2, 3);
  op.options(8, true);
  op.same_type();
  op.activation(0);
  const TfliteTensor& filter = op.input(1);
  require(filter.shape.size() == 2 && filter.shape[0] >= 1 && filter.shape[1] >= 1, "weights that are no matrix");
  check_weights(op.input(0), filter);
  require(op.option<std::int8_t>(1, 0) == 0, "weights in an order that Tenure does not know");
  const std::uint64_t elements = tflite_element_count(op.input(0).shape);
  const auto columns = static_cast<std::uint64_t>(filter.shape[1]);
  require(elements % columns == 0 && !op.input(0).shape.empty(), "weights that do not fit the input");
  check_bias(op, filter.shape[0]);
  const std::uint64_t given = tflite_element_count(op.output().shape);
  require(given == elements / columns * static_cast<std::uint64_t>(filter.shape[0]),
          "an operator whose output has another shape than it computes");
  require(!op.output().shape.empty() && op.output().shape.back() == filter.shape[0],
          "an operator whose output has another shape than it computes");
}

void check_two_sided(const Checked& op, std::uint8_t options_type) {
  op.arity(2, 2);
  op.options(options_type, false);
  op.same_type();
  op.activation(0);
  require(op.input(0).type == op.input(1).type, "an operator over two element types");
  const Extents& a = op.input(0).shape;
  const Extents& b = op.input(1).shape;
  Extents shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(x == y || x == 1 || y == 1, "an operator over two shapes that do not fit");
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  op.gives(shape);
}

void check_same_shape(const Checked& op) {
  op.arity(1, 1);
  op.same_type();
  op.gives(op.input(0).shape);
}

void check_dequantize(const Checked& op) {
  op.arity(1, 1);
  const TfliteTensor& input = op.input(0);
  require(
      op.output().is(TfliteType::kFloat32) && !input.is(TfliteType::kFloat32) && tflite_element_bytes(input.type) <= 2,
      "a conversion between element types that does not exist");
  op.gives(input.shape);
}

void check_concatenation(const Checked& op) {
  op.arity(1, 1024);
  op.options(10, true);
  op.same_type();
  op.activation(1);
  Extents shape = op.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = op.option<std::int32_t>(0, 0);
  axis += axis < 0 ? rank : 0;
  require(axis >= 0 && axis < rank, "a dimension that does not exist");
  for (std::size_t i = 1; i < op.inputs(); ++i) {
    require(op.has_input(i), "an operator without an input that it needs");
    require(op.input(i).type == op.input(0).type && op.input(i).shape.size() == shape.size(), "parts that do not fit");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t extent = op.input(i).shape[d];
      if (d == static_cast<std::size_t>(axis)) {
        shape[d] += extent;
      } else {
        require(shape[d] == extent, "parts that do not fit");
      }
    }
  }
  op.gives(shape);
}

/// The values of a constant list of 32-bit numbers; Damage where it is none.
Extents constant_numbers(const TfliteTensor& tensor) {
  require(tensor.constant && tensor.is(TfliteType::kInt32) && !tensor.sparse, "a list of numbers that is no constant");
  Extents numbers;
  for (std::size_t at = 0; at + 4 <= tensor.values.size(); at += 4) {
    std::int32_t number = 0;
    std::memcpy(&number, tensor.values.data() + at, sizeof(number));
    numbers.push_back(number);
  }
  return numbers;
}

void check_reshape(const Checked& op) {
  op.arity(1, 2);
  op.options(17, false);
  op.same_type();
  require(tflite_element_count(op.input(0).shape) == tflite_element_count(op.output().shape),
          "a reshape to another number of elements");
  Extents wanted;
  if (op.has_input(1)) {
    if (!op.input(1).constant) return;
    wanted = constant_numbers(op.input(1));
  } else {
    const auto list = op.list_option(0);
    for (std::size_t i = 0; i < list.size(); ++i) wanted.push_back(list[i]);
  }
  require(wanted.size() == op.output().shape.size() && std::ranges::count(wanted, -1) <= 1,
          "a reshape to another shape");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    require(wanted[i] == -1 || wanted[i] == op.output().shape[i], "a reshape to another shape");
  }
}

void check_resize(const Checked& op) {
  op.arity(2, 2);
  op.options(15, true);
  op.same_type();
  const Extents& in = op.input(0).shape;
  require(in.size() == 4, "a resize of other than 4 dimensions");
  if (!op.input(1).constant) return;
  const Extents size = constant_numbers(op.input(1));
  require(size.size() == 2 && size[0] >= 1 && size[1] >= 1, "a resize to no size");
  require(in[1] >= 1 && in[2] >= 1, "a resize of nothing");
  // The engine refuses both at once only after it has divided by what they leave.
  require(!(op.option<std::uint8_t>(2, 0) != 0 && op.option<std::uint8_t>(3, 0) != 0), "a resize of two kinds at once");
  op.gives({in[0], size[0], size[1], in[3]});
}

void check_pad(const Checked& op) {
  op.arity(2, 2);
  op.same_type();
  Extents shape = op.input(0).shape;
  if (!op.input(1).constant) return;
  require(op.input(1).shape == Extents({static_cast<std::int64_t>(shape.size()), 2}), "a padding of other dimensions");
  const Extents padding = constant_numbers(op.input(1));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    require(padding[2 * i] >= 0 && padding[2 * i + 1] >= 0, "a negative padding");
    shape[i] += padding[2 * i] + padding[2 * i + 1];
  }
  op.gives(shape);
}

void check_mean(const Checked& op) {
  op.arity(2, 2);
  op.options(27, true);
  op.same_type();
  const Extents& in = op.input(0).shape;
  if (!op.input(1).constant) return;
  std::vector<bool> reduced(in.size(), false);
  for (std::int64_t axis : constant_numbers(op.input(1))) {
    axis += axis < 0 ? static_cast<std::int64_t>(in.size()) : 0;
    require(axis >= 0 && axis < static_cast<std::int64_t>(in.size()), "a dimension that does not exist");
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  const bool keep = op.option<std::uint8_t>(0, 0) != 0;
  Extents shape;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!reduced[i]) shape.push_back(in[i]);
    if (reduced[i] && keep) shape.push_back(1);
  }
  op.gives(shape);
}

// MediaPipe's operator, which XNNPACK runs: its options are three 32-bit numbers, read without a check of their size.
void check_transposed_convolution(const Checked& op) {
  op.arity(3, 3);
  op.same_type();
  const Extents& in = op.input(0).shape;
  const Extents& filter = op.input(1).shape;
  require(op.op().custom_options.size() >= 12, "an operator without its options");
  std::array<std::int32_t, 3> options{};
  std::memcpy(options.data(), op.op().custom_options.data(), sizeof(options));
  const auto [padding, stride_x, stride_y] = options;
  require(padding == 1 || padding == 2, "an unknown padding");
  require(stride_x >= 1 && stride_x <= kMaxStep && stride_y >= 1 && stride_y <= kMaxStep, "a stride out of range");
  require(in.size() == 4 && filter.size() == 4 && filter[3] == in[3], "a convolution with weights for other channels");
  check_weights(op.input(0), op.input(1));
  check_bias(op, filter[0]);
  const auto extent = [valid = padding == 2](std::int64_t from, std::int64_t stride, std::int64_t window) {
    return valid ? (from - 1) * stride + window : from * stride;
  };
  op.gives({in[0], extent(in[1], stride_y, filter[1]), extent(in[2], stride_x, filter[2]), filter[0]});
}

void check_form(const TfliteOperator& op) {
  const OperatorForm* form = find_operator_form(op.code);
  if (form == nullptr) return;
  require(op.inputs.size() >= form->least_inputs && op.inputs.size() <= form->most_inputs,
          "an operator with the wrong number of inputs");
  require(op.outputs.size() >= form->least_outputs && op.outputs.size() <= form->most_outputs,
          "an operator with the wrong number of outputs");
  for (std::size_t i = 0; i < form->least_inputs; ++i) {
    require(op.inputs[i] >= 0, "an operator without an input that it needs");
  }
  require(form->options == 0 || op.options_type == 0 || op.options_type == form->options,
          "an operator with options of another kind");
}

}  // namespace

void check_operator(const TfliteSubgraph& graph, const TfliteOperator& op, bool dynamic) {
  check_form(op);
  const Checked checked(graph, op, dynamic);
  switch (op.code) {
    case 0: return check_two_sided(checked, 11);    // ADD
    case 1: return check_pool(checked);             // AVERAGE_POOL_2D
    case 2: return check_concatenation(checked);    // CONCATENATION
    case 3: return check_conv(checked, false);      // CONV_2D
    case 4: return check_conv(checked, true);       // DEPTHWISE_CONV_2D
    case 6: return check_dequantize(checked);       // DEQUANTIZE
    case 9: return check_fully_connected(checked);  // FULLY_CONNECTED
    case 17: return check_pool(checked);            // MAX_POOL_2D
    case 18: return check_two_sided(checked, 21);   // MUL
    case 41: return check_two_sided(checked, 28);   // SUB
    case 42: return check_two_sided(checked, 29);   // DIV
    case 22: return check_reshape(checked);         // RESHAPE
    case 23: return check_resize(checked);          // RESIZE_BILINEAR
    case 34: return check_pad(checked);             // PAD
    case 40: return check_mean(checked);            // MEAN
    case 14:
    case 19:
    case 20:
    case 21:
    case 28:
    case 98:
    case 117: return check_same_shape(checked);
    case 32:
      if (op.custom_name == "Convolution2DTransposeBias") check_transposed_convolution(checked);
      return;
    default: return;
  }
}

}  // namespace tenure::litert
