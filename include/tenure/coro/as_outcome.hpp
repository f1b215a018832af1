#pragma once

#include <tenure/coro/outcome.hpp>
#include <tenure/coro/scope_op.hpp>

namespace tenure {
namespace detail {

/// Awaits a task in the same job and gives its end as a value. No boundary: the job's own cancellation passes through.
template <class T>
class OutcomeAwaiter : public Link {
 public:
  explicit OutcomeAwaiter(TaskPromise<T>* task) noexcept { child = task; }
  OutcomeAwaiter(const OutcomeAwaiter&) = delete;
  OutcomeAwaiter& operator=(const OutcomeAwaiter&) = delete;
  ~OutcomeAwaiter() { destroy_child(); }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    parent = &self.promise();
    if (parent->job->is_cancelled()) return unwind(*parent);
    return enter();
  }
  Outcome<T> await_resume() { return take(&outcome_of_error<T>); }

 protected:
  Handle enter() noexcept {
    child->link = this;
    child->job = parent->job;
    return handle_of(*child);
  }
  template <class F>
  Outcome<T> take(F&& outcome_of_error) {
    struct Destroyer {
      OutcomeAwaiter& awaiter;
      ~Destroyer() { awaiter.destroy_child(); }
    } destroyer{*this};
    auto& promise = static_cast<TaskPromise<T>&>(*child);
    if (promise.end == End::kError) return outcome_of_error(promise.error);
    if constexpr (std::is_void_v<T>) {
      return Outcome<T>::of_value({});
    } else {
      return Outcome<T>::of_value(std::move(promise.value));
    }
  }

 private:
  void destroy_child() noexcept {
    if (child != nullptr) handle_of(*std::exchange(child, nullptr)).destroy();
  }
};

/// As above, but a boundary: the job's own unwinding stops here too. For the brackets of finally.hpp only, which go on
/// with it by UnwindSelf.
template <class T>
class EndAwaiter : public OutcomeAwaiter<T> {
 public:
  explicit EndAwaiter(TaskPromise<T>* task) noexcept : OutcomeAwaiter<T>(task) {
    this->on_end = [](Link& self, End) noexcept { return handle_of(*self.parent); };
  }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    this->parent = &self.promise();
    return this->enter();
  }
  Outcome<T> await_resume() {
    if (this->child == nullptr) return Outcome<T>::of_cancelled();
    return this->take([](std::exception_ptr error) { return Outcome<T>::of_error(std::move(error)); });
  }
};

/// Goes on with an unwinding that a bracket held up.
struct UnwindSelf {
  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  static Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    return unwind(self.promise());
  }
  [[noreturn]] static void await_resume() noexcept { check_failed("UnwindSelf", "an unwound frame was resumed"); }
};

template <class T>
class [[nodiscard]] OutcomeOp {
 public:
  explicit OutcomeOp(Task<T> task) noexcept : task_(std::move(task)) {}
  auto operator co_await() && noexcept { return OutcomeAwaiter<T>(task_.release()); }

 private:
  Task<T> task_;
};

template <class T>
class [[nodiscard]] EndOp {
 public:
  explicit EndOp(Task<T> task) noexcept : task_(std::move(task)) {}
  auto operator co_await() && noexcept { return EndAwaiter<T>(task_.release()); }

 private:
  Task<T> task_;
};

}  // namespace detail

/// Awaits a task, a scope or a time limit, and gives its end as a value instead of throwing.
///
/// Returns   an Outcome: the value, the error, or cancelled (with its cause) where `co_await` would have thrown kAborted.
/// Errors    none.
/// Cancel    the awaiting job's own cancellation is not an outcome: it unwinds through this too, so that no loop can
///           swallow it.
/// Threads   the awaiting job's dispatcher.
template <class A>
auto as_outcome(A&& awaitable) {
  static_assert(!std::is_lvalue_reference_v<A>, "what is awaited is moved in: as_outcome(std::move(task))");
  auto task = detail::to_task(std::forward<A>(awaitable));
  return detail::OutcomeOp<typename decltype(task)::value_type>(std::move(task));
}

}  // namespace tenure
