#pragma once

#include <future>
#include <type_traits>
#include <utility>

#include <tenure/coro/owner.hpp>

namespace tenure {

namespace detail {

/// Waits on a thread that is no worker, until `job` is complete or `limit` (negative: none) has passed; says which. If
/// the thread is the one of `pumped`, runs what is ready there meanwhile.
bool wait_here(JobNode& job, Dispatcher* pumped, Duration limit);

/// The end of a job whose result nobody else takes.
template <class T>
Outcome<T> take_outcome(JobNode& node) {
  switch (node.state()) {
    case JobState::kFailed: return Outcome<T>::of_error(node.error());
    case JobState::kCompleted:
      if constexpr (std::is_void_v<T>) {
        return Outcome<T>::of_value({});
      } else {
        return Outcome<T>::of_value(static_cast<ResultJob<T>&>(node).take_result());
      }
    default: return Outcome<T>::of_cancelled(node.error());
  }
}

inline Scope scope_of(const Scope& scope) noexcept { return scope; }
inline Scope scope_of(const Owner& owner) noexcept { return owner.scope(); }

}  // namespace detail

/// Starts a task from plain code and calls `handler(Outcome<T>)` once, on the thread that ends it: a value, an error, or
/// cancelled. The handler must not throw. Errors: kClosed, as Scope::launch.
template <class S, class T, class F>
Job start(const S& where, Task<T> task, F handler) {
  Deferred<T> deferred = detail::scope_of(where).async(std::move(task));
  const Job job = deferred.job();
  detail::JobRef node = deferred.release_job();
  job.on_completion([node = std::move(node), handler = std::move(handler)](const Outcome<void>&) mutable {
    handler(detail::take_outcome<T>(*node.get()));
  });
  return job;
}

/// As start, for code that waits on a future; a cancellation becomes kAborted there. Such a future does not block at
/// its end.
template <class S, class T>
std::future<T> start_future(const S& where, Task<T> task) {
  std::promise<T> promise;
  std::future<T> future = promise.get_future();
  start(where, std::move(task), [promise = std::move(promise)](Outcome<T> outcome) mutable {
    try {
      if constexpr (std::is_void_v<T>) {
        std::move(outcome).value();
        promise.set_value();
      } else {
        promise.set_value(std::move(outcome).value());
      }
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  return future;
}

/// Runs a task, or `callable(scope, arguments...)`, in `scope` and blocks the calling thread until it and its children
/// have ended. Returns its value. Errors: its error; kAborted where it was cancelled. A worker of a dispatcher must not
/// call it: that is a broken contract, and ends the program.
template <class F, class... A>
auto block_on(const Scope& scope, F&& callable, A&&... arguments) {
  auto deferred = scope.async(std::forward<F>(callable), std::forward<A>(arguments)...);
  using T = typename decltype(deferred)::value_type;
  const detail::JobRef node = deferred.release_job();
  detail::wait_here(*node.get(), &scope.dispatcher(), Duration{-1});
  return detail::take_outcome<T>(*node.get()).value();
}

}  // namespace tenure
