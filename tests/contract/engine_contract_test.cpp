#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tenure/base/file.hpp>
#include <thread>

#include "contract/engine_case.hpp"
#include "engines/fake/fake_engine.hpp"
#include "support/as_nobody.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#ifdef TENURE_HAS_LITERT
#include "engines/litert/litert_engine.hpp"
#endif

namespace tenure::testing {
namespace {

class EngineContract : public ::testing::TestWithParam<EngineCase> {
 protected:
  void SetUp() override {
    engine_ = GetParam().open();
    const std::vector<DeviceInfo> devices = engine_->devices();
    const auto cpu = std::ranges::find(devices, "cpu", &DeviceInfo::device);
    ASSERT_NE(cpu, devices.end());
    if (!cpu->available) GTEST_SKIP() << cpu->reason;
    source_.file = GetParam().model();
  }
  void TearDown() override {
    if (engine_ == nullptr) return;
    EXPECT_EQ(engine_->native_counts(), NativeCounts{}) << "something native is left behind";
  }

  Loaded load() { return {*engine_, source_, GetParam().options}; }
  std::unique_ptr<EngineInstance> load_on(EngineDevice& device, const ModelSource& source) {
    StopSignal stop;
    return device.load(source, GetParam().options, stop);
  }
  template <class... Parts>
  void expect_refused(ErrorCode code, const std::filesystem::path& file, Parts... parts) {
    const auto device = engine_->open_device("cpu");
    ModelSource source;
    source.file = file;
    expect_error(code, [&] { (void)load_on(*device, source); }, file.string(), parts...);
    EXPECT_EQ(engine_->native_counts(), (NativeCounts{.devices = 1, .instances = 0, .contexts = 0}));
  }

  std::shared_ptr<Engine> engine_;
  ModelSource source_;
  TemporaryFolder folder_;
};

TEST_P(EngineContract, NamesItsDevicesAndRefusesOthers) {
  for (const DeviceInfo& device : engine_->devices())
    EXPECT_EQ(device.available, device.reason.empty()) << device.device;
  expect_error(ErrorCode::kNotFound, [&] { (void)engine_->open_device("abacus"); }, "'abacus'", "cpu");
}

TEST_P(EngineContract, RecognisesItsModelsOnly) {
  EXPECT_TRUE(engine_->recognises(source_));
  ModelSource text;
  text.file = folder_.write("notes.txt", "words");
  EXPECT_FALSE(engine_->recognises(text));
  text.file = folder_.path() / "missing";
  EXPECT_FALSE(engine_->recognises(text));
}

TEST_P(EngineContract, CountsWhatItMakesAndFreesInOrder) {
  const auto device = engine_->open_device("cpu");
  EXPECT_EQ(engine_->native_counts(), (NativeCounts{1, 0, 0}));
  auto instance = load_on(*device, source_);
  EXPECT_EQ(engine_->native_counts(), (NativeCounts{1, 1, 0}));
  auto context = instance->create_context();
  auto second = instance->create_context();
  EXPECT_EQ(engine_->native_counts(), (NativeCounts{1, 1, 2}));
  EXPECT_GT(instance->bytes(), 0U);
  EXPECT_GT(context->bytes(), 0U);
  context.reset();
  second.reset();
  instance.reset();
  EXPECT_EQ(engine_->native_counts(), (NativeCounts{1, 0, 0}));
}

TEST_P(EngineContract, HasASignatureOfNamedClosedTensors) {
  Loaded model = load();
  const ModelSignature& signature = model.instance().signature();
  ASSERT_FALSE(signature.inputs.empty());
  ASSERT_FALSE(signature.outputs.empty());
  std::set<std::string> names;
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *side) {
      EXPECT_TRUE(names.insert(spec.name).second) << "'" << spec.name << "' stands twice";
      EXPECT_FALSE(spec.name.empty());
      EXPECT_GT(spec.byte_size(), 0U);
    }
  }
}

