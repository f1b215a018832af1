#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>
#include <tenure/tensor/npy.hpp>

namespace tenure {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kPreludeBytes = 10;  // magic, two bytes of version, two bytes of header length
// numpy itself refuses headers above 10,000 bytes, since they are evaluated; ours are parsed, but none is that long.
constexpr std::size_t kMaxHeaderBytes = 10'000;
constexpr std::size_t kMaxDimensions = 16;

struct NamedType {
  std::string_view descriptor;
  ElementType type;
};
constexpr std::array kTypes = {
    NamedType{"<f4"sv, ElementType::kFloat32}, NamedType{"<f2"sv, ElementType::kFloat16},
    NamedType{"|i1"sv, ElementType::kInt8},    NamedType{"|u1"sv, ElementType::kUInt8},
    NamedType{"<i2"sv, ElementType::kInt16},   NamedType{"<i4"sv, ElementType::kInt32},
    NamedType{"<i8"sv, ElementType::kInt64},   NamedType{"|b1"sv, ElementType::kBool},
};

/// The header is a Python dictionary literal with three known keys; this reads just that.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        descriptor = quoted();
      } else if (key == "fortran_order") {
        fortran_order = boolean();
      } else if (key == "shape") {
        shape = dimensions();
      } else {
        damaged("the unknown key '" + std::string(key.substr(0, 32)) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) damaged("something after the closing brace");
    if (!descriptor || !fortran_order || !shape) damaged("no 'descr', 'fortran_order' or 'shape'");
  }

  std::optional<std::string_view> descriptor;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(ErrorCode::kDataLoss, "'" + std::string(file_) + "': the header of the .npy file has " + what +
                                          "; expected {'descr': …, 'fortran_order': …, 'shape': (…)}");
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) damaged(std::string("no '") + wanted + "' at position " + std::to_string(at_));
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) damaged("a text without its end");
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True"sv : "False"sv;
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    damaged("no True or False for 'fortran_order'");
  }
  Shape dimensions() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == kMaxDimensions) damaged("more than 16 dimensions");
      skip_spaces();
      std::int64_t extent = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) damaged("a dimension that is no number of 0 or more");
      at_ += static_cast<std::size_t>(end - begin);
      result.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
};

ElementType type_of(std::string_view descriptor, std::string_view file) {
  for (const NamedType& named : kTypes) {
    if (named.descriptor == descriptor) return named.type;
    // One byte has no order, so numpy takes any mark for it.
    const bool one_byte = named.descriptor.front() == '|';
    if (one_byte && descriptor.size() == 3 && descriptor.substr(1) == named.descriptor.substr(1)) return named.type;
  }
  std::string known;
  for (const NamedType& named : kTypes) {
    known += known.empty() ? "" : ", ";
    known += to_string(named.type);
  }
  const bool big_endian = descriptor.starts_with('>');
  throw Error(ErrorCode::kInvalidArgument, "'" + std::string(file) + "' holds elements of '" +
                                               std::string(descriptor.substr(0, 32)) + "'" +
                                               (big_endian ? ", most significant byte first" : "") +
                                               "; expected one of " + known + ", least significant byte first");
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, std::string_view name) {
  const std::string file(name);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) {
    const std::string_view kind = kind_of_file(bytes.first(std::min<std::size_t>(bytes.size(), 64)));
    throw Error(ErrorCode::kInvalidArgument, "'" + file + "' is " +
                                                 (bytes.empty()  ? "empty"
                                                  : kind.empty() ? "no .npy file"
                                                                 : std::string(kind)) +
                                                 "; expected a NumPy array as numpy.save writes it");
  }
  if (text.size() < kPreludeBytes) throw Error(ErrorCode::kDataLoss, "'" + file + "' ends within the .npy header");
  if (text[6] != 1) {
    throw Error(ErrorCode::kInvalidArgument, "'" + file + "' is a .npy file of version " +
                                                 std::to_string(static_cast<unsigned char>(text[6])) +
                                                 "; expected version 1");
  }
  const std::size_t header_bytes =
      static_cast<unsigned char>(text[8]) | (static_cast<std::size_t>(static_cast<unsigned char>(text[9])) << 8U);
  if (header_bytes > kMaxHeaderBytes || header_bytes > text.size() - kPreludeBytes) {
    throw Error(ErrorCode::kDataLoss, "'" + file + "' announces a .npy header of " + std::to_string(header_bytes) +
                                          " bytes; expected at most 10000, and no more than the file holds");
  }
  HeaderParser header(text.substr(kPreludeBytes, header_bytes), file);
  header.parse();

  TensorSpec spec{.name = "", .type = type_of(*header.descriptor, file), .shape = *header.shape};
  if (*header.fortran_order && spec.shape.size() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "'" + file +
                                                 "' holds its elements in Fortran order; expected C order "
                                                 "(numpy.ascontiguousarray before numpy.save)");
  }
  std::size_t expected = 0;
  try {
    expected = spec.byte_size();
  } catch (const Error&) {
    throw Error(ErrorCode::kDataLoss,
                "'" + file + "' announces an array that no memory can hold: " + to_string(spec.shape));
  }
  const std::span<const std::byte> data = bytes.subspan(kPreludeBytes + header_bytes);
  // Compared before anything is allocated: a small file can't make us ask for much memory.
  if (data.size() != expected) {
    throw Error(ErrorCode::kDataLoss, "'" + file + "' holds " + std::to_string(data.size()) +
                                          " bytes of elements; expected " + std::to_string(expected) + " for " +
                                          std::string(to_string(spec.type)) + " " + to_string(spec.shape));
  }
  Tensor tensor(std::move(spec));
  if (expected != 0) std::memcpy(tensor.bytes().data(), data.data(), expected);
  return tensor;
}

Tensor read_npy(const std::filesystem::path& file) { return parse_npy(read_file(file), file.string()); }

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  std::string header = "{'descr': '";
  for (const NamedType& named : kTypes) {
    if (named.type == tensor.spec().type) header += named.descriptor;
  }
  header += "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : tensor.spec().shape) header += std::to_string(extent) + ",";
  header += "), }";
  // The data begins at a multiple of 64 bytes, and the header ends with a line feed: both are the format's rules.
  const std::size_t used = kPreludeBytes + header.size() + 1;
  header.append((64 - used % 64) % 64, ' ');
  header += '\n';

  std::vector<std::byte> bytes(kPreludeBytes + header.size() + tensor.byte_size());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[6] = std::byte{1};
  bytes[8] = static_cast<std::byte>(header.size() & 0xffU);
  bytes[9] = static_cast<std::byte>(header.size() >> 8U);
  std::memcpy(bytes.data() + kPreludeBytes, header.data(), header.size());
  if (tensor.byte_size() != 0) {
    std::memcpy(bytes.data() + kPreludeBytes + header.size(), tensor.bytes().data(), tensor.byte_size());
  }
  write_file(file, bytes);
}

}  // namespace tenure
