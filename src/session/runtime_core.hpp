#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tenure/coro/root.hpp>
#include <tenure/coro/thread_pool.hpp>
#include <tenure/coro/timer_thread.hpp>
#include <tenure/resource/lane_threads.hpp>
#include <tenure/resource/tiers.hpp>
#include <tenure/session/model_spec.hpp>
#include <tenure/session/runtime.hpp>

namespace tenure::detail {

/// What a runtime is made of, and what its sessions use. Where a shutdown leaves something behind, this is kept with it.
class RuntimeCore {
 public:
  explicit RuntimeCore(RuntimeOptions options);
  ~RuntimeCore();
  RuntimeCore(const RuntimeCore&) = delete;
  RuntimeCore& operator=(const RuntimeCore&) = delete;

  static RuntimeCore& of(const Scope& scope) noexcept { return *static_cast<RuntimeCore*>(scope.node().tree().host); }

  void add_engine(std::shared_ptr<Engine> engine);
  [[nodiscard]] std::vector<Engine*> engines();
  /// The engine for a model. Errors: kUnavailable, kInvalidArgument; the message says which engines there are.
  [[nodiscard]] Engine& choose_engine(const ModelSpec& spec);
  void remember_dispatcher(Dispatcher& dispatcher);
  /// The known dispatcher that the calling thread is the one of, if any.
  [[nodiscard]] Dispatcher* dispatcher_here();

  [[nodiscard]] bool is_own_thread() const noexcept;
  ShutdownReport shut_down(Duration deadline);

  /// Has the allocator return what a model has left behind, but not oftener than is cheap. On a lane.
  void give_back_memory() noexcept;

  [[nodiscard]] TimerQueue& timers() noexcept { return *timers_; }
  [[nodiscard]] Dispatcher& dispatcher() noexcept { return *dispatcher_; }
  void lane_got_work() noexcept {
    if (options_.lane_observer != nullptr) options_.lane_observer->lane_got_work();
  }
  void lane_waits() noexcept {
    if (options_.lane_observer != nullptr) options_.lane_observer->lane_waits();
  }

 private:
  RuntimeOptions options_;
  std::unique_ptr<ThreadPool> own_pool_;
  std::unique_ptr<TimerThread> own_timers_;
  Dispatcher* dispatcher_;
  TimerQueue* timers_;

 public:
  const Duration hard_limit;
  Ledger ledger;
  DeviceTable devices;
  LaneThreads lanes;
  std::unique_ptr<Root> root;

 private:
  Lock lock_;
  std::vector<std::shared_ptr<Engine>> engines_ TENURE_GUARDED_BY(lock_);
  std::vector<Dispatcher*> known_dispatchers_ TENURE_GUARDED_BY(lock_);
  Atomic<std::int64_t> last_gift_{0};  // of memory, on the steady clock; orders nothing
  Atomic<bool> is_shut_down_{false};   // set by any of several that shut down at once; all is released before it
};

}  // namespace tenure::detail
