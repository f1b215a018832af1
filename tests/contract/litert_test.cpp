#ifdef TENURE_HAS_LITERT
#include <gtest/gtest.h>

#include <atomic>
#include <tenure/base/file.hpp>
#include <thread>

#include "contract/engine_case.hpp"
#include "engines/litert/known_models.hpp"
#include "engines/litert/litert_engine.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace tenure::testing {
namespace {

// The engine's own threads are not instrumented: ThreadSanitizer sees their work and not what orders it.
#if defined(__SANITIZE_THREAD__)
#define TENURE_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENURE_UNDER_TSAN 1
#endif
#endif
#ifdef TENURE_UNDER_TSAN
constexpr int kEngineThreads = 1;
#else
constexpr int kEngineThreads = 2;
#endif

std::shared_ptr<Engine> open_here() { return open_litert(cache_folder() / "engines" / "litert"); }

ModelSource known_source(std::string_view name) {
  ModelSource source;
  source.file = cache_folder() / "models" / find_known_model(name)->file;
  return source;
}

class LiteRtTest : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = open_here();
    if (!engine_->devices()[0].available) GTEST_SKIP() << engine_->devices()[0].reason;
  }
  std::shared_ptr<Engine> engine_;
};

TEST(LiteRtLibraryTest, SaysWhereItLookedWhereThereIsNone) {
  const TemporaryFolder folder;
  const auto engine = open_litert(folder.path());
  ASSERT_FALSE(engine->devices().empty());
  for (const DeviceInfo& device : engine->devices()) EXPECT_FALSE(device.available);
  const std::string file = (folder.path() / "libLiteRt.so").string();
  EXPECT_NE(engine->devices()[0].reason.find(file), std::string::npos) << engine->devices()[0].reason;
  expect_error(
      ErrorCode::kUnavailable, [&] { (void)engine->open_device("cpu"); }, file,
      "expected libLiteRt.so of LiteRT 2.1.6");
  EXPECT_EQ(engine->native_counts(), NativeCounts{});
}

TEST(LiteRtLibraryTest, RefusesWhatIsNoLibraryOrAnother) {
  const TemporaryFolder folder;
  const auto file = folder.write("libLiteRt.so", "not a library");
  expect_error(
      ErrorCode::kUnavailable, [&] { (void)open_litert(folder.path())->open_device("cpu"); }, "could not be opened");
  std::filesystem::remove(file);
  for (const char* other : {"/lib/x86_64-linux-gnu/libz.so.1", "/lib/aarch64-linux-gnu/libz.so.1"}) {
    if (!std::filesystem::exists(other)) continue;
    std::filesystem::create_symlink(other, file);
    expect_error(
        ErrorCode::kUnavailable, [&] { (void)open_litert(folder.path())->open_device("cpu"); },
        "has no function LiteRtCreateEnvironment", "expected libLiteRt.so of LiteRT 2.1.6");
  }
}

TEST_F(LiteRtTest, HasNoGpuYetAndSaysSo) {
  EXPECT_FALSE(engine_->devices()[1].available);
  expect_error(ErrorCode::kUnavailable, [&] { (void)engine_->open_device("gpu"); }, "GPU");
}

TEST_F(LiteRtTest, RunsOneAtATimeOnAnInstanceAndSaysSo) {
  Loaded model(*engine_, known_source("pose"), {.threads = 1, .stoppable = true});
  const auto other = model.instance().create_context();
  StopSignal first;
  std::thread lane([&] { (void)model.run(first); });
  while (first.steps() == 0) std::this_thread::yield();
  Loaded tensors(*engine_, known_source("pose"), {});
  StopSignal second;
  std::string message;
  try {
    (void)tensors.run_on(*other, second);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    message = error.message();
  }
  first.request();
  lane.join();
  // Where the first run was over before the second began, both are right.
  EXPECT_TRUE(message.empty() || message.find("one at a time") != std::string::npos) << message;
}

TEST_F(LiteRtTest, InstancesRunSideBySide) {
  std::atomic<int> wrong{0};
  Loaded reference(*engine_, known_source("face"), {});
  StopSignal stop;
  (void)reference.run(stop);
  std::vector<std::thread> lanes;
  lanes.reserve(3);
  for (int lane = 0; lane < 3; ++lane) {
    lanes.emplace_back([&] {
      Loaded model(*engine_, known_source("face"), {});
      for (int round = 0; round < 20; ++round) {
        StopSignal next;
        if (model.run(next) != RunEnd::kDone || model.output_bytes() != reference.output_bytes()) ++wrong;
      }
    });
  }
  for (std::thread& lane : lanes) lane.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(LiteRtTest, FallsBackToXnnpackWhereTheBuiltinKernelsCannotRunTheModel) {
  Loaded model(*engine_, known_source("segment"), {.threads = 1, .stoppable = true});
  EXPECT_EQ(model.instance().capabilities().stops, Stops::kNever);
  StopSignal stop;
  stop.request();
  EXPECT_EQ(model.run(stop), RunEnd::kDone);
}

TEST_F(LiteRtTest, AnotherThreadMayFreeWhatOneMade) {
  auto model = std::make_unique<Loaded>(*engine_, known_source("face"), InstanceOptions{});
  std::thread([&] {
    StopSignal stop;
    EXPECT_EQ(model->run(stop), RunEnd::kDone);
  }).join();
  std::thread([&] { model.reset(); }).join();
  EXPECT_EQ(engine_->native_counts(), NativeCounts{});
}

TEST_F(LiteRtTest, EveryFetchedModelLoadsAndRunsOnBothKernels) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache_folder() / "models")) {
    if (entry.path().extension() != ".tflite") continue;
    for (const bool stoppable : {false, true}) {
      ModelSource source;
      source.file = entry.path();
      Loaded model(*engine_, source, {.threads = kEngineThreads, .stoppable = stoppable});
      StopSignal stop;
      EXPECT_EQ(model.run(stop), RunEnd::kDone) << entry.path();
    }
    ++models;
  }
  EXPECT_GE(models, 4);
}

}  // namespace
}  // namespace tenure::testing
#endif
