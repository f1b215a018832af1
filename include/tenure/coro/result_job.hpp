#pragma once

#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tenure/coro/job_node.hpp>

namespace tenure {

class Scope;

namespace detail {

/// A job that keeps what its body came to.
template <class T>
class ResultJob : public JobNode {
 public:
  using JobNode::JobNode;

  T take_result() {
    if constexpr (!std::is_void_v<T>) return std::move(*result_);
  }
  void drop_result() noexcept { result_.reset(); }

 protected:
  /// Takes what the body's frame left, then destroys the frame with its parameters, on the job's own dispatcher (I3).
  /// Returns the error to be recorded, if any.
  std::exception_ptr settle(End end) noexcept {
    if (end == End::kCancelled) {
      set_flag(kBodyCancelled);
      return nullptr;
    }
    auto* promise = static_cast<TaskPromise<T>*>(std::exchange(Link::child, nullptr));
    std::exception_ptr error;
    if (end == End::kError) {
      error = promise->error;
    } else if constexpr (!std::is_void_v<T>) {
      try {
        result_.emplace(std::move(promise->value));
      } catch (...) {
        error = std::current_exception();
      }
    }
    handle_of(*promise).destroy();
    return error;
  }

  /// An error that comes after a cancellation is reported and does not change the end: there is no result to take.
  void fail_body(const std::exception_ptr& error) noexcept {
    this->fail(error);
    if (!this->has(kFailedFlag)) set_flag(kBodyCancelled);
  }

  void enter(Task<T> task) noexcept {
    TaskPromise<T>* promise = task.release();
    promise->link = this;
    promise->job = this;
    Link::child = promise;
  }

 private:
  std::optional<std::conditional_t<std::is_void_v<T>, std::tuple<>, T>> result_;
};

// --- What can be the body of a job: a task, or a callable with its arguments.

template <class T>
struct TaskBody {
  using Result = T;
  Task<T> task;
  Task<T> make(const Scope&) { return std::move(task); }
};

template <class F, class... A>
inline constexpr bool makes_task_v = [] {
  if constexpr (std::is_invocable_v<F, A...>) return is_task_v<std::remove_cvref_t<std::invoke_result_t<F, A...>>>;
  return false;
}();

/// Reference parameters of the callable refer to the arguments; others are moved or copied from them.
template <class S, class F, class... A>
auto call_for_task(const S& scope, F& callable, std::tuple<A...>& arguments) {
  if constexpr (makes_task_v<F&, S, A&...>) {
    return std::apply([&](A&... a) { return std::invoke(callable, scope, a...); }, arguments);
  } else if constexpr (makes_task_v<F&, S, A...>) {
    return std::apply([&](A&... a) { return std::invoke(callable, scope, std::move(a)...); }, arguments);
  } else if constexpr (makes_task_v<F&, A&...>) {
    return std::apply([&](A&... a) { return std::invoke(callable, a...); }, arguments);
  } else {
    static_assert(makes_task_v<F&, A...>,
                  "the callable must return a Task when called with (Scope, arguments...) or (arguments...); a run on "
                  "borrowed tensors can only be awaited where it is made");
    return std::apply([&](A&... a) { return std::invoke(callable, std::move(a)...); }, arguments);
  }
}

template <class F, class... A>
struct CallBody {
  using Made =
      decltype(call_for_task(std::declval<const Scope&>(), std::declval<F&>(), std::declval<std::tuple<A...>&>()));
  using Result = typename Made::value_type;
  F callable;
  std::tuple<A...> arguments;
  Made make(const Scope& scope) { return call_for_task(scope, callable, arguments); }
};

template <class F, class... A>
auto make_body(F&& callable, A&&... arguments) {
  using Callable = std::decay_t<F>;
  if constexpr (is_task_v<Callable>) {
    static_assert(sizeof...(A) == 0, "a task takes no further arguments");
    static_assert(!std::is_lvalue_reference_v<F>, "a task is moved in: std::move(task)");
    return TaskBody<typename Callable::value_type>{std::forward<F>(callable)};
  } else {
    if constexpr (std::is_pointer_v<Callable> || std::is_member_pointer_v<Callable>) {
      TENURE_CHECK(callable != nullptr, "a null callable can't be launched");
    }
    return CallBody<Callable, std::decay_t<A>...>{std::forward<F>(callable),
                                                  std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)};
  }
}

/// A job of its own, posted to its dispatcher. Its callable and arguments live in it until its body has ended.
template <class Body>
class LaunchedJob final : public ResultJob<typename Body::Result> {
 public:
  using T = typename Body::Result;

  LaunchedJob(JobTree& tree, Dispatcher& dispatcher, std::uint16_t flags, const char* name, Body&& body)
      : ResultJob<T>(tree, dispatcher, flags, name), body_(std::move(body)) {
    this->on_end = &body_ended;
  }

 private:
  void start() noexcept override;
  void drop_unstarted() noexcept override { body_.reset(); }

  static Handle body_ended(Link& self, End end) noexcept {
    auto& job = static_cast<LaunchedJob&>(self);
    job.end_with(job.settle(end));
    return std::noop_coroutine();
  }
  void end_with(const std::exception_ptr& error) noexcept {
    body_.reset();
    if (error != nullptr) this->fail_body(error);
    this->finish_body();
  }

  std::optional<Body> body_;
};

}  // namespace detail
}  // namespace tenure
