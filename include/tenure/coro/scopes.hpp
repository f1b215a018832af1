#pragma once

#include <tenure/coro/scope_op.hpp>

namespace tenure {

/// Runs `callable(scope, arguments...)` and waits for all that it launches.
///
/// Returns   what the callable returns, once every child has ended.
/// Errors    the first error of the body or of a child; the others are cancelled. kAborted: the scope cancelled itself.
/// Cancel    with the job that awaits it. The body is unwound at once, beside its children, so what these share must
///           not be a local of the body: pass it as an argument, and take it by reference.
/// Threads   the awaiting job's dispatcher.
/// Lifetime  the arguments live until every child has ended, and end before the result is seen.
/// Source    kotlinx.coroutines coroutineScope.
template <class F, class... A>
auto coroutine_scope(F&& callable, A&&... arguments) {
  auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
  return detail::ScopeOp<decltype(body)>(std::move(body), 0);
}

/// As coroutine_scope, but an error of a child spares the body and the other children, and is reported.
template <class F, class... A>
auto supervisor_scope(F&& callable, A&&... arguments) {
  auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
  return detail::ScopeOp<decltype(body)>(std::move(body), detail::kSupervisor);
}

/// Runs a task, or `callable(arguments...)`, that a cancel of the awaiting job does not reach: for clean-up. What
/// awaits it goes on with its own cancellation after it.
template <class F, class... A>
auto shield(F&& callable, A&&... arguments) {
  auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
  return detail::ScopeOp<decltype(body)>(std::move(body), detail::kShielded);
}

/// Runs a task, or `callable(arguments...)`, on `dispatcher`, and comes back. On the same dispatcher it runs in line.
template <class F, class... A>
auto with_context(Dispatcher& dispatcher, F&& callable, A&&... arguments) {
  auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
  return detail::ScopeOp<decltype(body)>(std::move(body), 0, &dispatcher);
}

/// Runs a task, or `callable(arguments...)`, for at most `limit`.
///
/// Returns   its value; a value that it came to wins over a limit that passed meanwhile.
/// Errors    kDeadlineExceeded: the limit passed and it was cancelled; the awaiting job lives on, and the outcome's
///           receipt() tells what became of a native run. kInvalidArgument: a negative limit.
/// Cancel    with the job that awaits it; that wins over the limit.
/// Threads   the awaiting job's dispatcher.
template <class F, class... A>
auto with_timeout(Duration limit, F&& callable, A&&... arguments) {
  if (limit < Duration{0})
    throw Error(ErrorCode::kInvalidArgument, "with_timeout: the limit is negative; expected >= 0");
  auto body = [&] {
    if constexpr (detail::is_scope_op_v<std::remove_cvref_t<F>>) {
      return detail::make_body(detail::to_task(std::forward<F>(callable)));
    } else {
      return detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
    }
  }();
  return detail::ScopeOp<decltype(body), true>(std::move(body), 0, nullptr, limit);
}

}  // namespace tenure
