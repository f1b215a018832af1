#pragma once

#include <optional>
#include <utility>

#include <tenure/base/error.hpp>
#include <tenure/base/function.hpp>
#include <tenure/coro/job_node.hpp>

namespace tenure {

namespace detail {

void count_late_resume() noexcept;

/// What a suspended coroutine and its continuations share; counted, since a callback may come when the frame is gone.
class SuspensionBase : public CancelListener, public Recycled {
 public:
  SuspensionBase() = default;
  virtual ~SuspensionBase() = default;

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the others wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Suspends `leaf` unless the result is here already. `is_firm`: a cancel does not take it.
  Handle park(PromiseBase& leaf, bool is_firm) noexcept;
  /// The frame goes away; whoever resumes later comes too late.
  void abandon() noexcept;
  void set_on_cancel(UniqueFunction<void()> handler) noexcept;

 protected:
  enum class State : std::uint8_t { kOpen, kDone, kAbandoned };
  /// Under the lock: whether the caller may store a result. After it, `wake` with what this returns, without the lock.
  [[nodiscard]] bool begin_resume() noexcept TENURE_REQUIRES(lock_);
  void wake() noexcept;

  Lock lock_;

 private:
  void on_cancel() noexcept override;

  Atomic<std::uint32_t> references_{1};
  State state_ TENURE_GUARDED_BY(lock_) = State::kOpen;
  bool is_parked_ TENURE_GUARDED_BY(lock_) = false;
  bool was_cancelled_ TENURE_GUARDED_BY(lock_) = false;
  JobNode* job_ = nullptr;
  UniqueFunction<void()> on_cancel_ TENURE_GUARDED_BY(lock_);
};

template <class T>
class Suspension final : public SuspensionBase {
 public:
  /// False, with `value` untouched, where another resume or the end of the frame came first.
  bool resume(T& value) {
    {
      const LockGuard guard(lock_);
      if (!begin_resume()) return false;
      value_.emplace(std::move(value));
    }
    wake();
    return true;
  }
  bool fail(std::exception_ptr error) noexcept {
    {
      const LockGuard guard(lock_);
      if (!begin_resume()) return false;
      error_ = std::move(error);
    }
    wake();
    return true;
  }
  T take() {
    const LockGuard guard(lock_);
    if (error_ != nullptr) std::rethrow_exception(error_);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_ TENURE_GUARDED_BY(lock_);
  std::exception_ptr error_ TENURE_GUARDED_BY(lock_);
};

}  // namespace detail

/// The once-only right to resume a suspended coroutine: for callback interfaces.
///
/// Returns   `resume`: nothing where it took effect, else the value back. A second resume is ignored and counted.
/// Errors    dropped without a resume, the coroutine gets kAborted: it never hangs.
/// Cancel    `on_cancel(handler)` is called once, synchronously, by whoever cancels the job; it must not wait.
/// Threads   any.
/// Lifetime  may outlive the coroutine; a resume then does nothing.
/// Source    kotlinx.coroutines CancellableContinuation.
template <class T>
class Continuation {
 public:
  explicit Continuation(detail::Suspension<T>& suspension) noexcept : suspension_(&suspension) { suspension_->ref(); }
  Continuation(Continuation&& other) noexcept : suspension_(std::exchange(other.suspension_, nullptr)) {}
  Continuation& operator=(Continuation&&) = delete;
  ~Continuation() {
    if (suspension_ == nullptr) return;
    drop();
    suspension_->unref();
  }

  std::optional<T> resume(T value) {
    if (suspension_->resume(value)) return std::nullopt;
    detail::count_late_resume();
    return value;
  }
  bool resume_with_error(std::exception_ptr error) noexcept {
    if (suspension_->fail(std::move(error))) return true;
    detail::count_late_resume();
    return false;
  }
  void on_cancel(UniqueFunction<void()> handler) noexcept { suspension_->set_on_cancel(std::move(handler)); }

 private:
  void drop() noexcept {
    try {
      suspension_->fail(std::make_exception_ptr(
          Error(ErrorCode::kAborted, "the continuation was dropped without a result: nobody will resume this")));
    } catch (...) {
      suspension_->fail(std::current_exception());
    }
  }
  detail::Suspension<T>* suspension_;
};

/// How many resumes came second or too late since the process began; they are ignored.
[[nodiscard]] std::uint64_t late_resumes() noexcept;

namespace detail {

template <class T, class F, bool kFirm>
class SuspendAwaiter {
 public:
  explicit SuspendAwaiter(F&& start) : start_(std::move(start)) {}
  SuspendAwaiter(const SuspendAwaiter&) = delete;
  SuspendAwaiter& operator=(const SuspendAwaiter&) = delete;
  ~SuspendAwaiter() {
    if (suspension_ == nullptr) return;
    suspension_->abandon();
    suspension_->unref();
  }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) {
    PromiseBase& leaf = self.promise();
    if (!kFirm && leaf.job->is_cancelled()) return unwind(leaf);
    auto* suspension = new Suspension<T>;
    suspension_ = suspension;
    start_(Continuation<T>(*suspension));
    return suspension->park(leaf, kFirm);
  }
  T await_resume() { return suspension_->take(); }

 private:
  F start_;
  Suspension<T>* suspension_ = nullptr;
};

}  // namespace detail

/// Suspends, and calls `start(Continuation<T>)`, which hands the continuation to whatever will resume it.
///
/// Returns   what the continuation is resumed with.
/// Errors    what it is failed with; what `start` throws; kAborted where it is dropped.
/// Cancel    a cancellation point: the frame goes at once, and a later resume does nothing. It lends no frame memory.
/// Threads   `start` runs here and now; the coroutine goes on on its dispatcher.
/// Source    kotlinx.coroutines suspendCancellableCoroutine.
template <class T, class F>
auto suspend_cancellable(F start) {
  return detail::SuspendAwaiter<T, F, false>(std::move(start));
}

/// As suspend_cancellable, but a cancel waits for the resume: frame memory may be lent until then.
template <class T, class F>
auto suspend_until_done(F start) {
  return detail::SuspendAwaiter<T, F, true>(std::move(start));
}

}  // namespace tenure
