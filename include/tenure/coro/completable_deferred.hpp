#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <tenure/base/error.hpp>
#include <tenure/coro/job_node.hpp>

namespace tenure {

namespace detail {

/// Counted; what awaits is woken once, by the first completion.
class PromiseStateBase : public Recycled {
 public:
  PromiseStateBase() = default;
  virtual ~PromiseStateBase() = default;
  PromiseStateBase(const PromiseStateBase&) = delete;
  PromiseStateBase& operator=(const PromiseStateBase&) = delete;

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the others wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void ref_completer() noexcept { completers_.fetch_add(1, std::memory_order_relaxed); }
  /// The last one that could complete it fails it: who awaits does not hang.
  void unref_completer() noexcept;

  bool fail(std::exception_ptr error) noexcept;
  [[nodiscard]] bool is_done() noexcept {
    const LockGuard guard(lock_);
    return is_done_;
  }
  Handle park(Waiter& waiter, PromiseBase& leaf) noexcept;
  void forget(Waiter& waiter) noexcept {
    const LockGuard guard(lock_);
    if (waiter.linked) waiters_.remove(waiter);
  }

 protected:
  /// Marks it done, runs `store` under the lock, and wakes all that wait. False: it was done.
  template <class F>
  bool finish(F&& store) {
    WaitList woken;
    {
      const LockGuard guard(lock_);
      if (is_done_) return false;
      store();
      is_done_ = true;
      take_waiters(woken);
    }
    post(woken);
    return true;
  }
  void rethrow_error() {
    if (error_ != nullptr) std::rethrow_exception(error_);  // written before the awaiter was woken, never after
  }

 private:
  void take_waiters(WaitList& woken) noexcept TENURE_REQUIRES(lock_);
  static void post(WaitList& woken) noexcept;

  Atomic<std::uint32_t> references_{1};
  Atomic<std::uint32_t> completers_{1};
  Lock lock_;
  bool is_done_ TENURE_GUARDED_BY(lock_) = false;
  WaitList waiters_ TENURE_GUARDED_BY(lock_);
  std::exception_ptr error_;
};

template <class T>
class PromiseState : public PromiseStateBase {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  bool complete(Value value) {
    return finish([&] { value_.emplace(std::move(value)); });
  }
  [[nodiscard]] const Value* value_if_done() noexcept { return is_done() && value_ ? &*value_ : nullptr; }
  const Value& get() {
    rethrow_error();
    return *value_;
  }

 private:
  std::optional<Value> value_;
};

template <class T>
class PromiseAwaiter : public Waiter {
 public:
  explicit PromiseAwaiter(PromiseState<T>& state) noexcept : state_(&state) { state_->ref(); }
  PromiseAwaiter(const PromiseAwaiter&) = delete;
  PromiseAwaiter& operator=(const PromiseAwaiter&) = delete;
  ~PromiseAwaiter() {
    if (job != nullptr) state_->forget(*this);
    state_->unref();
  }
  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    return state_->park(*this, self.promise());
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      state_->get();
    } else {
      return state_->get();
    }
  }

 private:
  PromiseState<T>* state_;
};

}  // namespace detail

/// The reading side of a CompletableDeferred: copied at will, awaited by many.
template <class T = void>
class Pending {
 public:
  explicit Pending(detail::PromiseState<T>& state) noexcept : state_(&state) { state_->ref(); }
  Pending(const Pending& other) noexcept : Pending(*other.state_) {}
  Pending(Pending&& other) noexcept : Pending(*other.state_) {}
  Pending& operator=(const Pending&) = delete;
  ~Pending() { state_->unref(); }
  auto operator co_await() const noexcept { return detail::PromiseAwaiter<T>(*state_); }
  [[nodiscard]] bool is_done() const noexcept { return state_->is_done(); }

 private:
  detail::PromiseState<T>* state_;
};

/// A result that someone will supply, once: the completing side, copied at will.
///
/// Returns   `complete` and `fail`: whether this was the first; later ones change nothing. `co_await`: a copy of the value.
/// Errors    what it was failed with; kAborted where the last completing handle was dropped. Wait on `pending()` in a
///           coroutine that should not itself count as one that could complete it.
/// Cancel    awaiting is a cancellation point; the result is unharmed.
/// Threads   any.
/// Source    kotlinx.coroutines CompletableDeferred.
template <class T = void>
class CompletableDeferred {
 public:
  using Value = typename detail::PromiseState<T>::Value;

  CompletableDeferred() : state_(new detail::PromiseState<T>) {}
  CompletableDeferred(const CompletableDeferred& other) noexcept : state_(other.state_) {
    state_->ref();
    state_->ref_completer();
  }
  CompletableDeferred(CompletableDeferred&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  CompletableDeferred& operator=(CompletableDeferred other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~CompletableDeferred() {
    if (state_ == nullptr) return;
    state_->unref_completer();
    state_->unref();
  }

  bool complete(Value value = {}) const { return state_->complete(std::move(value)); }
  bool fail(std::exception_ptr error) const noexcept { return state_->fail(std::move(error)); }
  [[nodiscard]] bool is_done() const noexcept { return state_->is_done(); }
  /// The value, where it was completed with one; it stays as long as this handle.
  [[nodiscard]] const Value* value_if_done() const noexcept { return state_->value_if_done(); }
  [[nodiscard]] Pending<T> pending() const noexcept { return Pending<T>(*state_); }
  auto operator co_await() const noexcept { return detail::PromiseAwaiter<T>(*state_); }

 private:
  detail::PromiseState<T>* state_;
};

}  // namespace tenure
