#pragma once

#include <optional>
#include <utility>

#include <tenure/coro/scope.hpp>

namespace tenure::detail {

/// A job whose body runs in line with a frame of the parent job, which waits for it and for its children.
template <class Body>
class ScopeJob : public ResultJob<typename Body::Result> {
 public:
  using T = typename Body::Result;

  ScopeJob(JobNode& parent, PromiseBase& waiting_frame, Dispatcher& dispatcher, std::uint16_t flags, Body&& body)
      : ResultJob<T>(parent.tree(), dispatcher, flags | kInline, parent.name()), body_(std::move(body)) {
    this->Link::parent = &waiting_frame;
    this->on_end = &body_ended;
    TENURE_CHECK(parent.attach(*this), "a running job takes an inline scope");
  }

  /// Makes the body's frame; returns what to resume.
  [[nodiscard]] Handle begin() noexcept {
    try {
      this->enter(body_->make(Scope(JobRef(this))));
    } catch (...) {
      return end_with(std::current_exception());
    }
    return handle_of(*this->Link::child);
  }
  /// What the scope was given lives until all its children have ended, and ends before its result is seen.
  void drop_body() noexcept { body_.reset(); }

  [[nodiscard]] virtual std::exception_ptr cancelled_as_error() noexcept { return this->end_as_error(); }

 private:
  void start() noexcept override { begin().resume(); }

  static Handle body_ended(Link& self, End end) noexcept {
    auto& job = static_cast<ScopeJob&>(self);
    return job.end_with(job.settle(end));
  }
  Handle end_with(const std::exception_ptr& error) noexcept {
    if (error != nullptr) this->fail_body(error);
    if (&this->dispatcher() != &this->parent_job()->dispatcher()) {
      this->finish_body();  // the parent's frame is resumed on its own dispatcher
      return std::noop_coroutine();
    }
    return this->finish_inline_body() ? this->resume_parent() : std::noop_coroutine();
  }

  std::optional<Body> body_;
};

/// A scope with a time limit. The timer lies here and not in the waiting frame, so that one which fires as the scope
/// ends touches live memory.
template <class Body>
class TimedScopeJob final : public ScopeJob<Body>, private TimerNode {
 public:
  using ScopeJob<Body>::ScopeJob;

  void start_timer(Duration limit) noexcept {
    TimerQueue& timers = this->tree().timers;
    const TimePoint now = timers.now();
    const TimePoint at = limit < TimePoint::max() - now ? now + limit : TimePoint::max();
    timers.add(*this, at);
  }
  void stop_timer() noexcept { this->tree().timers.remove(*this); }

  std::exception_ptr cancelled_as_error() noexcept override {
    if (!this->has(kTimedOut)) return this->end_as_error();
    Error error(ErrorCode::kDeadlineExceeded, "the time limit passed");
    {
      const LockGuard guard(receipt_lock_);
      error.set_receipt(receipt_);
    }
    return std::make_exception_ptr(std::move(error));
  }
  void note_receipt(const ReceiptPtr& receipt) noexcept override {
    {
      const LockGuard guard(receipt_lock_);
      if (receipt_ == nullptr) receipt_ = receipt;
    }
    JobNode::note_receipt(receipt);
  }

 private:
  bool claim() noexcept override {
    this->ref();
    this->set_flag(kTimedOut);
    return true;
  }
  void fire() noexcept override {
    this->cancel();
    this->unref();
  }

  Lock receipt_lock_;
  ReceiptPtr receipt_ TENURE_GUARDED_BY(receipt_lock_);
};

template <class Job>
class ScopeAwaiter;

/// A scope that has not begun. Like a task it is awaited once, as an rvalue.
template <class Body, bool kTimed = false>
class [[nodiscard]] ScopeOp {
 public:
  using value_type = typename Body::Result;
  using Job = std::conditional_t<kTimed, TimedScopeJob<Body>, ScopeJob<Body>>;

  ScopeOp(Body&& body, std::uint16_t flags, Dispatcher* dispatcher = nullptr, Duration limit = Duration{0})
      : body_(std::move(body)), flags_(flags), dispatcher_(dispatcher), limit_(limit) {}

  auto operator co_await() && noexcept { return ScopeAwaiter<ScopeOp>(std::move(*this)); }

 private:
  friend class ScopeAwaiter<ScopeOp>;
  Body body_;
  std::uint16_t flags_;
  Dispatcher* dispatcher_;
  Duration limit_;
};

template <class Body, bool kTimed>
class ScopeAwaiter<ScopeOp<Body, kTimed>> {
 public:
  using Op = ScopeOp<Body, kTimed>;
  using T = typename Op::value_type;

  explicit ScopeAwaiter(Op&& op) noexcept : op_(std::move(op)) {}
  ScopeAwaiter(const ScopeAwaiter&) = delete;
  ScopeAwaiter& operator=(const ScopeAwaiter&) = delete;
  ~ScopeAwaiter() { clean_up(); }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) {
    PromiseBase& leaf = self.promise();
    JobNode& parent = *leaf.job;
    // Entering a boundary is a cancellation point: a loop around one would else never end.
    if ((op_.flags_ & kShielded) == 0 && parent.is_cancelled()) return unwind(leaf);
    Dispatcher& dispatcher = op_.dispatcher_ == nullptr ? parent.dispatcher() : *op_.dispatcher_;
    auto* job = new typename Op::Job(parent, leaf, dispatcher, op_.flags_, std::move(op_.body_));
    job_ = job;
    if constexpr (kTimed) job->start_timer(op_.limit_);
    if (&dispatcher == &parent.dispatcher()) return job->begin();
    job->post();  // from here on this frame may be resumed elsewhere
    return std::noop_coroutine();
  }
  T await_resume() {
    struct Cleaner {
      ScopeAwaiter& awaiter;
      ~Cleaner() { awaiter.clean_up(); }
    } cleaner{*this};
    switch (job_->state()) {
      case JobState::kFailed: std::rethrow_exception(job_->error());
      case JobState::kCancelled: std::rethrow_exception(job_->cancelled_as_error());
      default: return job_->take_result();
    }
  }

 private:
  void clean_up() noexcept {
    if (job_ == nullptr) return;
    if constexpr (kTimed) job_->stop_timer();
    job_->drop_body();
    job_->drop_result();
    std::exchange(job_, nullptr)->unref();
  }

  Op op_;
  typename Op::Job* job_ = nullptr;
};

template <class T>
inline constexpr bool is_scope_op_v = false;
template <class Body, bool kTimed>
inline constexpr bool is_scope_op_v<ScopeOp<Body, kTimed>> = true;

/// Any awaitable of the library that is a value, as a task.
template <class T>
Task<T> to_task(Task<T> task) {
  return task;
}
template <class Body, bool kTimed>
Task<typename Body::Result> to_task(ScopeOp<Body, kTimed> op) {
  co_return co_await std::move(op);
}

}  // namespace tenure::detail
