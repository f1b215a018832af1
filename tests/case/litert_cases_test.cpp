// The cases that need a real engine: LiteRT on CPU.
#include <tenure/base/file.hpp>
#include <tenure/base/os.hpp>

#include "support/require_litert.hpp"
#include "support/session_support.hpp"
#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TENURE_TEST_IS_SANITIZED 1
#endif
#endif

class CaseOnLiteRt : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = require_litert();
    if (engine_ == nullptr) return;
    before_ = engine_->native_counts();
    RuntimeOptions options;
    options.threads = 2;
    options.hard_limit = 60s;
    options.abort_on_disorder = true;
    runtime_ = std::make_unique<Runtime>(std::move(options));
    runtime_->add_engine(engine_);
  }
  void TearDown() override {
    if (runtime_ == nullptr) return;
    EXPECT_TRUE(runtime_->shutdown(60s).is_complete);
    expect_empty(runtime_->ledger());
    EXPECT_EQ(engine_->native_counts(), before_);
  }
  [[nodiscard]] bool is_here() const { return engine_ != nullptr; }
  [[nodiscard]] Session load(ModelSpec spec) const {
    return runtime_->block_on(load_session(runtime_->scope(), std::move(spec)));
  }
  [[nodiscard]] Outcome<Outputs> run(const Session& session, Inputs inputs) const {
    auto body = [](Task<Outputs> task) -> Task<Outcome<Outputs>> { co_return co_await as_outcome(std::move(task)); };
    return runtime_->block_on(body, session.run(std::move(inputs)));
  }
  void close(const Session& session) const { runtime_->block_on(close_session, session); }

  Watchdog watchdog_{std::chrono::seconds(110)};
  std::shared_ptr<Engine> engine_;
  NativeCounts before_;
  std::unique_ptr<Runtime> runtime_;
};

Inputs inputs_for(const Session& session, unsigned seed) {
  Inputs inputs;
  for (const TensorSpec& spec : session.signature().inputs) {
    Tensor tensor(spec);
    if (spec.type == ElementType::kFloat32) {
      for (float& value : tensor.view<float>()) {
        seed = seed * 1103515245U + 12345U;
        value = static_cast<float>(seed >> 16U) / 65536.0F;
      }
    }
    inputs.add(std::move(tensor));
  }
  return inputs;
}

std::vector<std::byte> bytes_of(const Outputs& outputs) {
  std::vector<std::byte> bytes;
  for (const Tensor& tensor : outputs) bytes.insert(bytes.end(), tensor.bytes().begin(), tensor.bytes().end());
  return bytes;
}

TEST_F(CaseOnLiteRt, A1_CloseDuringRuns) {
  if (!is_here()) return;
  std::mt19937_64 random(stress_seed());
  struct Kind {
    const char* model;
    bool stoppable;
    int rounds;
    int longest_us;
  };
  for (const Kind kind : {Kind{"face", false, 60, 10000}, Kind{"face", true, 60, 20000}, Kind{"pose", false, 4, 200000},
                          Kind{"pose", true, 4, 200000}}) {
    for (int round = 0; round < scaled(kind.rounds); ++round) {
      ModelSpec spec(known_model(kind.model));
      spec.stoppable = kind.stoppable;
      Session session = load(spec);
      std::atomic<bool> is_closed{false};
      std::thread w([&] {
        while (true) {
          const bool began_after_close = is_closed;
          const std::string end = end_of(run(session, inputs_for(session, 1)));
          EXPECT_TRUE(end == "closed" || (end == "value" && !began_after_close)) << end;
          if (end == "closed") return;
        }
      });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(kind.longest_us)));
      close(session);
      EXPECT_EQ(engine_->native_counts(), before_) << "close came back before all was released";
      is_closed = true;
      w.join();
    }
  }
}

