#pragma once

#include <tenure/base/function.hpp>
#include <tenure/coro/owner.hpp>
#include <tenure/coro/start.hpp>

namespace tenure {

/// The root of one job tree: what a runtime is made around.
///
/// Returns   `end`: whether all jobs have ended within the limit.
/// Errors    errors that nobody awaits go to `on_error`, on the thread where they occurred; it must not throw.
/// Cancel    `end` cancels every job of the tree.
/// Threads   any; `end` on a thread that is no worker.
/// Lifetime  outlives its jobs: call `end` until it says true, or never free it.
class Root final : public detail::JobTree {
 public:
  using ErrorHandler = UniqueFunction<void(std::exception_ptr error, const char* job_name)>;

  Root(Dispatcher& default_dispatcher, TimerQueue& timers, ErrorHandler on_error);

  [[nodiscard]] Scope scope() const noexcept { return Scope(job_); }
  [[nodiscard]] Owner open(const char* name, Dispatcher& dispatcher) const;
  /// Cancels all and waits, running what is ready on `pumped` where that is the calling thread's.
  bool end(Duration limit, Dispatcher* pumped);
  void cancel() noexcept { job_->cancel(); }

  void report(const std::exception_ptr& error, const char* job_name) noexcept override;

 private:
  ErrorHandler on_error_;
  detail::JobRef job_;
};

}  // namespace tenure
