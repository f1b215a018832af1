#pragma once

#include <memory>
#include <vector>

#include <tenure/engine/engine.hpp>
#include <tenure/resource/lane_threads.hpp>
#include <tenure/resource/tiers.hpp>

namespace tenure::detail {

class Request;
class SessionCore;

/// A thread's turn at the session: its first native call to its last. The primary lane loads the model and, after all
/// other lanes have ended, frees it: on one thread, as thread-bound engines need it.
class Lane final : public LaneWork {
 public:
  Lane(SessionCore& core, int index) noexcept : core_(core), index_(index) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void serve() noexcept override;

  [[nodiscard]] bool is_primary() const noexcept { return index_ == 0; }
  [[nodiscard]] int index() const noexcept { return index_; }

 private:
  friend class SessionCore;
  void run(Request& request) noexcept;

  SessionCore& core_;
  const int index_;
  std::unique_ptr<ContextTier> context_;  // the lane's thread only, but for its record in quarantine

  /// The native call in progress; under the session's lock.
  struct Call {
    bool is_active = false;
    bool is_overdue = false;
    TimePoint since;
    std::uint64_t steps = 0;
    StopSignal* stop = nullptr;
    Request* request = nullptr;
  };
  Call call_;
};

/// A native call, or some, for as long as it lives. Once the process is ending its constructor does not return: the
/// engine's own exit handlers are about to run, or have.
class NativeCall {
 public:
  NativeCall() noexcept;
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;
  ~NativeCall();
};
/// Whether the process has come to its exit handlers.
[[nodiscard]] bool is_process_ending() noexcept;
/// Has exit() wait a bounded time for native calls in flight. Once an engine is loaded, so that it runs before theirs.
void guard_exit() noexcept;

}  // namespace tenure::detail
