#include "cli/run/inputs.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <tenure/base/error.hpp>
#include <tenure/tensor/npy.hpp>

#include "cli/json_of.hpp"

namespace tenure::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::kInvalidArgument, message); }

std::string inputs_of(const ModelSignature& signature) {
  std::string text;
  for (const TensorSpec& spec : signature.inputs) {
    text += (text.empty() ? "'" : ", '") + spec.name + "' " + text_of(spec);
  }
  return text;
}

// The same on every system, which the standard's distributions are not.
float uniform(std::mt19937_64& random, ImageRange range) {
  const auto fraction = static_cast<float>(random() >> 40U) * 0x1p-24F;
  return range.low + fraction * (range.high - range.low);
}

void fill(Tensor& tensor, std::mt19937_64& random, ImageRange range) {
  switch (tensor.spec().type) {
    case ElementType::kFloat32:
      for (float& value : tensor.view<float>()) value = uniform(random, range);
      return;
    case ElementType::kInt32:
      for (std::int32_t& value : tensor.view<std::int32_t>()) value = static_cast<std::int32_t>(random() % 256);
      return;
    case ElementType::kInt64:
      for (std::int64_t& value : tensor.view<std::int64_t>()) value = static_cast<std::int64_t>(random() % 256);
      return;
    case ElementType::kBool:
      for (std::byte& value : tensor.bytes()) value = std::byte(random() % 2);
      return;
    case ElementType::kFloat16:
      // 0x3C00 is 1: between 1 and 2, whatever the ten bits of the fraction are.
      for (std::size_t i = 0; i + 1 < tensor.byte_size(); i += 2) {
        const auto value = static_cast<std::uint16_t>(0x3C00U | (random() & 0x3FFU));
        std::memcpy(tensor.bytes().data() + i, &value, sizeof(value));
      }
      return;
    case ElementType::kInt8:
    case ElementType::kUInt8:
    case ElementType::kInt16:
      for (std::byte& value : tensor.bytes()) value = std::byte(random() & 0xFFU);
      return;
  }
}

}  // namespace

InputSource InputSource::from_image(const std::filesystem::path& file, const KnownModel* model) {
  InputSource source;
  source.description_ = "the image " + file.string();
  source.image_ = read_image(file);
  if (model != nullptr) {
    source.range_ = model->range;
    source.fit_ = model->fit;
  }
  return source;
}

InputSource InputSource::from_arrays(const std::vector<std::string>& named_files) {
  InputSource source;
  for (const std::string& named_file : named_files) {
    const std::size_t sign = named_file.find('=');
    NamedArray array;
    array.name = sign == std::string::npos ? "" : named_file.substr(0, sign);
    array.file = sign == std::string::npos ? named_file : named_file.substr(sign + 1);
    if (sign == 0 || array.file.empty()) refuse("--input " + named_file + ": expected NAME=FILE.npy");
    array.tensor = read_npy(array.file);
    source.description_ += (source.description_.empty() ? "" : ", ") + array.file.string();
    source.arrays_.push_back(std::move(array));
  }
  return source;
}

InputSource InputSource::from_seed(std::uint64_t seed, const KnownModel* model) {
  InputSource source;
  source.description_ = "random values of seed " + std::to_string(seed);
  source.seed_ = seed;
  if (model != nullptr) source.range_ = model->range;
  return source;
}

Inputs InputSource::make(const ModelSignature& signature) const {
  if (image_) return make_from_image(signature);
  return arrays_.empty() ? make_from_seed(signature) : make_from_arrays(signature);
}

Inputs InputSource::make_from_image(const ModelSignature& signature) const {
  if (signature.inputs.size() != 1) {
    refuse("an image serves a model of one input; this one takes " + inputs_of(signature) +
           ": give them with --input NAME=FILE.npy");
  }
  Inputs inputs;
  inputs.add(fit(*image_, signature.inputs.front(), range_, fit_));
  return inputs;
}

Inputs InputSource::make_from_arrays(const ModelSignature& signature) const {
  const auto name_of = [&signature](const NamedArray& array) -> std::string {
    if (!array.name.empty()) return array.name;
    if (signature.inputs.size() == 1) return signature.inputs.front().name;
    refuse("--input " + array.file.string() + " names no input; the model takes " + inputs_of(signature));
  };
  std::vector<const NamedArray*> by_input(signature.inputs.size(), nullptr);
  for (const NamedArray& array : arrays_) {
    const std::string name = name_of(array);
    const auto found = std::ranges::find(signature.inputs, name, &TensorSpec::name);
    if (found == signature.inputs.end()) {
      throw Error(ErrorCode::kNotFound, "the model has no input '" + name + "'; it takes " + inputs_of(signature));
    }
    const NamedArray*& place = by_input.at(static_cast<std::size_t>(found - signature.inputs.begin()));
    if (place != nullptr) refuse("the input '" + name + "' is given twice; expected once");
    place = &array;
    const TensorSpec& given = array.tensor.spec();
    if (given.type != found->type || given.shape != found->shape) {
      refuse("'" + array.file.string() + "' holds " + text_of(given) + "; the input '" + name + "' takes " +
             text_of(*found));
    }
  }
  Inputs inputs;
  for (std::size_t i = 0; i < by_input.size(); ++i) {
    const TensorSpec& spec = signature.inputs[i];
    if (by_input[i] == nullptr) {
      refuse("the input '" + spec.name + "' is not given; the model takes " + inputs_of(signature));
    }
    Tensor tensor(spec);
    std::ranges::copy(by_input[i]->tensor.bytes(), tensor.bytes().begin());
    inputs.add(std::move(tensor));
  }
  return inputs;
}

Inputs InputSource::make_from_seed(const ModelSignature& signature) const {
  std::mt19937_64 random(seed_);
  Inputs inputs;
  for (const TensorSpec& spec : signature.inputs) {
    Tensor tensor(spec);
    fill(tensor, random, range_);
    inputs.add(std::move(tensor));
  }
  return inputs;
}

}  // namespace tenure::cli
