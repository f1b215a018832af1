#pragma once

#include <atomic>

namespace tenure {

/// The atomics of `coro` and `session` go by this name, so that an instrumented build can put a switch before each.
template <class T>
using Atomic = std::atomic<T>;

}  // namespace tenure