TEST_P(EngineContract, GivesTheSameForTheSame) {
  Loaded model = load();
  StopSignal stop;
  ASSERT_EQ(model.run(stop), RunEnd::kDone);
  const std::vector<std::byte> first = model.output_bytes();
  EXPECT_TRUE(std::ranges::any_of(first, [](std::byte byte) { return byte != std::byte{0}; }));
  const auto other = model.instance().create_context();
  StopSignal second_stop;
  ASSERT_EQ(model.run_on(*other, second_stop), RunEnd::kDone);
  EXPECT_EQ(model.output_bytes(), first);
}

TEST_P(EngineContract, NamesATensorThatDoesNotFit) {
  Loaded model = load();
  StopSignal stop;
  Tensor good = std::move(model.inputs[0]);
  const std::string name = "'" + good.name() + "'";
  TensorSpec spec = good.spec();
  spec.shape.back() += 1;
  model.inputs[0] = Tensor(spec);
  expect_error(
      ErrorCode::kInvalidArgument, [&] { (void)model.run(stop); }, name, "expected", to_string(good.spec().shape));
  spec = good.spec();
  spec.type = ElementType::kInt64;
  model.inputs[0] = Tensor(spec);
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)model.run(stop); }, name, "int64", to_string(good.spec().type));
  model.inputs.clear();
  expect_error(ErrorCode::kInvalidArgument, [&] { (void)model.run(stop); }, "0 input tensors", name);
  model.inputs.push_back(std::move(good));
  EXPECT_EQ(model.run(stop), RunEnd::kDone) << "a refused input must leave the context as it was";
}

TEST_P(EngineContract, AStopEndsTheRunItWasMeantForAndNoOther) {
  Loaded model = load();
  EXPECT_EQ(model.instance().capabilities().stops, GetParam().stops);
  StopSignal calm;
  ASSERT_EQ(model.run(calm), RunEnd::kDone);
  const std::vector<std::byte> expected = model.output_bytes();
  StopSignal stop;
  stop.request();
  EXPECT_EQ(model.run(stop), GetParam().stops == Stops::kNever ? RunEnd::kDone : RunEnd::kStopped);
  StopSignal next;
  EXPECT_EQ(model.run(next), RunEnd::kDone);
  EXPECT_EQ(model.output_bytes(), expected);
  if (GetParam().stops != Stops::kNever) {
    EXPECT_GT(next.steps(), 1U);
  }
}

TEST_P(EngineContract, AStopInMidRunIsSeenAtTheNextStepOrNotAtAll) {
  Loaded model = load();
  StopSignal full;
  ASSERT_EQ(model.run(full), RunEnd::kDone);
  StopSignal stop;
  if (GetParam().stops == Stops::kNever) {  // then it must not say that it had stopped: the flag is not looked at
    stop.request();
    EXPECT_EQ(model.run(stop), RunEnd::kDone);
    return;
  }
  std::thread canceller([&stop] {
    while (stop.steps() == 0) std::this_thread::yield();
    stop.request();
  });
  const RunEnd end = model.run(stop);
  canceller.join();
  // The last step may have been done before the canceller was scheduled.
  EXPECT_TRUE(end == RunEnd::kStopped || stop.steps() >= full.steps());
  EXPECT_LE(stop.steps(), full.steps());
}

TEST_P(EngineContract, ALoadThatIsStoppedLeavesNothing) {
  const auto device = engine_->open_device("cpu");
  StopSignal stop;
  stop.request();
  expect_error(ErrorCode::kAborted, [&] { (void)device->load(source_, GetParam().options, stop); }, "stopped");
  EXPECT_EQ(engine_->native_counts(), (NativeCounts{1, 0, 0}));
}

TEST_P(EngineContract, A9_NeedsNoneOfTheCallersBytes) {
  auto bytes = std::make_shared<std::vector<std::byte>>(read_file(source_.file));
  Loaded from_file = load();
  StopSignal stop;
  ASSERT_EQ(from_file.run(stop), RunEnd::kDone);
  ModelSource source;
  source.file = source_.file;
  source.bytes = bytes;
  Loaded from_memory(*engine_, source, GetParam().options);
  source.bytes.reset();
  std::ranges::fill(*bytes, std::byte{0xee});
  bytes.reset();
  for (int round = 0; round < 10; ++round) {
    StopSignal next;
    ASSERT_EQ(from_memory.run(next), RunEnd::kDone);
    EXPECT_EQ(from_memory.output_bytes(), from_file.output_bytes());
  }
}

