#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tenure/coro/scopes.hpp>

namespace tenure {

namespace detail {

template <class T>
using NonVoid = std::conditional_t<std::is_void_v<T>, std::tuple<>, T>;

// What these refer to lies in a frame that awaits them, or in the scope's arguments.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

template <class T>
Task<void> await_into(Deferred<T>& deferred, std::optional<NonVoid<T>>& slot) {
  if constexpr (std::is_void_v<T>) {
    co_await deferred;
    slot.emplace();
  } else {
    slot.emplace(co_await deferred);
  }
}

template <class... T, std::size_t... I>
Task<std::tuple<NonVoid<T>...>> run_all(Scope scope, std::tuple<Task<T>...>& tasks, std::index_sequence<I...>) {
  std::tuple<Deferred<T>...> started(scope.async(std::move(std::get<I>(tasks)))...);
  std::tuple<std::optional<NonVoid<T>>...> slots;
  (co_await await_into(std::get<I>(started), std::get<I>(slots)), ...);
  co_return std::tuple<NonVoid<T>...>(std::move(*std::get<I>(slots))...);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace detail

/// Runs tasks at once and waits for all.
///
/// Returns   a tuple of their values, in order (an empty tuple for a task of none).
/// Errors    the first error; the others are cancelled.
/// Cancel    with the job that awaits it: all are.
/// Threads   the awaiting job's dispatcher.
template <class... T>
auto when_all(Task<T>... tasks) {
  using Indices = std::index_sequence_for<T...>;
  return coroutine_scope([](Scope scope, std::tuple<Task<T>...>& all,
                            Indices indices) { return detail::run_all<T...>(std::move(scope), all, indices); },
                         std::tuple<Task<T>...>(std::move(tasks)...), Indices{});
}

}  // namespace tenure
