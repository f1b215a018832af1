#pragma once

#include <tenure/base/error.hpp>
#include <tenure/base/function.hpp>
#include <tenure/coro/job_node.hpp>
#include <tenure/coro/outcome.hpp>

namespace tenure {

namespace detail {

/// Awaits a job's completion.
class JoinAwaiter : public Waiter {
 public:
  explicit JoinAwaiter(JobRef target) noexcept : target_(std::move(target)) {}
  JoinAwaiter(const JoinAwaiter&) = delete;
  JoinAwaiter& operator=(const JoinAwaiter&) = delete;
  ~JoinAwaiter() {
    if (is_parked_) target_->forget_joiner(*this);
  }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    return park(self.promise());
  }
  void await_resume() const {
    if (joins_itself_ || !target_->has(kCompletedFlag)) throw_not_joined();
  }

 protected:
  [[nodiscard]] JobNode& target() const noexcept { return *target_.get(); }

 private:
  Handle park(PromiseBase& leaf) noexcept;
  [[noreturn]] void throw_not_joined() const;

  JobRef target_;
  bool is_parked_ = false;
  bool joins_itself_ = false;
};

}  // namespace detail

/// A counted handle on something that runs.
///
/// Returns   `join()`: an awaitable that ends when the job and all its children have. `state()`: see JobState.
/// Errors    `join()` throws kFailedPrecondition in a job that would wait for itself, kDeadlineExceeded where native code
///           that borrows from a frame of the job did not come back by its hard limit; never the job's own error.
/// Cancel    `cancel()` takes effect at the next cancellation point of each coroutine in the job and its children; it
///           waits for nothing and allocates nothing. `join()` is a cancellation point.
/// Threads   any.
/// Lifetime  dropping it changes nothing: the job belongs to its scope.
/// Source    kotlinx.coroutines Job.
class Job {
 public:
  Job() = default;
  explicit Job(detail::JobRef node) noexcept : node_(std::move(node)) {}

  void cancel(std::exception_ptr cause = nullptr) const noexcept {
    if (node_) node_->cancel(cause);
  }
  [[nodiscard]] detail::JoinAwaiter join() const noexcept { return detail::JoinAwaiter(node_); }
  [[nodiscard]] JobState state() const noexcept { return node_->state(); }
  [[nodiscard]] bool is_complete() const noexcept { return node_->has(detail::kCompletedFlag); }
  [[nodiscard]] const char* name() const noexcept { return node_->name(); }
  /// How it ended. Errors: kFailedPrecondition while it has not.
  [[nodiscard]] Outcome<void> outcome() const;
  /// Calls `handler` once, with the end, on the thread that completes the job; at once where it is complete. It must
  /// not throw, and should be short.
  void on_completion(UniqueFunction<void(Outcome<void>)> handler) const;

 private:
  detail::JobRef node_;
};

}  // namespace tenure
