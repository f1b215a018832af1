#include <string>
#include <tenure/base/error.hpp>
#include <tenure/engine/views.hpp>

namespace tenure {
namespace {

bool shape_fits(const Shape& given, const Shape& expected) noexcept {
  if (given.size() != expected.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0 || (expected[i] >= 0 && given[i] != expected[i])) return false;
  }
  return true;
}

std::string type_and_shape(const TensorSpec& spec) {
  return std::string(to_string(spec.type)) + " " + to_string(spec.shape);
}

template <class View>
void require_side(const std::vector<TensorSpec>& specs, std::span<const View> views, const char* side) {
  if (views.size() != specs.size()) {
    std::string expected;
    for (const TensorSpec& spec : specs) {
      expected += (expected.empty() ? "'" : ", '") + spec.name + "' " + type_and_shape(spec);
    }
    throw Error(ErrorCode::kInvalidArgument, std::to_string(views.size()) + " " + side +
                                                 " tensors were given; expected " + std::to_string(specs.size()) +
                                                 ": " + expected);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const TensorSpec& spec = specs[i];
    const View& view = views[i];
    // The name is only put together for a message: this stands before every run.
    const auto name = [&] { return std::string(side) + " '" + spec.name + "'"; };
    if (view.spec == nullptr || view.spec->type != spec.type || !shape_fits(view.spec->shape, spec.shape)) {
      throw Error(ErrorCode::kInvalidArgument,
                  name() + " is " + (view.spec == nullptr ? "not described" : type_and_shape(*view.spec)) +
                      "; expected " + type_and_shape(spec));
    }
    const std::size_t expected = view.spec->byte_size();
    if (view.bytes.size() != expected || (expected != 0 && view.bytes.data() == nullptr)) {
      throw Error(ErrorCode::kInvalidArgument, name() + " has " + std::to_string(view.bytes.size()) +
                                                   " bytes; expected " + std::to_string(expected) + " for " +
                                                   type_and_shape(*view.spec));
    }
  }
}

}  // namespace

void require_views(const ModelSignature& signature, std::span<const ConstTensorView> inputs,
                   std::span<const TensorView> outputs) {
  require_side(signature.inputs, inputs, "input");
  require_side(signature.outputs, outputs, "output");
}

}  // namespace tenure
