#pragma once

#include <memory>
#include <utility>

#include <tenure/coro/scope.hpp>

namespace tenure {

namespace detail {

/// What takes an owner's errors. It is called with no lock held, so one that is replaced stays until the job goes.
struct OwnerErrorHandler {
  UniqueFunction<void(std::exception_ptr)> function;
  std::unique_ptr<OwnerErrorHandler> replaced;
};

/// A piece of state that lives in an owner's job.
struct KeptState {
  KeptState() = default;
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;
  virtual ~KeptState() = default;
  std::unique_ptr<KeptState> next;
};

template <class T>
struct KeptValue final : KeptState {
  template <class... A>
  explicit KeptValue(A&&... arguments) : value{std::forward<A>(arguments)...} {}
  T value;
};

/// The job of an owner: a supervisor without a body, which ends when it is cancelled and its children have ended, and
/// then drops its kept state on its dispatcher.
class OwnerJob final : public JobNode, private CancelListener {
 public:
  static JobRef make(JobNode& parent, Dispatcher& dispatcher, const char* name);
  ~OwnerJob() override = default;

  void keep(std::unique_ptr<KeptState> state);
  void set_error_handler(UniqueFunction<void(std::exception_ptr)> handler);
  void report(const std::exception_ptr& error, const char* job_name) noexcept override;
  [[noreturn]] void throw_closed() const;

 private:
  OwnerJob(JobNode& parent, Dispatcher& dispatcher, const char* name) noexcept
      : JobNode(parent.tree(), dispatcher, kSupervisor | kHasEpilogue, name) {}
  void on_cancel() noexcept override {
    set_flag(kBodyCancelled);
    finish_body();
  }
  void epilogue() noexcept override;

  Lock state_lock_;
  std::unique_ptr<KeptState> kept_ TENURE_GUARDED_BY(state_lock_);  // the newest first, which is also the first to go
  std::unique_ptr<OwnerErrorHandler> error_handler_ TENURE_GUARDED_BY(state_lock_);
};

}  // namespace detail

/// State that lives in its owner: it goes after the owner's last child has ended, on the owner's dispatcher.
///
/// Returns   `launch(&T::member, arguments...)`: the Job of the member coroutine, a child of the owner.
/// Errors    kClosed, from every member, once the owner has been cancelled: never a dangling pointer.
/// Cancel    see Owner.
/// Threads   `->` on the owner's dispatcher; `launch` from any thread.
/// Lifetime  a handle; it keeps nothing alive but the memory of the job.
template <class T>
class Kept {
 public:
  Kept(detail::JobRef owner, T& state) noexcept : owner_(std::move(owner)), state_(&state) {}

  T* operator->() const {
    if (owner_->is_cancelled()) static_cast<detail::OwnerJob*>(owner_.get())->throw_closed();
    return state_;
  }
  T& operator*() const { return *operator->(); }

  template <class R, class... P, class... A>
  Job launch(Task<R> (T::*member)(P...), A&&... arguments) const {
    operator->();
    return Scope(owner_).launch(member, state_, std::forward<A>(arguments)...);
  }

 private:
  detail::JobRef owner_;
  T* state_;
};

/// A lifetime of the app: a page, a window, a request, a connection.
///
/// Returns   `cancel()` and the destructor return in microseconds. `close()`: a task that cancels, and ends when all is
///           gone, the kept state and the sessions of this owner included.
/// Errors    one child's error spares the others and goes to `on_error`. kClosed: keep or launch after the end.
/// Cancel    its end cancels all that it started, and nothing else. Cancelled on the thread that it is confined to, the
///           frames suspended there are gone when the call returns (I8); do not hold a lock that their destructors take.
/// Threads   any; what it starts runs on its dispatcher.
/// Lifetime  move-only; its end is the end of what it owns.
/// Source    kotlinx.coroutines' lifecycle scopes.
class Owner {
 public:
  Owner() = default;
  explicit Owner(detail::JobRef job) noexcept : job_(std::move(job)) {}
  Owner(Owner&&) noexcept = default;
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      cancel();
      job_ = std::move(other.job_);
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { cancel(); }

  void cancel(std::exception_ptr cause = nullptr) noexcept {
    if (job_) job_->cancel(cause);
  }
  [[nodiscard]] Task<void> close();

  template <class F, class... A>
  Job launch(F&& callable, A&&... arguments) const {
    return scope().launch(std::forward<F>(callable), std::forward<A>(arguments)...);
  }
  template <class F, class... A>
  auto async(F&& callable, A&&... arguments) const {
    return scope().async(std::forward<F>(callable), std::forward<A>(arguments)...);
  }
  template <class... A>
  auto load(A&&... arguments) const {
    return scope().load(std::forward<A>(arguments)...);
  }
  template <class T, class... A>
  Kept<T> keep(A&&... arguments) const {
    auto state = std::make_unique<detail::KeptValue<T>>(std::forward<A>(arguments)...);
    T& value = state->value;
    node().keep(std::move(state));
    return Kept<T>(job_, value);
  }

  /// Takes the errors of children, on the thread where they failed. Without one they go to the runtime's handler.
  void on_error(UniqueFunction<void(std::exception_ptr)> handler) const {
    node().set_error_handler(std::move(handler));
  }
  [[nodiscard]] Scope scope() const noexcept { return Scope(job_); }
  [[nodiscard]] Job job() const noexcept { return Job(job_); }
  [[nodiscard]] bool is_cancelled() const noexcept { return job_->is_cancelled(); }
  [[nodiscard]] const char* name() const noexcept { return job_->name(); }

 private:
  [[nodiscard]] detail::OwnerJob& node() const noexcept { return static_cast<detail::OwnerJob&>(*job_.get()); }
  detail::JobRef job_;
};

}  // namespace tenure
