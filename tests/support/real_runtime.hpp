#pragma once

#include <memory>

#include "support/session_support.hpp"
#include "support/stress.hpp"

namespace tenure::testing {

/// A runtime with threads and time of its own over the fake engine, and a watchdog over the test.
struct RealRuntime {
  explicit RealRuntime(FakeScript script = {}, Duration hard_limit = std::chrono::seconds(60), int threads = 3)
      : engine(std::move(script)) {
    RuntimeOptions options;
    options.threads = threads;
    options.hard_limit = hard_limit;
    options.abort_on_disorder = true;
    options.on_error = [](const std::exception_ptr& error, const char*) { ADD_FAILURE() << describe(error); };
    runtime = std::make_unique<Runtime>(std::move(options));
    runtime->add_engine(engine.share());
  }
  [[nodiscard]] Session load(const Scope& scope, ModelSpec spec = "model.fake") const {
    return runtime->block_on(load_session(scope, std::move(spec)));
  }
  [[nodiscard]] Session load(ModelSpec spec = "model.fake") const { return load(runtime->scope(), std::move(spec)); }
  [[nodiscard]] std::string close(const Session& session) const {
    Outcome<void> outcome = runtime->block_on(
        [](Session one) -> Task<Outcome<void>> {
          Task<void> closing = one.close();
          co_return co_await as_outcome(std::move(closing));
        },
        session);
    return end_of(outcome);
  }
  template <class T>
  [[nodiscard]] std::string end(Deferred<T> deferred) const {
    return runtime->block_on(
        [](Deferred<T> one) -> Task<std::string> {
          Task<T> waiting = await_deferred(std::move(one));
          Outcome<T> outcome = co_await as_outcome(std::move(waiting));
          co_return end_of(outcome);
        },
        std::move(deferred));
  }
  /// Ends the runtime, with nothing left.
  void finish() {
    const ShutdownReport report = runtime->shutdown(std::chrono::seconds(60));
    EXPECT_TRUE(report.is_complete) << (report.left.empty() ? "" : report.left.front());
    expect_clean(engine);
    expect_empty(runtime->ledger());
    runtime.reset();
  }

  Watchdog watchdog;
  FakeEngine engine;
  std::unique_ptr<Runtime> runtime;
};

}  // namespace tenure::testing
