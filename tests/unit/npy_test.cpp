#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tenure/tensor/npy.hpp>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace tenure {
namespace {

using namespace std::string_view_literals;
using testing::expect_error;
using testing::TemporaryFolder;

std::string npy(std::string_view header, std::string_view data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xffU);
  file += static_cast<char>(header.size() >> 8U);
  file += header;
  file += data;
  return file;
}

Tensor parse(std::string_view file) { return parse_npy(std::as_bytes(std::span(file.data(), file.size())), "x.npy"); }

template <class... Parts>
void expect_refused(ErrorCode code, std::string_view file, Parts... parts) {
  expect_error(code, [file] { (void)parse(file); }, "'x.npy'"sv, parts...);
}

TEST(NpyTest, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 0, 3}, Shape{1, 2, 3, 4}}) {
      Tensor tensor({.name = "", .type = static_cast<ElementType>(type), .shape = shape});
      unsigned char next = 0;
      for (std::byte& byte : tensor.bytes()) byte = static_cast<std::byte>(next++ & 1U);
      write_npy(folder.path() / "x.npy", tensor);
      const Tensor back = read_npy(folder.path() / "x.npy");
      EXPECT_EQ(back.spec(), tensor.spec());
      EXPECT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes()));
    }
  }
}

TEST(NpyTest, ReadsAHeaderAsNumpyWritesIt) {
  const Tensor tensor =
      parse(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }     \n", "\1\0\2\0\3\0"sv));
  EXPECT_EQ(tensor.spec().shape, (Shape{3}));
  EXPECT_EQ(tensor.view<std::int16_t>()[2], 3);
  EXPECT_EQ(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", "\0\0\0\0"sv)).byte_size(), 4U);
}

TEST(NpyTest, NamesAFileOfAnotherKind) {
  expect_refused(ErrorCode::kInvalidArgument, ""sv, "is empty");
  expect_refused(ErrorCode::kInvalidArgument, "\x89PNG\r\n\x1a\n"sv, "is a PNG image; expected a NumPy array");
  expect_refused(ErrorCode::kInvalidArgument, "PK\x03\x04"sv, "is a ZIP archive");
  expect_refused(ErrorCode::kInvalidArgument, npy("{}", "", 3), "version 3; expected version 1");
  expect_error(ErrorCode::kNotFound, [] { (void)read_npy("/no/such.npy"); }, "/no/such.npy");
}

TEST(NpyTest, NamesAnElementTypeOrAnOrderThatItCannotRead) {
  expect_refused(ErrorCode::kInvalidArgument,
                 npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "12345678"),
                 "'<f8'; expected one of float32");
  expect_refused(ErrorCode::kInvalidArgument, npy("{'descr': '>f4', 'fortran_order': False, 'shape': (), }", "1234"),
                 "most significant byte first");
  expect_refused(ErrorCode::kInvalidArgument, npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 4), }", "1234"),
                 "Fortran order");
}

TEST(NpyTest, RefusesDamage) {
  constexpr auto kLoss = ErrorCode::kDataLoss;
  expect_refused(kLoss, "\x93NUMPY\1"sv, "ends within");
  expect_refused(kLoss, "\x93NUMPY\1\0\xff\xff{}"sv, "65535 bytes");
  expect_refused(kLoss, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", "123"), "3 bytes",
                 "expected 4");
  expect_refused(kLoss, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", "12345"), "5 bytes");
  expect_refused(kLoss, npy("{'descr': '|u1', 'fortran_order': False, }", ""), "no 'descr'");
  expect_refused(kLoss, npy("{'descr': '|u1, 'fortran_order'", ""), "no ");
  expect_refused(kLoss, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-4,), }", ""), "no number");
  expect_refused(kLoss, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""),
                 "no number");
}

TEST(NpyTest, AHostileShapeAllocatesNothing) {
  expect_refused(ErrorCode::kDataLoss,
                 npy("{'descr': '<i8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ""), "no memory");
  expect_refused(ErrorCode::kDataLoss, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }", ""),
                 "expected 1000000000000");
  std::string many = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 17; ++i) many += "1,";
  expect_refused(ErrorCode::kDataLoss, npy(many + "), }", "1"), "more than 16 dimensions");
}

TEST(NpyTest, AnyFlippedByteIsATensorOrAnError) {
  const std::string good = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }     \n", "\1\0\2\0\3\0"sv);
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string file = good;
    for (int flips = 0; flips < 3; ++flips) file[random() % file.size()] = static_cast<char>(random());
    file.resize(random() % 4 == 0 ? random() % file.size() : file.size());
    try {
      (void)parse(file);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal);
    }
  }
}

}  // namespace
}  // namespace tenure
