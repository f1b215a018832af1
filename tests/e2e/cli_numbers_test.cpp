// What `tenure run` writes is what the engine's own Python package computes, on the same real picture;
// tools/record_outputs.py made the records.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/npy.hpp>

#include "support/program.hpp"
#include "support/sha256.hpp"
#include "support/temporary_folder.hpp"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;

struct Recorded {
  const char* model;
  const char* kernels;
};

const std::filesystem::path kRecords = std::filesystem::path(TENURE_TEST_DIR) / "contract" / "data";

Json read_record(const std::string& model) {
  std::ifstream file(kRecords / (model + ".json"));
  return Json::parse(file);
}

/// The picture as a file that the program reads: of the input's size, so that no scaler has a say.
std::filesystem::path write_picture(const Json& record, const std::filesystem::path& folder) {
  const Tensor pixels = read_npy(kRecords / record["input"].get<std::string>());
  const auto values = pixels.view<std::uint8_t>();
  const Image image{.width = static_cast<int>(pixels.spec().shape.at(2)),
                    .height = static_cast<int>(pixels.spec().shape.at(1)),
                    .rgb = {values.begin(), values.end()}};
  std::filesystem::path file = folder / "picture.png";
  write_png(file, image);
  return file;
}

void expect_equal(const Json& expected, const Tensor& output) {
  SCOPED_TRACE(expected["name"].get<std::string>());
  EXPECT_EQ(output.spec().shape, expected["shape"].get<Shape>());
  ASSERT_EQ(to_string(output.spec().type), expected["type"].get<std::string>());
  if (sha256(output.bytes()) == expected["sha256"].get<std::string>()) return;
  // Another kind of processor sums in another order; what is far off is wrong there too.
  const auto values = output.view<float>();
  const auto wanted = expected["values"].get<std::vector<double>>();
  const auto stride = expected["stride"].get<std::size_t>();
  ASSERT_GT(values.size(), (wanted.size() - 1) * stride);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(values[i * stride], wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << "value " << i * stride;
  }
}

class CliNumbers : public ::testing::TestWithParam<Recorded> {};

TEST_P(CliNumbers, EqualTheEnginesOwnPythonPackage) {
  const auto [model, kernels] = GetParam();
  const Json record = read_record(model);
  const TemporaryFolder folder;
  std::vector<std::string> arguments = {"run",      model,
                                        "--image",  write_picture(record, folder.path()).string(),
                                        "--output", (folder.path() / "deep" / "results").string(),
                                        "--json"};
  if (std::string_view(kernels) == "builtin") arguments.emplace_back("--stoppable");
  const Finished finished = tenure(arguments);
  ASSERT_EQ(finished.exit_code, 0) << finished.errors;
  const Json outputs = finished.json()["outputs"];
  const Json& recorded = record["kernels"][kernels];
  ASSERT_EQ(outputs.size(), recorded.size());
  for (const Json& expected : recorded) {
    const auto found =
        std::ranges::find_if(outputs, [&](const Json& entry) { return entry["name"] == expected["name"]; });
    ASSERT_NE(found, outputs.end()) << expected["name"];
    const Tensor output = read_npy((*found)["file"].get<std::string>());
    expect_equal(expected, output);
    // The summary is of the same numbers.
    EXPECT_EQ((*found)["first"][0].get<float>(), output.view<float>()[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CliNumbers,
                         ::testing::Values(Recorded{"face", "xnnpack"}, Recorded{"face", "builtin"},
                                           Recorded{"hand", "xnnpack"}, Recorded{"hand", "builtin"},
                                           Recorded{"pose", "xnnpack"}, Recorded{"pose", "builtin"},
                                           Recorded{"segment", "xnnpack"}),
                         [](const auto& info) { return std::string(info.param.model) + "_" + info.param.kernels; });

}  // namespace
}  // namespace tenure::testing
