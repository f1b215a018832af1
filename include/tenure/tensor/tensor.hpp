#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tenure {

/// The element type of a tensor.
enum class ElementType : std::uint8_t { kFloat32, kFloat16, kInt8, kUInt8, kInt16, kInt32, kInt64, kBool };

[[nodiscard]] std::size_t size_of(ElementType type) noexcept;
/// "float32", "uint8", … as numpy writes them.
[[nodiscard]] std::string_view to_string(ElementType type) noexcept;

/// The extent of each dimension, outermost first; -1 where a model leaves it open.
using Shape = std::vector<std::int64_t>;

[[nodiscard]] std::string to_string(const Shape& shape);
/// How many elements `shape` holds. Errors: kInvalidArgument where a dimension is negative or the product overflows.
[[nodiscard]] std::size_t element_count(const Shape& shape);

/// What a model says of one of its tensors.
struct TensorSpec {
  std::string name;
  ElementType type = ElementType::kFloat32;
  Shape shape;

  [[nodiscard]] std::size_t byte_size() const;  ///< Errors: as element_count
  bool operator==(const TensorSpec&) const = default;
};

template <class T>
constexpr bool element_type_matches(ElementType type) noexcept {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, float>) return type == ElementType::kFloat32;
  if constexpr (std::is_same_v<U, std::int8_t>) return type == ElementType::kInt8;
  if constexpr (std::is_same_v<U, std::uint8_t>) return type == ElementType::kUInt8;
  if constexpr (std::is_same_v<U, std::int16_t>) return type == ElementType::kInt16;
  if constexpr (std::is_same_v<U, std::int32_t>) return type == ElementType::kInt32;
  if constexpr (std::is_same_v<U, std::int64_t>) return type == ElementType::kInt64;
  if constexpr (std::is_same_v<U, bool>) return type == ElementType::kBool;
  return false;
}

/// A tensor that owns its memory: row-major, on the host, aligned to 64 bytes. Moved, or copied by `clone()` only.
///
/// Returns   zeroed memory for a new tensor.
/// Errors    kInvalidArgument: an open dimension, or a view of another element type. std::bad_alloc.
/// Cancel    no cancellation point.
/// Threads   const members from any thread; a mutable view from one at a time.
/// Units     `byte_size()` in bytes.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorSpec spec);

  [[nodiscard]] const TensorSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const std::string& name() const noexcept { return spec_.name; }
  /// 0 once it has been moved from.
  [[nodiscard]] std::size_t byte_size() const noexcept { return data_ == nullptr ? 0 : byte_size_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), byte_size()}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), byte_size()}; }
  [[nodiscard]] Tensor clone() const;

  template <class T>
  [[nodiscard]] std::span<T> view() {
    require_type(element_type_matches<T>(spec_.type));
    return {reinterpret_cast<T*>(data_.get()), byte_size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> view() const {
    require_type(element_type_matches<T>(spec_.type));
    return {reinterpret_cast<const T*>(data_.get()), byte_size() / sizeof(T)};
  }

 private:
  void require_type(bool matches) const;

  struct AlignedDelete {
    void operator()(std::byte* data) const noexcept;
  };
  TensorSpec spec_;
  std::size_t byte_size_ = 0;
  std::unique_ptr<std::byte, AlignedDelete> data_;
};

/// An ordered list of owned tensors that is also found by name: what goes into a run, and what comes out.
///
/// Errors    kNotFound: names the tensor asked for and those that exist.
class TensorList {
 public:
  TensorList() = default;
  explicit TensorList(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

  void add(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  [[nodiscard]] std::size_t size() const noexcept { return tensors_.size(); }
  [[nodiscard]] bool empty() const noexcept { return tensors_.empty(); }
  [[nodiscard]] Tensor& at(std::size_t index) { return tensors_.at(index); }
  [[nodiscard]] const Tensor& at(std::size_t index) const { return tensors_.at(index); }
  [[nodiscard]] const Tensor& operator[](std::string_view name) const;
  [[nodiscard]] TensorList clone() const;
  [[nodiscard]] std::size_t byte_size() const noexcept;
  [[nodiscard]] auto begin() noexcept { return tensors_.begin(); }
  [[nodiscard]] auto end() noexcept { return tensors_.end(); }
  [[nodiscard]] auto begin() const noexcept { return tensors_.begin(); }
  [[nodiscard]] auto end() const noexcept { return tensors_.end(); }

 private:
  std::vector<Tensor> tensors_;
};

using Inputs = TensorList;
using Outputs = TensorList;

/// A tensor over memory that someone else owns and keeps alive. What an engine sees.
struct TensorView {
  const TensorSpec* spec = nullptr;
  std::span<std::byte> bytes;
};
struct ConstTensorView {
  const TensorSpec* spec = nullptr;
  std::span<const std::byte> bytes;
};

}  // namespace tenure
