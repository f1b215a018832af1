// What else programs do, one function each: a slot, two models at once, a time limit with its receipt, lent tensors,
// clean-up that awaits, and plain code. Runs on the scripted engine, so it needs no model.
#include <iostream>
#include <tenure/tenure.hpp>
#include <tenure/testing/fake_engine.hpp>

namespace tn = tenure;
using namespace std::chrono_literals;

tn::Inputs some_inputs(const tn::Session& session) {
  tn::Inputs inputs;
  inputs.add(tn::Tensor(session.signature().inputs[0]));
  return inputs;
}

/// Another model into the same place: a load that is still pending is cancelled, the old model released.
tn::Task<void> another_model(tn::Scope scope, tn::Inputs inputs) {
  tn::SessionSlot model{scope};
  model.load("small.fake");
  model.load("large.fake");
  tn::Outputs out = co_await model.run(std::move(inputs));  // on the large one
  std::cout << "slot: " << out.size() << " output\n";
}

/// Two models at once: when the caller is cancelled, both are; when one fails, the other is stopped.
tn::Task<void> two_models(tn::Session classify, tn::Session detect) {
  tn::Task<tn::Outputs> a = classify.run(some_inputs(classify));
  tn::Task<tn::Outputs> b = detect.run(some_inputs(detect));
  auto [label, boxes] = co_await tn::when_all(std::move(a), std::move(b));
  std::cout << "both: " << label.size() + boxes.size() << " outputs\n";
}

/// A time limit, and what became of the run.
tn::Task<void> time_limit(tn::Session slow) {
  tn::Task<tn::Outputs> run = slow.run(some_inputs(slow));
  tn::Outcome<tn::Outputs> out = co_await tn::as_outcome(tn::with_timeout(5ms, std::move(run)));
  if (out.is_error()) {  // kDeadlineExceeded: we go on at once, the native run may not be over
    tn::CancelReceipt receipt = co_await out.receipt();  // waits until all is quiet
    std::cout << "time limit: " << tn::to_string(receipt) << '\n';
  }
}

/// Tensors that you lend instead of give: the call returns only when native code has let go.
tn::Task<void> lend(tn::Session session) {
  std::vector<float> input(4, 1.0F);
  std::vector<float> output(4);
  co_await session.run(tn::borrow(input), tn::borrow(output));
  std::cout << "lent: " << output[0] << '\n';
}

struct Camera {
  static tn::Task<Camera> open() { co_return Camera{}; }
  static tn::Task<void> close(Camera&) {
    std::cout << "camera closed, whatever happened\n";
    co_return;
  }
};
tn::Task<int> film(Camera&) {
  co_await tn::delay(1ms);
  co_return 24;
}

tn::Task<void> everything(tn::Scope scope) {
  tn::Session session = co_await scope.load("model.fake");
  tn::Session other = co_await scope.load("other.fake");
  co_await another_model(scope, some_inputs(session));
  co_await two_models(session, other);
  co_await time_limit(session);
  co_await lend(session);
  tn::Task<int> filming = tn::with_resource(Camera::open, film, Camera::close);
  const int frames = co_await std::move(filming);
  std::cout << frames << " frames\n";
}

int main() try {
  tn::testing::FakeEngine engine{tn::testing::FakeScript{.run_time = 20ms, .stops = tn::Stops::kPerNode}};
  tn::Runtime runtime;
  runtime.add_engine(engine.share());
  runtime.block_on(everything);

  // Without coroutines: a future, and a callback.
  tn::Owner page = runtime.open("page");
  tn::Session session = tn::start_future(page, tn::load_session(page.scope(), "model.fake")).get();
  std::future<tn::Outputs> future = tn::start_future(page, session.run(some_inputs(session)));
  std::cout << "future: " << future.get().size() << " output\n";
  std::promise<bool> called;
  tn::start(page, session.run(some_inputs(session)),
            [&called](tn::Outcome<tn::Outputs> out) { called.set_value(out.has_value()); });
  std::cout << "callback: " << called.get_future().get() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
