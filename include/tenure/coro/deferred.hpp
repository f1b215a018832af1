#pragma once

#include <type_traits>

#include <tenure/coro/job.hpp>
#include <tenure/coro/result_job.hpp>

namespace tenure {

namespace detail {

template <class T>
class DeferredAwaiter : public JoinAwaiter {
 public:
  explicit DeferredAwaiter(const JobRef& job) noexcept : JoinAwaiter(job) {}
  T await_resume() const {
    JoinAwaiter::await_resume();
    if (target().state() != JobState::kCompleted) std::rethrow_exception(target().end_as_error());
    return static_cast<ResultJob<T>&>(target()).take_result();
  }
};

}  // namespace detail

/// The result of something launched, to be awaited once.
///
/// Returns   `co_await deferred`: the value, moved out, when the job and its children have ended.
/// Errors    the job's error; kAborted, with the cause, where it was cancelled by others than the awaiter's own job.
/// Cancel    awaiting is a cancellation point and leaves the job as it is; `cancel()` cancels the job.
/// Threads   awaited by one coroutine at a time; `cancel` and `state` from any.
/// Lifetime  dropping it is legal: the scope still joins its job.
/// Source    kotlinx.coroutines Deferred.
template <class T = void>
class [[nodiscard]] Deferred {
 public:
  using value_type = T;

  explicit Deferred(detail::JobRef job) noexcept : job_(std::move(job)) {}
  Deferred(Deferred&&) noexcept = default;
  Deferred& operator=(Deferred&&) noexcept = default;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() = default;

  auto operator co_await() const noexcept { return detail::DeferredAwaiter<T>(job_); }
  [[nodiscard]] Job job() const noexcept { return Job(job_); }
  void cancel(std::exception_ptr cause = nullptr) const noexcept { job_->cancel(cause); }
  [[nodiscard]] JobState state() const noexcept { return job_->state(); }
  /// For the library: gives up the handle.
  [[nodiscard]] detail::JobRef release_job() noexcept { return std::move(job_); }

 private:
  detail::JobRef job_;
};

}  // namespace tenure
