#pragma once

#include <tenure/coro/job_node.hpp>

namespace tenure {

namespace detail {

class DelayAwaiter final : private TimerNode {
 public:
  explicit DelayAwaiter(Duration duration) noexcept : duration_(duration) {}
  DelayAwaiter(const DelayAwaiter&) = delete;
  DelayAwaiter& operator=(const DelayAwaiter&) = delete;
  ~DelayAwaiter() {
    if (timers_ != nullptr) timers_->remove(*this);
  }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    return park(self.promise());
  }
  static void await_resume() noexcept {}

 private:
  Handle park(PromiseBase& leaf) noexcept;
  bool arm() noexcept override { return leaf_->job->arm(*leaf_); }
  bool claim() noexcept override { return leaf_->job->claim(); }
  void fire() noexcept override { leaf_->job->post(); }

  Duration duration_;
  PromiseBase* leaf_ = nullptr;
  TimerQueue* timers_ = nullptr;
};

class YieldAwaiter {
 public:
  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  static Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    PromiseBase& leaf = self.promise();
    if (leaf.job->is_cancelled()) return unwind(leaf);
    leaf.job->post_behind(leaf, JobNode::Step::kResume);
    return std::noop_coroutine();
  }
  static void await_resume() noexcept {}
};

class CheckpointAwaiter {
 public:
  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  static Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    PromiseBase& leaf = self.promise();
    return leaf.job->is_cancelled() ? unwind(leaf) : handle_of(leaf);
  }
  static void await_resume() noexcept {}
};

}  // namespace detail

/// Suspends for `duration` by the clock of the job's tree; zero or less is a checkpoint. A cancellation point.
[[nodiscard]] inline detail::DelayAwaiter delay(Duration duration) noexcept { return detail::DelayAwaiter(duration); }

/// Lets run what is ready, then goes on. A cancellation point.
[[nodiscard]] inline detail::YieldAwaiter yield_now() noexcept { return {}; }

/// A cancellation point that does not suspend: for long computations.
[[nodiscard]] inline detail::CheckpointAwaiter checkpoint() noexcept { return {}; }

}  // namespace tenure
