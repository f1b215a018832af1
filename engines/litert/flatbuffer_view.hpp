#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace tenure::litert {

/// What the readers below throw; verify_tflite turns it into an Error that names the file.
struct Damage {
  const char* what;
};

/// The bytes of a FlatBuffer. Every read is checked; a number that points outside is Damage.
class FlatBytes {
 public:
  explicit FlatBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  template <class Number>
  [[nodiscard]] Number read(std::size_t at) const {
    require(at, sizeof(Number), "a number outside the file");
    if (at % sizeof(Number) != 0) throw Damage{"a number that is not aligned"};
    Number value{};
    std::memcpy(&value, bytes_.data() + at, sizeof(value));  // little-endian, as is every system that Tenure runs on
    return value;
  }
  [[nodiscard]] std::span<const std::byte> range(std::size_t at, std::size_t count) const {
    require(at, count, "a list that reaches beyond the file");
    return bytes_.subspan(at, count);
  }
  /// Follows the offset that stands at `at`; offsets only point forward.
  [[nodiscard]] std::size_t follow(std::size_t at) const {
    const auto offset = read<std::uint32_t>(at);
    if (offset == 0 || offset > bytes_.size() - at) throw Damage{"an offset that points outside the file"};
    return at + offset;
  }

 private:
  void require(std::size_t at, std::size_t count, const char* what) const {
    if (at > bytes_.size() || count > bytes_.size() - at) throw Damage{what};
  }

  std::span<const std::byte> bytes_;
};

/// A list of numbers in a FlatBuffer; empty where the file leaves it out.
template <class Number>
class FlatList {
 public:
  FlatList() = default;
  FlatList(const FlatBytes& bytes, std::size_t at) : count_(bytes.read<std::uint32_t>(at)) {
    if (count_ > bytes.size() / sizeof(Number)) throw Damage{"a list that reaches beyond the file"};
    if ((at + 4) % sizeof(Number) != 0 && count_ != 0) throw Damage{"a list that is not aligned"};
    data_ = bytes.range(at + 4, count_ * sizeof(Number));
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return data_; }
  [[nodiscard]] Number operator[](std::size_t index) const noexcept {
    Number value{};
    std::memcpy(&value, data_.data() + index * sizeof(Number), sizeof(value));
    return value;
  }

 private:
  std::size_t count_ = 0;
  std::span<const std::byte> data_;
};

class FlatTables;

/// One table of a FlatBuffer: fields by number, each with a default where it is left out.
class FlatTable {
 public:
  FlatTable(const FlatBytes& bytes, std::size_t at) : bytes_(&bytes), at_(at) {
    const auto back = bytes.read<std::int32_t>(at);
    const std::int64_t layout = static_cast<std::int64_t>(at) - back;
    if (layout < 0 || layout >= static_cast<std::int64_t>(bytes.size())) throw Damage{"a table without its layout"};
    layout_ = static_cast<std::size_t>(layout);
    layout_bytes_ = bytes.read<std::uint16_t>(layout_);
    table_bytes_ = bytes.read<std::uint16_t>(layout_ + 2);
    if (layout_bytes_ < 4 || layout_bytes_ % 2 != 0 || table_bytes_ < 4) throw Damage{"a table with a damaged layout"};
    (void)bytes.range(layout_, layout_bytes_);
    (void)bytes.range(at_, table_bytes_);
  }

  template <class Number>
  [[nodiscard]] Number number(unsigned field, Number otherwise) const {
    const std::optional<std::size_t> at = place(field, sizeof(Number));
    return at ? bytes_->read<Number>(*at) : otherwise;
  }
  template <class Number>
  [[nodiscard]] FlatList<Number> list(unsigned field) const {
    const std::optional<std::size_t> at = place(field, 4);
    return at ? FlatList<Number>(*bytes_, bytes_->follow(*at)) : FlatList<Number>();
  }
  [[nodiscard]] std::optional<FlatTable> table(unsigned field) const {
    const std::optional<std::size_t> at = place(field, 4);
    return at ? std::optional<FlatTable>(FlatTable(*bytes_, bytes_->follow(*at))) : std::nullopt;
  }
  [[nodiscard]] bool has(unsigned field) const { return place(field, 1).has_value(); }
  [[nodiscard]] std::string_view text(unsigned field) const {
    const std::optional<std::size_t> at = place(field, 4);
    if (!at) return {};
    const std::size_t start = bytes_->follow(*at);
    const auto count = bytes_->read<std::uint32_t>(start);
    const std::span<const std::byte> bytes = bytes_->range(start + 4, static_cast<std::size_t>(count) + 1);
    if (bytes.back() != std::byte{0}) throw Damage{"a text without its end"};
    return {reinterpret_cast<const char*>(bytes.data()), count};
  }
  [[nodiscard]] FlatTables tables(unsigned field) const;

 private:
  [[nodiscard]] std::optional<std::size_t> place(unsigned field, std::size_t width) const {
    const std::size_t entry = 4 + std::size_t{2} * field;
    if (entry + 2 > layout_bytes_) return std::nullopt;
    const auto offset = bytes_->read<std::uint16_t>(layout_ + entry);
    if (offset == 0) return std::nullopt;
    if (offset < 4 || offset + width > table_bytes_) throw Damage{"a field outside its table"};
    return at_ + offset;
  }

  const FlatBytes* bytes_;
  std::size_t at_;
  std::size_t layout_ = 0;
  std::size_t layout_bytes_ = 0;
  std::size_t table_bytes_ = 0;
};

/// A list of tables.
class FlatTables {
 public:
  FlatTables() = default;
  FlatTables(const FlatBytes& bytes, std::size_t at) : bytes_(&bytes), at_(at), offsets_(bytes, at) {}

  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size(); }
  [[nodiscard]] FlatTable operator[](std::size_t index) const { return {*bytes_, bytes_->follow(at_ + 4 + 4 * index)}; }

 private:
  const FlatBytes* bytes_ = nullptr;
  std::size_t at_ = 0;
  FlatList<std::uint32_t> offsets_;
};

inline FlatTables FlatTable::tables(unsigned field) const {
  const std::optional<std::size_t> at = place(field, 4);
  return at ? FlatTables(*bytes_, bytes_->follow(*at)) : FlatTables();
}

}  // namespace tenure::litert
