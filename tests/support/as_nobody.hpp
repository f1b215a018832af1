#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace tenure::testing {

/// Runs `call` as a user without rights, then ends the process: 0 where it threw an error, which is printed. For the
/// body of an EXPECT_EXIT, since root may read everything.
template <class Call>
[[noreturn]] void as_nobody(Call&& call) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(3);
  try {
    call();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(0);
  }
  _exit(2);
}

}  // namespace tenure::testing
