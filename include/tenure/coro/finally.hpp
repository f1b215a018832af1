#pragma once

#include <functional>

#include <tenure/coro/as_outcome.hpp>
#include <tenure/coro/scopes.hpp>

namespace tenure {
namespace detail {

struct CurrentJob {
  JobNode* job = nullptr;
  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  bool await_suspend(std::coroutine_handle<P> self) noexcept {
    job = self.promise().job;
    return false;
  }
  [[nodiscard]] JobNode& await_resume() const noexcept { return *job; }
};

// What these refer to lies in a frame that awaits them: with_resource's.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

/// Makes the task inside a coroutine, so that a failure to make it is an error of the task.
template <class F, class... A>
auto call_inside(F callable, A&... arguments)
    -> Task<typename std::remove_cvref_t<std::invoke_result_t<F&, A&...>>::value_type> {
  co_return co_await std::invoke(callable, arguments...);
}

/// The clean-up's error, where the body ended with a value; else it is reported and the body's end stands.
template <class T>
void settle_clean_up(const Outcome<T>& body, const Outcome<void>& clean_up, JobNode& job) {
  if (!clean_up.is_error()) return;
  if (body.has_value()) std::rethrow_exception(clean_up.error());
  job.report(clean_up.error(), job.name());
}

template <class T, class F, class... A>
Task<T> bracket(Task<T> body, F clean_up, A&... arguments) {
  Outcome<T> end = co_await EndOp<T>(std::move(body));
  Task<void> cleaning = to_task(shield(call_inside<F, A...>(std::move(clean_up), arguments...)));
  Outcome<void> cleaned = co_await EndOp<void>(std::move(cleaning));
  JobNode& job = co_await CurrentJob{};
  settle_clean_up(end, cleaned, job);
  if (end.is_cancelled()) co_await UnwindSelf{};
  if constexpr (std::is_void_v<T>) {
    std::move(end).value();
  } else {
    co_return std::move(end).value();
  }
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace detail

/// Runs `body`, then `clean_up()`, whatever the body's end; then the body's end goes on.
///
/// Returns   the body's value.
/// Errors    the body's; the clean-up's where the body ended with a value, else that one is reported to `on_error`.
/// Cancel    once this is awaited, the clean-up runs, shielded from cancellation.
/// Threads   the awaiting job's dispatcher.
/// Source    Haskell's bracket; kotlinx.coroutines NonCancellable.
template <class T, class F>
Task<T> finally(Task<T> body, F clean_up) {
  return detail::bracket<T, F>(std::move(body), std::move(clean_up));
}

/// Acquires a resource, uses it, and releases it whatever happened: `use(R&)` and `release(R&)` return tasks.
///
/// Returns   what `use` returns.
/// Errors    as finally; an error of `acquire` releases nothing.
/// Cancel    none can slip in between acquire and use; the release is shielded.
/// Threads   the awaiting job's dispatcher.
template <class Acquire, class Use, class Release>
auto with_resource(Acquire acquire, Use use, Release release) -> Task<typename std::remove_cvref_t<std::invoke_result_t<
    Use&, typename std::remove_cvref_t<std::invoke_result_t<Acquire&>>::value_type&>>::value_type> {
  using Resource = typename std::remove_cvref_t<std::invoke_result_t<Acquire&>>::value_type;
  using T = typename std::remove_cvref_t<std::invoke_result_t<Use&, Resource&>>::value_type;
  Resource resource = co_await std::invoke(acquire);
  Task<T> using_it = detail::bracket<T, Release, Resource>(detail::call_inside<Use, Resource>(std::move(use), resource),
                                                           std::move(release), resource);
  co_return co_await std::move(using_it);
}

}  // namespace tenure
