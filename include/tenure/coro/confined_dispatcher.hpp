#pragma once

#include <tenure/base/function.hpp>
#include <tenure/base/lock.hpp>
#include <tenure/coro/dispatcher.hpp>

namespace tenure {

/// A dispatcher that runs on one thread: the one that made it, until `move_here()` says otherwise.
///
/// Returns   `run_ready()`: how many items it ran.
/// Errors    none.
/// Cancel    an owner confined here, cancelled on its thread, is unwound before `cancel` returns (I8).
/// Threads   any may post; all else on the one thread.
class ConfinedDispatcher : public Dispatcher {
 public:
  void post(WorkItem& item) noexcept override;
  void post_all(WorkQueue items) noexcept override;
  [[nodiscard]] bool is_here() const noexcept final {
    return home_.load(std::memory_order_relaxed) == os::thread_number();
  }
  void run_unwinding(const WorkItem* job) noexcept final;

  /// Runs what was ready when it was called; what that posts waits for the next call.
  std::size_t run_ready() noexcept override;
  /// From now on the calling thread is the one. Nothing may be running on the former one.
  void move_here() noexcept { home_.store(os::thread_number(), std::memory_order_relaxed); }

 protected:
  ConfinedDispatcher() = default;
  /// Something is ready where nothing was. Called on any thread, with no lock held.
  virtual void became_ready() noexcept = 0;
  /// Takes the item whose turn it is; a test's dispatcher may choose another than the first.
  virtual WorkItem* pick(WorkQueue& ready) noexcept { return ready.pop(); }
  /// Takes what is ready.
  WorkQueue take_all() noexcept;

 private:
  Lock lock_;
  WorkQueue ready_ TENURE_GUARDED_BY(lock_);
  Atomic<std::uint32_t> home_{os::thread_number()};  // changed only while nothing runs; orders nothing
};

/// The app's main thread, over whatever runs its events: Qt, GLib, SDL, Asio, Android's looper.
///
/// Returns   nothing.
/// Errors    where `post_function` returns false, the loop has ended: the jobs in question are cancelled and unwound on
///           `fallback`, as are all that come later.
/// Cancel    see ConfinedDispatcher.
/// Threads   `post_function` is called on any thread, by several at once; it must have `run(argument)` called once on
///           the main thread, or return false.
/// Lifetime  outlives the runtime; a call that the loop makes after that does nothing.
/// Source    kotlinx.coroutines Dispatchers.Main.
class MainDispatcher final : public ConfinedDispatcher {
 public:
  using Callback = void (*)(void* argument);
  using PostFunction = UniqueFunction<bool(Callback run, void* argument)>;

  MainDispatcher(PostFunction post_function, Dispatcher& fallback);
  ~MainDispatcher() override;

 private:
  class Turn;
  void became_ready() noexcept override;
  void hand_to_fallback() noexcept;

  PostFunction post_function_;
  Dispatcher& fallback_;
  Turn* turn_;
  Atomic<bool> is_on_its_way_{false};  // a call that the loop has taken and not yet made
};

/// A main loop for programs that have none: `run` blocks the thread that made it and runs what is posted.
class LoopDispatcher final : public ConfinedDispatcher {
 public:
  /// Runs until `stop()`.
  void run() noexcept;
  /// Runs what is ready, or waits at most `limit` for something; for a caller with a loop of its own.
  std::size_t run_for(Duration limit) noexcept;
  /// Ends `run`; from any thread.
  void stop() noexcept;

 private:
  void became_ready() noexcept override { event_.notify_one(); }
  Event event_;
  Atomic<bool> is_stopping_{false};
};

}  // namespace tenure
