#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <tenure/coro/completable_deferred.hpp>
#include <tenure/resource/tiers.hpp>
#include <tenure/session/session.hpp>

#include "session/lane.hpp"
#include "session/request.hpp"
#include "session/runtime_core.hpp"

namespace tenure::detail {

class SessionJob;

/// The state machine of one session, and the only place that moves it. Counted: by handles and callers, by each lane, by
/// the armed watchdog and by the session's job.
class SessionCore final : private TimerNode {
 public:
  /// Makes the session a resource of `scope`, and starts to load on a lane. Errors: as load_session, but for the load's.
  static SessionRef start(const Scope& scope, ModelSpec spec, std::source_location where);

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the others wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void add_handle() noexcept { handles_.fetch_add(1, std::memory_order_relaxed); }
  void drop_handle() noexcept;

  [[nodiscard]] Pending<void> loaded() const noexcept { return loaded_.pending(); }
  [[nodiscard]] Pending<void> closed() const noexcept { return closed_.pending(); }

  /// Checks the tensors and makes a request of them. Errors: kInvalidArgument.
  [[nodiscard]] Request& make_request(Inputs inputs, RunOptions options) const;
  [[nodiscard]] Request& make_request(const std::vector<std::span<const std::byte>>& inputs,
                                      const std::vector<std::span<std::byte>>& outputs) const;
  /// Puts it into the intake and parks its caller, `leaf`. Errors: kClosed and the like are the request's answer.
  Handle submit(Request& request, PromiseBase& leaf);
  void cancel(Request& request) noexcept;
  /// The caller's frame goes without an answer, and gives its reference up. The tensors are freed on a lane: returning
  /// large ones to the system costs more than a caller that leaves a page should pay (I17).
  void abandon(Request& request) noexcept;
  void rethrow_answer(Request& request);
  /// Errors: kFailedPrecondition in a child made by fork (I19).
  void require_usable() const;

  /// Ends what waits, asks what runs to stop, then releases (cancel); or lets what was accepted finish (drain).
  void close() noexcept;
  void drain() noexcept;

  // For the lanes (lane.cpp).
  [[nodiscard]] bool load_model(Lane& primary) noexcept;
  [[nodiscard]] bool open_context(Lane& lane) noexcept;
  void close_context(Lane& lane) noexcept;
  /// The primary lane has loaded the model, or failed to.
  void load_ended(std::exception_ptr error) noexcept;
  [[nodiscard]] Request* next(Lane& lane) noexcept;
  struct RunResult {
    RunEnd end = RunEnd::kDone;
    std::exception_ptr error;
    bool is_device_lost = false;
  };
  void ended(Lane& lane, Request& request, const RunResult& result) noexcept;
  void lane_ended(Lane& lane) noexcept;

  [[nodiscard]] const ModelSignature& signature() const noexcept { return signature_; }
  [[nodiscard]] Capabilities capabilities() const noexcept { return capabilities_; }
  // In a child made by fork the lock may be held by a thread that isn't there (I19).
  [[nodiscard]] SessionState state() const noexcept {
    if (is_inert()) return SessionState::kClosed;
    const LockGuard guard(lock_);
    return state_;
  }
  [[nodiscard]] std::size_t waiting() const noexcept {
    if (is_inert()) return 0;
    const LockGuard guard(lock_);
    return intake_.size();
  }
  [[nodiscard]] std::size_t running() const noexcept {
    if (is_inert()) return 0;
    const LockGuard guard(lock_);
    return in_native_code();
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] RuntimeCore& host() const noexcept { return host_; }
  /// Asks nobody: a handle may outlive its runtime.
  [[nodiscard]] bool is_inert() const noexcept { return os::fork_generation() != fork_generation_; }

 private:
  friend class Lane;
  friend class SessionJob;
  SessionCore(RuntimeCore& host, ModelSpec spec, std::string creator, std::source_location where);
  ~SessionCore();

