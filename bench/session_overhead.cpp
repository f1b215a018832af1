// What a session costs over the bare engine: session.run by one caller against the bare engine call on another thread
// with a bare hand-over there and back, in pairs.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tenure/session.hpp>
#include <thread>

#include "bench/benchmarks.hpp"
#include "bench/paired.hpp"
#include "engines/fake/fake_engine.hpp"
#include "engines/litert/litert_engine.hpp"

namespace tenure::bench {
namespace {

/// A thread that is handed one piece of work at a time, and hands back that it is done.
class BareLane {
 public:
  BareLane() : thread_([this] { work(); }) {}
  ~BareLane() {
    work_ = nullptr;
    to_lane_.post();
    thread_.join();
  }
  BareLane(const BareLane&) = delete;
  BareLane& operator=(const BareLane&) = delete;
  template <class F>
  void run(F& work) {
    argument_ = &work;
    work_ = [](void* argument) { (*static_cast<F*>(argument))(); };
    to_lane_.post();
    to_caller_.wait();
  }

 private:
  /// The cheapest hand-over that sleeps: a count, and the futex that the session's own threads sleep on.
  struct Signal {
    Event event;
    Atomic<int> count{0};
    void post() {
      count.fetch_add(1);
      event.notify_one();
    }
    void wait() {
      while (true) {
        const std::uint32_t ticket = event.ticket();
        int expected = count.load();
        if (expected > 0 && count.compare_exchange_strong(expected, expected - 1)) return;
        if (expected == 0) event.wait(ticket);
      }
    }
  };
  void work() {
    while (true) {
      to_lane_.wait();
      if (work_ == nullptr) return;
      work_(argument_);
      to_caller_.post();
    }
  }
  Signal to_lane_;
  Signal to_caller_;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::thread thread_;
};

Inputs make_inputs(const ModelSignature& signature) {
  Inputs inputs;
  for (const TensorSpec& spec : signature.inputs) {
    Tensor tensor(spec);
    if (spec.type == ElementType::kFloat32) {
      float value = 0;
      for (float& element : tensor.view<float>()) element = value = value < 1 ? value + 0.001F : 0;
    }
    inputs.add(std::move(tensor));
  }
  return inputs;
}

Task<void> run_some(Session session, std::vector<Inputs>& prepared, LoopDispatcher& loop) {
  for (Inputs& inputs : prepared) {
    Outputs outputs = co_await session.run(std::move(inputs));
    if (outputs.empty()) std::abort();
  }
  loop.stop();
}

Task<Session> load_it(Scope scope, ModelSpec spec) { co_return co_await load_session(scope, std::move(spec)); }

Paired measure_model(const ModelSpec& spec, const std::shared_ptr<Engine>& engine, int rounds, int runs) {
  LoopDispatcher loop;
  RuntimeOptions options;
  Runtime runtime(std::move(options));
  runtime.add_engine(engine);
  Owner owner = runtime.open("bench", loop);
  Session session = block_on(owner.scope(), load_it(owner.scope(), spec));

  StopSignal never;
  const std::unique_ptr<EngineDevice> device = engine->open_device(spec.device);
  const std::unique_ptr<EngineInstance> instance =
      device->load(ModelSource{spec.file, nullptr}, InstanceOptions{}, never);
  const std::unique_ptr<EngineContext> context = instance->create_context();
  Inputs bare_inputs = make_inputs(instance->signature());
  Outputs bare_outputs;
  for (const TensorSpec& output : instance->signature().outputs) bare_outputs.add(Tensor(output));
  std::vector<ConstTensorView> in;
  std::vector<TensorView> out;
  for (const Tensor& tensor : bare_inputs) in.push_back({&tensor.spec(), tensor.bytes()});
  for (Tensor& tensor : bare_outputs) out.push_back({&tensor.spec(), tensor.bytes()});

  BareLane lane;
  auto bare_call = [&] { context->run(in, out, never); };
  std::vector<Inputs> prepared;
  const auto prepare = [&] {
    prepared.clear();
    for (int i = 0; i < runs; ++i) prepared.push_back(bare_inputs.clone());
  };
  const auto ours = [&] {
    owner.launch(run_some, session, std::ref(prepared), std::ref(loop));
    loop.run();
  };
  const auto bare = [&] {
    for (int i = 0; i < runs; ++i) lane.run(bare_call);
  };
  static_cast<void>(measure(3, prepare, ours, bare));  // warm
  return measure(rounds, prepare, ours, bare);
}

void print(const char* name, const Paired& paired, int runs) {
  const Median relative = ratio(paired);
  const Median absolute = difference(paired);
  std::printf("%-28s overhead %+6.2f %% (95 %%: %+.2f to %+.2f), %+7.2f us a run (95 %%: %+.2f to %+.2f)\n", name,
              (relative.mid - 1) * 100, (relative.low - 1) * 100, (relative.high - 1) * 100, absolute.mid / runs / 1000,
              absolute.low / runs / 1000, absolute.high / runs / 1000);
}

}  // namespace

void session_overhead(const std::string& cache, int rounds) {
  constexpr int kRuns = 20;
  testing::FakeEngine fake;
  print("no-op fake engine", measure_model("noop.fake", fake.share(), rounds, kRuns), kRuns);
  print("face, LiteRT XNNPACK",
        measure_model(cache + "/models/face_detection_short_range.tflite", open_litert(cache + "/engines/litert"),
                      rounds, kRuns),
        kRuns);
}

}  // namespace tenure::bench
