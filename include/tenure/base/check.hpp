#pragma once

#include <source_location>

namespace tenure::detail {

/// Prints what contract was broken, and where, then aborts. The same in every build.
[[noreturn]] void check_failed(const char* condition, const char* message,
                               std::source_location where = std::source_location::current()) noexcept;

}  // namespace tenure::detail

/// A broken contract ends the program, in every build: going on would free memory that native code still uses.
#define TENURE_CHECK(condition, message) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::tenure::detail::check_failed(#condition, message))
