// I14: a native call that never returns may also be one that frees something.
#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

/// What hangs in its destroy function, until it is let go.
enum class Frees : std::uint8_t { kContext, kInstance, kDevice };

class Gate {
 public:
  explicit Gate(Frees what) : what_(what) {}
  void pass(Frees what) {
    if (what != what_) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  Frees what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

class SlowContext final : public EngineContext {
 public:
  SlowContext(std::unique_ptr<EngineContext> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}
  ~SlowContext() override { gate_.pass(Frees::kContext); }
  SlowContext(const SlowContext&) = delete;
  SlowContext& operator=(const SlowContext&) = delete;
  RunEnd run(std::span<const ConstTensorView> inputs, std::span<const TensorView> outputs, StopSignal& stop) override {
    return inner_->run(inputs, outputs, stop);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes(); }

 private:
  std::unique_ptr<EngineContext> inner_;
  Gate& gate_;
};

class SlowInstance final : public EngineInstance {
 public:
  SlowInstance(std::unique_ptr<EngineInstance> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}
  ~SlowInstance() override { gate_.pass(Frees::kInstance); }
  SlowInstance(const SlowInstance&) = delete;
  SlowInstance& operator=(const SlowInstance&) = delete;
  [[nodiscard]] const ModelSignature& signature() const noexcept override { return inner_->signature(); }
  [[nodiscard]] Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes(); }
  std::unique_ptr<EngineContext> create_context() override {
    return std::make_unique<SlowContext>(inner_->create_context(), gate_);
  }

 private:
  std::unique_ptr<EngineInstance> inner_;
  Gate& gate_;
};

class SlowDevice final : public EngineDevice {
 public:
  SlowDevice(std::unique_ptr<EngineDevice> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}
  ~SlowDevice() override { gate_.pass(Frees::kDevice); }
  SlowDevice(const SlowDevice&) = delete;
  SlowDevice& operator=(const SlowDevice&) = delete;
  [[nodiscard]] std::string_view device() const noexcept override { return inner_->device(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return inner_->bytes(); }
  std::unique_ptr<EngineInstance> load(const ModelSource& source, const InstanceOptions& options,
                                       StopSignal& stop) override {
    return std::make_unique<SlowInstance>(inner_->load(source, options, stop), gate_);
  }

 private:
  std::unique_ptr<EngineDevice> inner_;
  Gate& gate_;
};

class SlowEngine final : public Engine {
 public:
  SlowEngine(FakeEngine& inner, Gate& gate) : inner_(inner), gate_(gate) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "slow to free"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return inner_.devices(); }
  [[nodiscard]] bool recognises(const ModelSource& source) const override { return inner_.recognises(source); }
  std::unique_ptr<EngineDevice> open_device(std::string_view device) override {
    return std::make_unique<SlowDevice>(inner_.open_device(device), gate_);
  }
  [[nodiscard]] NativeCounts native_counts() const noexcept override { return inner_.native_counts(); }

 private:
  FakeEngine& inner_;
  Gate& gate_;
};

TEST(QuarantineReleaseTest, I14_AFreeThatNeverReturnsIsQuarantinedAndReapedWhenItDoes) {
  for (const Frees what : {Frees::kContext, Frees::kInstance, Frees::kDevice}) {
    for (const bool by_owner : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(what)) + (by_owner ? ", by its owner" : ", by close"));
      Gate gate(what);
      RealRuntime real({}, 50ms);
      real.runtime->add_engine(std::make_shared<SlowEngine>(real.engine, gate));
      ModelSpec spec("model.fake");
      spec.engine = "slow to free";
      Owner page = real.runtime->open("page");
      Session session = real.load(page.scope(), spec);
      EXPECT_EQ(real.end(begin_run(real.runtime->scope(), session)), "value");
      if (by_owner) {
        page.cancel();
        real.runtime->block_on([](Job job) -> Task<void> { co_await job.join(); }, page.job());
      } else {
        EXPECT_EQ(real.close(session), "deadline_exceeded");
      }
      EXPECT_EQ(session.state(), SessionState::kQuarantined);
      Session other = real.load();  // on another engine: it is not held up
      EXPECT_EQ(real.end(begin_run(real.runtime->scope(), other)), "value");
      gate.open();
      real.finish();
      EXPECT_EQ(session.state(), SessionState::kClosed);
    }
  }
}

}  // namespace
}  // namespace tenure
