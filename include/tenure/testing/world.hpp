#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tenure/session.hpp>
#include <tenure/testing/fake_engine.hpp>
#include <tenure/testing/shuffled_dispatcher.hpp>
#include <tenure/testing/virtual_timers.hpp>

namespace tenure::testing {

class VirtualLanes;

/// A runtime on virtual time, with a dispatcher shuffled by a seed, and a fake engine whose runs take virtual time on
/// real lanes. One thing moves at a time, so that what happens depends on the seed alone.
///
/// Returns   `advance`, `run_until_idle`: nothing; `run`: the end of a task.
/// Errors    `run` on a task that is stuck: kDeadlineExceeded, with the seed.
/// Cancel    its end cancels what is left, and checks that all was released: what was not is printed, and ends the test.
/// Threads   the test's.
class World {
 public:
  explicit World(FakeEngine& engine, std::uint64_t seed = choose_seed());
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Owner open(const char* name);
  [[nodiscard]] Runtime& runtime() noexcept { return *runtime_; }
  [[nodiscard]] Scope scope() { return runtime_->scope(); }
  [[nodiscard]] Duration elapsed() const noexcept { return timers_.now().time_since_epoch(); }
  [[nodiscard]] std::uint64_t seed() const noexcept { return dispatcher_.seed(); }
  [[nodiscard]] const std::vector<std::string>& errors() const noexcept { return errors_; }

  /// Loads a model of the fake engine into the root's scope, and waits for it.
  [[nodiscard]] Session load(ModelSpec spec = "model.fake");

  /// Runs what is ready, and waits until each lane waits or sleeps; time stands still.
  void settle();
  void advance(Duration duration);
  void run_until_idle();
  /// Lets hung runs come back, and settles.
  void release_hung();

  template <class F, class... A>
  auto run(F&& callable, A&&... arguments) {
    auto deferred = scope().async(std::forward<F>(callable), std::forward<A>(arguments)...);
    using T = typename decltype(deferred)::value_type;
    const detail::JobRef node = deferred.release_job();
    run_until_complete(*node.get());
    return detail::take_outcome<T>(*node.get());
  }

 private:
  void run_until_complete(const detail::JobNode& job);
  /// Moves to the next thing that happens, if it is not after `end`.
  bool step(TimePoint end);

  ShuffledDispatcher dispatcher_;
  VirtualTimers timers_;
  std::shared_ptr<VirtualLanes> lanes_;  // shared with the engine, whose runs sleep in it
  std::vector<std::string> errors_;
  FakeEngine& engine_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace tenure::testing