TEST_F(CaseOnLiteRt, A5_AProducerGoesOnAfterTheClose) {
  if (!is_here()) return;
  Session session = load(known_model("face"));
  std::atomic<int> values{0};
  std::atomic<int> closed{0};
  std::atomic<int> others{0};
  std::atomic<bool> is_over{false};
  int submitted = 0;
  std::thread producer([&] {  // submits without looking, and is never thrown at
    while (!is_over) {
      start(runtime_->scope(), session.run(inputs_for(session, 7)), [&](const Outcome<Outputs>& outcome) {
        const std::string end = end_of(outcome);
        ++(end == "value" ? values : end == "closed" ? closed : others);
      });
      ++submitted;
      std::this_thread::sleep_for(2ms);  // a camera
    }
  });
  while (values < 3) std::this_thread::yield();
  close(session);
  EXPECT_EQ(engine_->native_counts(), before_) << "no context is left that a frame could reach";
  const int told_before = values + closed + others;
  while (values + closed + others < told_before + 50) std::this_thread::yield();
  is_over = true;
  producer.join();
  while (values + closed + others < submitted) std::this_thread::yield();
  EXPECT_EQ(others, 0);
  EXPECT_GE(closed, 50);
}

TEST_F(CaseOnLiteRt, A9_TheModelsBytesAreOverwrittenRightAfterTheLoad) {
  if (!is_here()) return;
  Session from_file = load(known_model("face"));
  const Outputs reference = run(from_file, inputs_for(from_file, 3)).value();
  auto bytes = std::make_shared<std::vector<std::byte>>(read_file(known_model("face")));
  ModelSpec spec(known_model("face"));
  spec.bytes = bytes;
  Session from_memory = load(spec);
  spec.bytes.reset();
  std::ranges::fill(*bytes, std::byte{0xA5});
  bytes.reset();
  for (int i = 0; i < 10; ++i) {
    const Outputs outputs = run(from_memory, inputs_for(from_memory, 3)).value();
    EXPECT_EQ(bytes_of(outputs), bytes_of(reference));
  }
}

TEST_F(CaseOnLiteRt, B4_OpenAndCloseFromPathAndFromMemoryIsFlat) {
  if (!is_here()) return;
  for (const bool is_in_memory : {false, true}) {
    SCOPED_TRACE(is_in_memory ? "from memory" : "from a path");
    ModelSpec spec(known_model("face"));
    if (is_in_memory) spec.bytes = std::make_shared<std::vector<std::byte>>(read_file(known_model("face")));
    const int rounds = scaled(300);
    [[maybe_unused]] std::size_t after_warm_up = 0;
    for (int round = 0; round < rounds; ++round) {
      if (round == rounds / 3) after_warm_up = os::resident_bytes();
      Session session = load(spec);
      close(session);
    }
    expect_empty(runtime_->ledger());
    EXPECT_EQ(engine_->native_counts(), before_);
#ifndef TENURE_TEST_IS_SANITIZED
    EXPECT_LT(os::resident_bytes(), after_warm_up + (2U << 20U)) << "the model's own size is 0.2 MB a round";
#endif
    if (is_in_memory) {
      EXPECT_EQ(spec.bytes.use_count(), 1);
    }
  }
}

TEST_F(CaseOnLiteRt, E5_TheSameInputGivesTheSameOutputAtRun1And50And100) {
  if (!is_here()) return;
  for (const char* model : {"face", "hand", "segment"}) {
    for (const bool stoppable : {false, true}) {
      SCOPED_TRACE(std::string(model) + (stoppable ? ", builtin kernels" : ", XNNPACK"));
      ModelSpec spec(known_model(model));
      spec.stoppable = stoppable;
      Session session = load(spec);
      std::vector<std::byte> first;
      const int runs = std::max(3, scaled(100) / (stoppable ? 5 : 1));
      for (int i = 1; i <= runs; ++i) {
        const bool is_same = i == 1 || i == runs / 2 || i == runs;
        const Outputs outputs = run(session, inputs_for(session, is_same ? 1U : static_cast<unsigned>(i + 1))).value();
        if (i == 1) first = bytes_of(outputs);
        if (is_same) {
          EXPECT_EQ(bytes_of(outputs), first) << "run " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure
