#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tenure/base/error.hpp>
#include <tenure/tensor/tensor.hpp>

namespace tenure {
namespace {

template <class F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::kInternal, "nothing was thrown"};
}

TEST(TensorTest, StartsZeroedAndAligned) {
  const Tensor tensor({.name = "x", .type = ElementType::kFloat32, .shape = {1, 3, 5}});
  EXPECT_EQ(tensor.byte_size(), 60U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
  for (const float value : tensor.view<float>()) EXPECT_EQ(value, 0.0F);
}

TEST(TensorTest, RefusesAnOpenDimension) {
  const Error error = error_of([] { Tensor({.name = "x", .type = ElementType::kUInt8, .shape = {-1, 4}}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message().find("[-1, 4]"), std::string::npos) << error.what();
}

TEST(TensorTest, RefusesAShapeThatOverflows) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of([] { (void)element_count({kHuge, kHuge}); }).code(), ErrorCode::kInvalidArgument);
  const TensorSpec spec{.name = "x", .type = ElementType::kInt64, .shape = {kHuge}};
  EXPECT_EQ(error_of([&] { (void)spec.byte_size(); }).code(), ErrorCode::kInvalidArgument);
}

TEST(TensorTest, AScalarHoldsOneElementAndAnEmptyTensorNone) {
  EXPECT_EQ(element_count({}), 1U);
  EXPECT_EQ(element_count({0, std::numeric_limits<std::int64_t>::max(), 8}), 0U);
  const Tensor empty({.name = "x", .type = ElementType::kFloat32, .shape = {0, 4}});
  EXPECT_TRUE(empty.view<float>().empty());
  EXPECT_TRUE(empty.clone().bytes().empty());
}

TEST(TensorTest, RefusesAViewOfAnotherType) {
  Tensor tensor({.name = "pixels", .type = ElementType::kUInt8, .shape = {4}});
  EXPECT_NO_THROW((void)tensor.view<std::uint8_t>());
  const Error error = error_of([&] { (void)tensor.view<float>(); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message().find("'pixels' holds uint8"), std::string::npos) << error.what();
}

TEST(TensorTest, ACloneIsACopyOfItsOwn) {
  Tensor tensor({.name = "x", .type = ElementType::kInt32, .shape = {2}});
  tensor.view<std::int32_t>()[1] = 7;
  Tensor copy = tensor.clone();
  copy.view<std::int32_t>()[0] = 1;
  EXPECT_EQ(tensor.view<std::int32_t>()[0], 0);
  EXPECT_EQ(copy.view<std::int32_t>()[1], 7);
}

TEST(TensorListTest, FindsByNameAndSaysWhichExist) {
  TensorList list;
  list.add(Tensor({.name = "scores", .type = ElementType::kFloat32, .shape = {2}}));
  list.add(Tensor({.name = "boxes", .type = ElementType::kFloat32, .shape = {2, 4}}));
  EXPECT_EQ(list["boxes"].byte_size(), 32U);
  EXPECT_EQ(list.byte_size(), 40U);
  EXPECT_EQ(list.clone()["scores"].byte_size(), 8U);
  const Error error = error_of([&] { (void)list["box"]; });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(), "no tensor 'box'; there are 'scores', 'boxes'");
}

TEST(TensorTest, EveryElementTypeHasANameAndASize) {
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type) {
    EXPECT_NE(to_string(static_cast<ElementType>(type)), "unknown");
    EXPECT_GT(size_of(static_cast<ElementType>(type)), 0U);
  }
}

}  // namespace
}  // namespace tenure
