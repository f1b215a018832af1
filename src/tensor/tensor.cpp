#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <tenure/base/error.hpp>
#include <tenure/tensor/tensor.hpp>

namespace tenure {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

std::size_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUInt8:
    case ElementType::kBool: return 1;
    case ElementType::kFloat16:
    case ElementType::kInt16: return 2;
    case ElementType::kFloat32:
    case ElementType::kInt32: return 4;
    case ElementType::kInt64: return 8;
  }
  return 0;
}

std::string_view to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::kFloat32: return "float32";
    case ElementType::kFloat16: return "float16";
    case ElementType::kInt8: return "int8";
    case ElementType::kUInt8: return "uint8";
    case ElementType::kInt16: return "int16";
    case ElementType::kInt32: return "int32";
    case ElementType::kInt64: return "int64";
    case ElementType::kBool: return "bool";
  }
  return "unknown";
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::size_t element_count(const Shape& shape) {
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "shape " + to_string(shape) + " has an open dimension; each must be 0 or more");
    }
  }
  // An empty tensor is one whatever its other dimensions are, so the product is not formed there: it could overflow.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "shape " + to_string(shape) + " holds more elements than memory can address");
    }
  }
  return count;
}

std::size_t TensorSpec::byte_size() const {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), size_of(type), &bytes) ||
      bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
    throw Error(ErrorCode::kInvalidArgument, "tensor '" + name + "' of " + std::string(to_string(type)) + " " +
                                                 to_string(shape) + " holds more bytes than memory can address");
  }
  return bytes;
}

Tensor::Tensor(TensorSpec spec) : spec_(std::move(spec)), byte_size_(spec_.byte_size()) {
  if (byte_size_ == 0) return;
  data_.reset(static_cast<std::byte*>(::operator new(byte_size_, kAlignment)));
  std::memset(data_.get(), 0, byte_size_);
}

Tensor Tensor::clone() const {
  Tensor copy(spec_);
  if (byte_size_ != 0) std::memcpy(copy.data_.get(), data_.get(), byte_size_);
  return copy;
}

void Tensor::require_type(bool matches) const {
  if (matches) return;
  throw Error(ErrorCode::kInvalidArgument, "tensor '" + spec_.name + "' holds " + std::string(to_string(spec_.type)) +
                                               "; a view of another element type was asked for");
}

void Tensor::AlignedDelete::operator()(std::byte* data) const noexcept { ::operator delete(data, kAlignment); }

const Tensor& TensorList::operator[](std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &Tensor::name);
  if (found != tensors_.end()) return *found;
  std::string message = "no tensor '" + std::string(name) + "'; ";
  message += tensors_.empty() ? "the list is empty" : "there are";
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    message += (i == 0 ? " '" : ", '") + tensors_[i].name() + "'";
  }
  throw Error(ErrorCode::kNotFound, message);
}

TensorList TensorList::clone() const {
  std::vector<Tensor> copies;
  copies.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) copies.push_back(tensor.clone());
  return TensorList(std::move(copies));
}

std::size_t TensorList::byte_size() const noexcept {
  std::size_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.byte_size();
  return bytes;
}

}  // namespace tenure