  void move_to(SessionState to) noexcept TENURE_REQUIRES(lock_);
  [[nodiscard]] bool is_open() const noexcept TENURE_REQUIRES(lock_) {
    return state_ == SessionState::kReady || state_ == SessionState::kDraining;
  }
  [[nodiscard]] std::size_t in_native_code() const noexcept TENURE_REQUIRES(lock_);
  [[nodiscard]] bool is_full() const noexcept TENURE_REQUIRES(lock_);
  /// Gives a request its one answer; `Answers` sends it.
  void answer(Request& request, std::exception_ptr error, Reply& reply) noexcept TENURE_REQUIRES(lock_);
  /// Ends a request that has been taken out of the intake and was never run.
  void drop(Request& request, const std::exception_ptr& error, Answers& answers) noexcept TENURE_REQUIRES(lock_);
  void drop_waiting(const std::exception_ptr& error, Answers& answers) noexcept TENURE_REQUIRES(lock_);
  void stop_running(const std::exception_ptr& error, Answers& answers) noexcept TENURE_REQUIRES(lock_);
  void fail(const std::exception_ptr& error) noexcept TENURE_EXCLUDES(lock_);
  enum class Submitted : std::uint8_t { kToWaitingLane, kToBusyLane, kCallerCancelled, kClosed, kFull };
  [[nodiscard]] Submitted put_into_intake(Request& request, PromiseBase& leaf) noexcept;
  /// Gives a waiting lane its turn, if there is one; the caller notifies `work_`.
  [[nodiscard]] bool wake_one() noexcept TENURE_REQUIRES(lock_);
  void wake_all() noexcept TENURE_REQUIRES(lock_);
  void start_other_lanes() noexcept;
  void await_wake_up() noexcept;
  static void free_abandoned(Request* first) noexcept;
  void release_instance() noexcept;
  [[nodiscard]] InstanceTier& instance() const noexcept;
  void finish() noexcept;
  void end_job() noexcept;

  // The watchdog (watchdog.cpp): one timer for all native calls of the session.
  void call_begins(Lane& lane, StopSignal& stop, Request* request) noexcept TENURE_REQUIRES(lock_);
  void call_ends(Lane& lane) noexcept TENURE_REQUIRES(lock_);
  bool claim() noexcept override;
  void fire() noexcept override;
  void quarantine(Lane& lane, Answers& answers) noexcept TENURE_REQUIRES(lock_);
  void stop_watchdog() noexcept;

  [[nodiscard]] std::exception_ptr error(ErrorCode code, const char* what, Request* request = nullptr,
                                         const std::exception_ptr& cause = nullptr) const noexcept;

  RuntimeCore& host_;
  ModelSpec spec_;  // constant, but for its bytes, which go with the load
  const std::string name_;
  const std::string creator_;
  const std::source_location where_;
  const Duration hard_limit_;
  const std::uint32_t fork_generation_ = os::fork_generation();

  // Written by the primary lane before the session is ready, constant afterwards.
  ModelSignature signature_;
  Capabilities capabilities_;

  Atomic<std::uint32_t> references_{1};
  Atomic<std::uint32_t> handles_{0};
  CompletableDeferred<void> loaded_;
  CompletableDeferred<void> closed_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // made before the first is started
  StopSignal load_stop_;
#if defined(TENURE_MUTATION_STICKY_STOP)
  StopSignal sticky_stop_;
#endif

  mutable Lock lock_;
  Event work_;         // for lanes that wait for a request
  Event lanes_ended_;  // for the primary lane, which ends last
  SessionState state_ TENURE_GUARDED_BY(lock_) = SessionState::kLoading;
  Intake intake_ TENURE_GUARDED_BY(lock_);
  Request* abandoned_ TENURE_GUARDED_BY(lock_) = nullptr;  // a list through `next_abandoned`, for a lane to free
  std::uint64_t next_sequence_ TENURE_GUARDED_BY(lock_) = 0;
  int waiting_lanes_ TENURE_GUARDED_BY(lock_) = 0;
  int wake_ups_ TENURE_GUARDED_BY(lock_) = 0;
  int open_lanes_ TENURE_GUARDED_BY(lock_) = 1;
  bool is_watchdog_armed_ TENURE_GUARDED_BY(lock_) = false;
  std::unique_ptr<InstanceTier> instance_ TENURE_GUARDED_BY(lock_);  // made and freed by the primary lane
  std::exception_ptr load_error_;  // the primary lane's, between its load and what it says of it
  JobRef job_ TENURE_GUARDED_BY(lock_);
};

}  // namespace tenure::detail
