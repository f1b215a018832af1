#ifdef TENURE_HAS_LITERT
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <tenure/base/file.hpp>

#include "contract/engine_case.hpp"
#include "engines/litert/known_models.hpp"
#include "engines/litert/litert_engine.hpp"
#include "engines/litert/tflite_model.hpp"
#include "engines/litert/tflite_verify.hpp"
#include "support/expect_error.hpp"

namespace tenure::testing {
namespace {

using Bytes = std::vector<std::byte>;

std::filesystem::path model_file(std::string_view name) {
  return cache_folder() / "models" / find_known_model(name)->file;
}

class TfliteVerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(model_file("face"))) GTEST_SKIP() << "no models in " << cache_folder();
    good_ = read_file(model_file("face"));
  }
  Bytes good_;
};

TEST_F(TfliteVerifyTest, AcceptsTheKnownModelsAndTellsWhatTheyNeed) {
  for (const KnownModel& known : kKnownModels) {
    const litert::TfliteSummary summary = litert::verify_tflite(read_file(model_file(known.name)), known.file);
    EXPECT_GT(summary.operators, 50U) << known.name;
    EXPECT_GT(summary.weight_elements, 10'000U) << known.name;
    EXPECT_GT(summary.peak_activation_bytes, 100'000U) << known.name;
    EXPECT_EQ(summary.custom_operators, known.name == "segment" ? 1U : 0U) << known.name;
  }
}

TEST_F(TfliteVerifyTest, RefusesEveryShorterFile) {
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t size = round < 200 ? static_cast<std::size_t>(round) : random() % good_.size();
    const std::span<const std::byte> part(good_.data(), size);
    // Below eight bytes even the mark of the format is missing.
    const ErrorCode code = size == 0 || size >= 8 ? ErrorCode::kDataLoss : ErrorCode::kInvalidArgument;
    expect_error(code, [&] { (void)litert::verify_tflite(part, "cut.tflite"); }, "'cut.tflite'", "expected");
  }
}

TEST_F(TfliteVerifyTest, RefusesOffsetsThatLeadOutside) {
  Bytes file(128, std::byte{0});
  std::memcpy(file.data() + 4, "TFL3", 4);
  for (const std::uint32_t root : {0U, 8U, 127U, 128U, 0x7fffffffU, 0xffffffffU}) {
    std::memcpy(file.data(), &root, sizeof(root));
    expect_error(ErrorCode::kDataLoss, [&] { (void)litert::verify_tflite(file, "x"); });
  }
}

/// The places of a file that are not the values of constants: there a flip meets the structure.
std::vector<std::size_t> structure_of(const Bytes& file) {
  std::vector<bool> is_value(file.size(), false);
  const litert::TfliteModel model = litert::parse_tflite(litert::FlatBytes(file));
  for (const litert::TfliteTensor& tensor : model.subgraphs[0].tensors) {
    if (tensor.values.empty()) continue;
    const auto begin = static_cast<std::size_t>(tensor.values.data() - file.data());
    std::fill_n(is_value.begin() + static_cast<std::ptrdiff_t>(begin), tensor.values.size(), true);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (!is_value[i]) places.push_back(i);
  }
  return places;
}

/// Loads and runs in a process of its own. The signal that it died of, 0 where it ended by itself.
int signal_of_try(Engine& engine, const Bytes& file, bool stoppable) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(60);
    int outcome = 0;
    try {
      ModelSource source;
      source.file = "flipped.tflite";
      source.bytes = std::make_shared<const Bytes>(file);
      Loaded model(engine, source, {.threads = 1, .stoppable = stoppable});
      StopSignal stop;
      (void)model.run(stop);
    } catch (const Error&) {
      outcome = 1;
    } catch (const std::bad_alloc&) {
      outcome = 1;
    }
    _exit(outcome);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  // A sanitizer ends the process by an exit code of its own.
  return WEXITSTATUS(status) > 1 ? -WEXITSTATUS(status) : 0;
}

TEST_F(TfliteVerifyTest, AFlippedBitIsAnErrorOrARunNeverACrash) {
  const auto engine = open_litert(cache_folder() / "engines" / "litert");
  if (!engine->devices()[0].available) GTEST_SKIP() << engine->devices()[0].reason;
  const char* wanted = std::getenv("TENURE_FLIPS");
  const int flips = wanted != nullptr ? std::atoi(wanted) : 150;
  for (const std::string_view name : {"face", "segment"}) {
    const Bytes good = read_file(model_file(name));
    const std::vector<std::size_t> structure = structure_of(good);
    std::mt19937_64 random(20);
    for (int round = 0; round < flips; ++round) {
      Bytes file = good;
      const std::size_t place = round % 3 == 0 ? random() % file.size() : structure[random() % structure.size()];
      const unsigned bit = random() % 8;
      file[place] ^= static_cast<std::byte>(1U << bit);
      EXPECT_EQ(signal_of_try(*engine, file, round % 2 == 1), 0) << name << ": bit " << bit << " of byte " << place;
    }
  }
}

// What the campaign of flips found that the engine dies of; see "Damaged models" in engines/litert/README.md.
TEST_F(TfliteVerifyTest, RefusesADepthwiseConvolutionWithoutItsBias) {
  for (const std::size_t place : {209140U, 209876U}) {
    Bytes file = good_;
    file[place] ^= std::byte{1};
    expect_error(ErrorCode::kDataLoss, [&] { (void)litert::verify_tflite(file, "x"); }, "without its bias");
  }
}

}  // namespace
}  // namespace tenure::testing
#endif
