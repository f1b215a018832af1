#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/coro/frame_pool.hpp>

namespace tenure {

template <class T = void>
class Task;

namespace detail {

class JobNode;
struct Link;
using Handle = std::coroutine_handle<>;

/// The three ends of a task.
enum class End : std::uint8_t { kNone, kValue, kError, kCancelled };

/// What every frame of a job knows: its edge to whoever awaits it, and the job it runs in.
struct PromiseBase {
  Link* link = nullptr;
  JobNode* job = nullptr;
  End end = End::kNone;
};

/// The edge from an awaiting frame (or a job) to the frame it awaits. It lies in the awaiting frame or in the job.
/// Where `on_end` is set, the edge is a boundary: unwinding ends there, and the boundary says what goes on. On
/// End::kCancelled the child is gone already; else `on_end` takes what it left and destroys it, or has it destroyed.
struct Link {
  PromiseBase* child = nullptr;
  PromiseBase* parent = nullptr;
  Handle (*on_end)(Link& self, End end) noexcept = nullptr;
};

inline Handle handle_of(PromiseBase& promise) noexcept {
  return std::coroutine_handle<PromiseBase>::from_promise(promise);
}

/// Destroys frames innermost first, in a loop, from the suspended `leaf` up to the nearest boundary (I2); returns what
/// to resume next. `leaf` must be the suspended end of its chain.
[[nodiscard]] Handle unwind(PromiseBase& leaf) noexcept;

/// What is being unwound on this thread, one inside the other; `job` is null for user code run in between.
struct Unwinding {
  JobNode* job;
  Unwinding* outer;
};
[[nodiscard]] const Unwinding* current_unwinding() noexcept;

/// Marks, for a block, that the thread unwinds `job`.
class UnwindingMark {
 public:
  explicit UnwindingMark(JobNode* job) noexcept;
  ~UnwindingMark();
  UnwindingMark(const UnwindingMark&) = delete;
  UnwindingMark& operator=(const UnwindingMark&) = delete;

 private:
  Unwinding unwinding_;
};

template <class P>
concept TenurePromise = std::derived_from<P, PromiseBase>;

struct FinalAwaiter {
  static bool await_ready() noexcept { return false; }
  static void await_resume() noexcept {}
  template <TenurePromise P>
  static Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    PromiseBase& promise = self.promise();
    Link& link = *promise.link;
    if (link.on_end != nullptr) return link.on_end(link, promise.end);
    return handle_of(*link.parent);
  }
};

template <class T>
struct PromiseCommon : PromiseBase, Recycled {
  static std::suspend_always initial_suspend() noexcept { return {}; }
  static FinalAwaiter final_suspend() noexcept { return {}; }
};

template <class T>
struct TaskPromise final : PromiseCommon<T> {
  TaskPromise() noexcept {}
  ~TaskPromise() {
    if (this->end == End::kValue) value.~T();
    if (this->end == End::kError) error.~exception_ptr();
  }
  TaskPromise(const TaskPromise&) = delete;
  TaskPromise& operator=(const TaskPromise&) = delete;

  Task<T> get_return_object() noexcept { return Task<T>(*this); }
  template <class U = T>
    requires std::constructible_from<T, U>
  void return_value(U&& result) {
    new (&value) T(std::forward<U>(result));
    this->end = End::kValue;
  }
  void unhandled_exception() noexcept {
    new (&error) std::exception_ptr(std::current_exception());
    this->end = End::kError;
  }
  T take() {
    if (this->end == End::kError) std::rethrow_exception(error);
    return std::move(value);
  }

  union {
    T value;
    std::exception_ptr error;
  };
};

template <>
struct TaskPromise<void> final : PromiseCommon<void> {
  TaskPromise() noexcept {}
  ~TaskPromise() {
    if (end == End::kError) error.~exception_ptr();
  }
  TaskPromise(const TaskPromise&) = delete;
  TaskPromise& operator=(const TaskPromise&) = delete;

  inline Task<void> get_return_object() noexcept;
  void return_void() noexcept { end = End::kValue; }
  void unhandled_exception() noexcept {
    new (&error) std::exception_ptr(std::current_exception());
    end = End::kError;
  }
  void take() const {
    if (end == End::kError) std::rethrow_exception(error);
  }

  union {
    std::exception_ptr error;
  };
};

/// Awaits a task in the same job: the child's frame is entered at once and gone before the result is seen (I3).
template <class T>
class TaskAwaiter : public Link {
 public:
  explicit TaskAwaiter(TaskPromise<T>* task) noexcept { child = task; }
  TaskAwaiter(const TaskAwaiter&) = delete;
  TaskAwaiter& operator=(const TaskAwaiter&) = delete;
  ~TaskAwaiter() { destroy_child(); }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) noexcept {
    parent = &self.promise();
    child->link = this;
    child->job = parent->job;
    return handle_of(*child);
  }
  T await_resume() {
    struct Destroyer {
      TaskAwaiter& awaiter;
      ~Destroyer() { awaiter.destroy_child(); }
    } destroyer{*this};
    return static_cast<TaskPromise<T>*>(child)->take();
  }

 private:
  void destroy_child() noexcept {
    if (child != nullptr) handle_of(*std::exchange(child, nullptr)).destroy();
  }
};

}  // namespace detail

/// A coroutine that has not begun: it begins where it is awaited or launched, and runs in that job.
///
/// Returns   the value of its `co_return`, moved out; the frame and its parameters are gone by then.
/// Errors    what the coroutine throws, or std::bad_alloc where its frame can't be had.
/// Cancel    when its job is cancelled, its frames are destroyed, innermost first; no `catch` sees that.
/// Threads   a value of one thread at a time; it runs on its job's dispatcher.
/// Lifetime  awaited once, as an rvalue: `co_await std::move(task)`. Dropped, it never runs.
/// Source    C++20 coroutines; P2300's set_stopped for the third end.
template <class T>
class [[nodiscard]] Task {
 public:
  static_assert(!std::is_reference_v<T>, "a task's result is a value: a reference would outlive what it refers to");
  using value_type = T;
  using promise_type = detail::TaskPromise<T>;

  Task(Task&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (promise_ != nullptr) detail::handle_of(*promise_).destroy();
  }

  auto operator co_await() && noexcept { return detail::TaskAwaiter<T>(release()); }

  /// For the library: gives up the frame to whoever will run it.
  [[nodiscard]] promise_type* release() noexcept {
    TENURE_CHECK(promise_ != nullptr, "a task is awaited or launched once; this one has been moved from");
    return std::exchange(promise_, nullptr);
  }

 private:
  friend promise_type;
  explicit Task(promise_type& promise) noexcept : promise_(&promise) {}
  promise_type* promise_;
};

inline Task<void> detail::TaskPromise<void>::get_return_object() noexcept { return Task<void>(*this); }

template <class T>
inline constexpr bool is_task_v = false;
template <class T>
inline constexpr bool is_task_v<Task<T>> = true;

/// True in a destructor that runs because its coroutine is being unwound by a cancellation: neither an exception
/// (`std::uncaught_exceptions()` is 0) nor a success.
[[nodiscard]] bool is_unwinding() noexcept;

}  // namespace tenure
