// Whether LiteRT through Tenure computes what the engine's own Python package computes; tools/record_outputs.py made
// the records.
#ifdef TENURE_HAS_LITERT
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <tenure/base/file.hpp>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/npy.hpp>

#include "contract/engine_case.hpp"
#include "engines/litert/known_models.hpp"
#include "engines/litert/litert_engine.hpp"
#include "support/sha256.hpp"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

struct Recorded {
  std::string_view model;
  std::string_view kernels;
};

std::filesystem::path data_folder() { return std::filesystem::path(TENURE_TEST_DIR) / "contract" / "data"; }

Image to_image(const Tensor& pixels) {
  const Shape& shape = pixels.spec().shape;
  const auto values = pixels.view<std::uint8_t>();
  return {.width = static_cast<int>(shape.at(2)),
          .height = static_cast<int>(shape.at(1)),
          .rgb = {values.begin(), values.end()}};
}

void expect_output(const Json& expected, const Tensor& output) {
  EXPECT_EQ(output.spec().shape, expected["shape"].get<Shape>());
  ASSERT_EQ(to_string(output.spec().type), expected["type"].get<std::string>());
  if (sha256(output.bytes()) == expected["sha256"].get<std::string>()) return;
  // Another kind of processor sums in another order; what is far off is wrong there too.
  const auto values = output.view<float>();
  const auto stride = expected["stride"].get<std::size_t>();
  std::size_t at = 0;
  double largest = 0;
  for (const double wanted : expected["values"].get<std::vector<double>>()) {
    ASSERT_LT(at, values.size());
    largest = std::max(largest, std::abs(values[at] - wanted) / (1.0 + std::abs(wanted)));
    at += stride;
  }
  EXPECT_LT(largest, 1e-4) << output.name();
  std::cout << output.name() << " is not equal bit by bit; largest relative difference " << largest << '\n';
}

class RecordedOutputs : public ::testing::TestWithParam<Recorded> {};

TEST_P(RecordedOutputs, EqualTheEnginesOwnPythonPackage) {
  const auto [name, kernels] = GetParam();
  std::ifstream file(data_folder() / (std::string(name) + ".json"));
  const Json record = Json::parse(file);
  const KnownModel* known = find_known_model(name);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->file, record["model"].get<std::string>());
  EXPECT_EQ(known->range.low, record["range"][0].get<float>());
  EXPECT_EQ(known->range.high, record["range"][1].get<float>());

  const auto engine = open_litert(cache_folder() / "engines" / "litert");
  if (!engine->devices()[0].available) GTEST_SKIP() << engine->devices()[0].reason;
  ModelSource source;
  source.file = cache_folder() / "models" / known->file;
  ASSERT_EQ(sha256(read_file(source.file)), record["model_sha256"].get<std::string>());
  Loaded model(*engine, source, {.threads = 1, .stoppable = kernels == "builtin"});
  const Tensor pixels = read_npy(data_folder() / record["input"].get<std::string>());
  model.inputs.at(0) = fit(to_image(pixels), model.instance().signature().inputs.at(0), known->range, known->fit);
  StopSignal stop;
  ASSERT_EQ(model.run(stop), RunEnd::kDone);

  const Json& outputs = record["kernels"][std::string(kernels)];
  ASSERT_EQ(model.outputs.size(), outputs.size());
  for (const Json& expected : outputs) {
    const auto output = std::ranges::find(model.outputs, expected["name"].get<std::string>(), &Tensor::name);
    ASSERT_NE(output, model.outputs.end()) << expected["name"];
    expect_output(expected, *output);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedOutputs,
                         ::testing::Values(Recorded{"face", "xnnpack"}, Recorded{"face", "builtin"},
                                           Recorded{"hand", "xnnpack"}, Recorded{"hand", "builtin"},
                                           Recorded{"pose", "xnnpack"}, Recorded{"pose", "builtin"},
                                           Recorded{"segment", "xnnpack"}),
                         [](const auto& test) {
                           return std::string(test.param.model) + "_" + std::string(test.param.kernels);
                         });

}  // namespace
}  // namespace tenure::testing
#endif
