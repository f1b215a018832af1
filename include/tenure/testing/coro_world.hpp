#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tenure/coro/root.hpp>
#include <tenure/testing/shuffled_dispatcher.hpp>
#include <tenure/testing/virtual_timers.hpp>

namespace tenure::testing {

/// A job tree on virtual time and one shuffled dispatcher: for tests of coroutines without a single sleep.
///
/// Returns   `run`: the end of a task that ran until nothing was left to do.
/// Errors    `run` on a task that is stuck: an error that says so, with the seed.
/// Cancel    its end cancels what is left.
/// Threads   the test's.
/// Source    kotlinx-coroutines-test runTest; trio's MockClock.
class CoroWorld {
 public:
  explicit CoroWorld(std::uint64_t seed = choose_seed());
  ~CoroWorld();
  CoroWorld(const CoroWorld&) = delete;
  CoroWorld& operator=(const CoroWorld&) = delete;

  [[nodiscard]] Owner open(const char* name) { return root_.open(name, dispatcher_); }
  [[nodiscard]] Scope scope() const { return root_.scope(); }
  [[nodiscard]] Root& root() noexcept { return root_; }
  [[nodiscard]] ShuffledDispatcher& dispatcher() noexcept { return dispatcher_; }
  [[nodiscard]] VirtualTimers& timers() noexcept { return timers_; }
  [[nodiscard]] Duration elapsed() const noexcept { return timers_.now().time_since_epoch(); }
  /// The errors that nobody awaited, by their text.
  [[nodiscard]] const std::vector<std::string>& errors() const noexcept { return errors_; }

  /// Runs what is ready now; time stands still.
  void run_ready();
  /// Runs all that happens in the next `duration`.
  void advance(Duration duration);
  /// Runs until nothing is ready and no timer waits.
  void run_until_idle();

  /// Runs `callable(scope, arguments...)` as a child of the root to its end, moving time as needed.
  template <class F, class... A>
  auto run(F&& callable, A&&... arguments) {
    auto deferred = scope().async(std::forward<F>(callable), std::forward<A>(arguments)...);
    using T = typename decltype(deferred)::value_type;
    const detail::JobRef node = deferred.release_job();
    run_until_idle();
    require_complete(*node.get());
    return detail::take_outcome<T>(*node.get());
  }

 private:
  void require_complete(const detail::JobNode& job) const;

  ShuffledDispatcher dispatcher_;
  VirtualTimers timers_;
  std::vector<std::string> errors_;
  Root root_;
};

}  // namespace tenure::testing