TEST_P(EngineContract, B4_OpeningAndClosingLeavesNothing) {
  for (int round = 0; round < 20; ++round) {
    const auto device = engine_->open_device("cpu");
    (void)load_on(*device, source_);
  }
  EXPECT_EQ(engine_->native_counts(), NativeCounts{});
}

TEST_P(EngineContract, NamesAModelThatIsMissingOrNoFile) {
  expect_refused(ErrorCode::kNotFound, folder_.path() / "missing.model");
  expect_refused(ErrorCode::kInvalidArgument, folder_.path(), "folder");
}

TEST_P(EngineContract, RefusesAnEmptyOrCutShortModel) {
  expect_refused(ErrorCode::kDataLoss, folder_.write("empty.model", ""), "is empty");
  const std::vector<std::byte> good = read_file(source_.file);
  const std::string_view text(reinterpret_cast<const char*>(good.data()), good.size());
  for (const std::size_t part : {8U, 4U, 2U}) {
    expect_refused(ErrorCode::kDataLoss, folder_.write("part.model", text.substr(0, text.size() - text.size() / part)));
  }
  expect_refused(ErrorCode::kDataLoss, folder_.write("start.model", text.substr(0, 12)));
}

TEST_P(EngineContract, SaysWhatKindOfFileItGot) {
  using namespace std::string_view_literals;
  constexpr auto kCode = ErrorCode::kInvalidArgument;
  expect_refused(kCode, folder_.write("a.model", "\x89PNG\r\n\x1a\n0123456789"sv), "is a PNG image; expected");
  expect_refused(kCode, folder_.write("b.model", "PK\x03\x04 0123456789"sv), "is a ZIP archive; expected");
  expect_refused(kCode, folder_.write("c.model", "GGUF\3\0\0\0 0123456789"sv), "is a GGUF model; expected");
  expect_refused(kCode, folder_.write("d.model", "\x08\x07\x12\x07pytorch"sv), "is an ONNX model; expected");
  expect_refused(kCode, folder_.write("e.model", "some notes, no model at all"sv), "is a text file; expected");
  expect_refused(kCode, folder_.write("f.model", std::string(100, '\x02')), "is no ");
}

TEST_P(EngineContract, SaysThatPermissionIsMissing) {
  const auto file = folder_.write("secret.model", "x");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(file, std::filesystem::perms::none);
  ModelSource source;
  source.file = file;
  EXPECT_EXIT(as_nobody([&] { (void)load_on(*engine_->open_device("cpu"), source); }), ::testing::ExitedWithCode(0),
              "no permission to read '.*secret.model'");
}

std::filesystem::path fake_model() {
  static const TemporaryFolder folder;
  return folder.write("good.fake", kFakeModel);
}

EngineCase fake_case(const std::string& name, const FakeScript& script) {
  return {.name = name,
          .open = [script] { return std::make_shared<FakeEngine>(script); },
          .model = fake_model,
          .options = {},
          .stops = script.stops};
}

std::vector<EngineCase> all_cases() {
  std::vector<EngineCase> cases;
  cases.push_back(fake_case("Fake", {.load_stops = true, .require_file = true}));
  cases.push_back(fake_case("FakeStoppable", {.run_time = std::chrono::milliseconds(20),
                                              .stops = Stops::kPerNode,
                                              .steps = 50,
                                              .load_stops = true,
                                              .require_file = true}));
#ifdef TENURE_HAS_LITERT
  for (const bool stoppable : {false, true}) {
    cases.push_back({.name = stoppable ? "LiteRtBuiltin" : "LiteRtXnnpack",
                     .open = [] { return open_litert(cache_folder() / "engines" / "litert"); },
                     .model = [] { return cache_folder() / "models" / "face_detection_short_range.tflite"; },
                     .options = {.threads = 1, .stoppable = stoppable},
                     .stops = stoppable ? Stops::kPerNode : Stops::kNever});
  }
#endif
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineContract, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tenure::testing
