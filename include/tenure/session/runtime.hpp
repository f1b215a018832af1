#pragma once

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <tenure/coro/owner.hpp>
#include <tenure/coro/root.hpp>
#include <tenure/coro/start.hpp>
#include <tenure/engine/engine.hpp>
#include <tenure/resource/lane_threads.hpp>
#include <tenure/resource/ledger.hpp>

namespace tenure {

namespace detail {
class RuntimeCore;
}

/// What a runtime is made with. The defaults suit an app.
struct RuntimeOptions {
  int threads = 0;                                ///< of the default dispatcher; 0: one for each core, at least two
  Dispatcher* dispatcher = nullptr;               ///< instead of a pool of its own
  TimerQueue* timers = nullptr;                   ///< instead of the steady clock
  Duration hard_limit = std::chrono::seconds(5);  ///< of one native call, before its session is quarantined
  Duration shutdown_deadline = std::chrono::seconds(10);  ///< of ~Runtime
  Root::ErrorHandler on_error = nullptr;                  ///< errors that nobody awaits; by default they go to stderr
  LaneObserver* lane_observer = nullptr;                  ///< for virtual time
  bool abort_on_disorder = false;                         ///< end the program on a release out of order: for tests
};

/// What a shutdown came to.
struct ShutdownReport {
  bool is_complete = false;
  std::vector<std::string> left;  ///< what was not released, a line each; empty where complete
};

/// The root: dispatchers, devices, ledger. Made in `main` and passed on.
///
/// Returns   `open`: an Owner. `block_on`: what the callable returns. `shutdown`: whether all was released, and what was
///           not.
/// Errors    kFailedPrecondition, from all that it starts, in a child made by fork. kClosed after a shutdown.
/// Cancel    `shutdown` cancels all, then waits for it until its deadline; it runs what is ready on the dispatcher of the
///           calling thread, so that a UI thread can call it.
/// Threads   any; `block_on` and `shutdown` not on a dispatcher's worker.
/// Lifetime  its end calls `shutdown`, and says on stderr what was left. Dropped on one of its own threads, it hands that
///           to another thread. It needs no end at exit for correctness: once the process is ending it does nothing.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Makes an engine's models loadable. It is kept for the life of the process.
  void add_engine(std::shared_ptr<Engine> engine);
  [[nodiscard]] std::vector<Engine*> engines() const;

  /// Opens a lifetime of the app. `name` is a literal. Without a dispatcher it runs on the default one.
  [[nodiscard]] Owner open(const char* name);
  [[nodiscard]] Owner open(const char* name, Dispatcher& dispatcher);
  [[nodiscard]] Scope scope() const;

  template <class F, class... A>
  auto block_on(F&& callable, A&&... arguments) {
    return tenure::block_on(scope().named("block_on"), std::forward<F>(callable), std::forward<A>(arguments)...);
  }

  ShutdownReport shutdown(Duration deadline);

  [[nodiscard]] Ledger& ledger() const noexcept;
  [[nodiscard]] Dispatcher& dispatcher() const noexcept;
  [[nodiscard]] TimerQueue& timers() const noexcept;

 private:
  std::unique_ptr<detail::RuntimeCore> core_;
  Duration shutdown_deadline_;
};

}  // namespace tenure
