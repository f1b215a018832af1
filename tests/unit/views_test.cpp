#include <gtest/gtest.h>

#include <tenure/engine/views.hpp>

#include "support/expect_error.hpp"

namespace tenure {
namespace {

using testing::expect_error;

ModelSignature signature() {
  return {.inputs = {{.name = "x", .type = ElementType::kFloat32, .shape = {-1, 4}}},
          .outputs = {{.name = "y", .type = ElementType::kUInt8, .shape = {2}}}};
}

TEST(ViewsTest, AcceptsWhatFitsAndAnyExtentOfAnOpenDimension) {
  const Tensor x({.name = "any", .type = ElementType::kFloat32, .shape = {3, 4}});
  Tensor y({.name = "", .type = ElementType::kUInt8, .shape = {2}});
  const std::vector<ConstTensorView> inputs{view_of(x)};
  const std::vector<TensorView> outputs{view_of(y)};
  EXPECT_NO_THROW(require_views(signature(), inputs, outputs));
}

TEST(ViewsTest, NamesWhatDoesNotFit) {
  const Tensor wrong_type({.name = "", .type = ElementType::kInt32, .shape = {1, 4}});
  const Tensor wrong_shape({.name = "", .type = ElementType::kFloat32, .shape = {1, 5}});
  Tensor y({.name = "", .type = ElementType::kUInt8, .shape = {2}});
  const std::vector<TensorView> outputs{view_of(y)};
  const auto check = [&](const std::vector<ConstTensorView>& inputs) { require_views(signature(), inputs, outputs); };
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  expect_error(kCode, [&] { check({view_of(wrong_type)}); }, "input 'x' is int32 [1, 4]; expected float32 [-1, 4]");
  expect_error(kCode, [&] { check({view_of(wrong_shape)}); }, "float32 [1, 5]; expected float32 [-1, 4]");
  expect_error(kCode, [&] { check({}); }, "0 input tensors were given; expected 1: 'x' float32 [-1, 4]");
  const ConstTensorView cut{&wrong_type.spec(), wrong_type.bytes().first(4)};
  expect_error(kCode, [&] { check({cut}); });
}

TEST(ViewsTest, NamesBytesThatDoNotMatchTheShape) {
  const Tensor x({.name = "", .type = ElementType::kFloat32, .shape = {1, 4}});
  Tensor y({.name = "", .type = ElementType::kUInt8, .shape = {2}});
  const std::vector<ConstTensorView> inputs{{&x.spec(), x.bytes().first(8)}};
  const std::vector<TensorView> outputs{view_of(y)};
  expect_error(
      ErrorCode::kInvalidArgument, [&] { require_views(signature(), inputs, outputs); },
      "input 'x' has 8 bytes; expected 16");
}

TEST(EngineTest, EveryStopHasAName) {
  for (const Stops stops : {Stops::kNever, Stops::kPerNode, Stops::kPerToken, Stops::kPerBatch}) {
    EXPECT_NE(to_string(stops), "unknown");
  }
}

}  // namespace
}  // namespace tenure
