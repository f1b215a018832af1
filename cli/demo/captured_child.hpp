#pragma once

#include <functional>
#include <string>
#include <tenure/base/time.hpp>
#include <vector>

namespace tenure::cli {

/// What a finished child process printed, and how it ended.
struct CapturedChild {
  int exit_code = -1;  ///< -1 where it did not exit
  int signal = 0;      ///< what killed it, 0 where nothing did
  bool timed_out = false;
  std::string output;
  std::string errors;
};

/// Runs this program with `arguments` and waits for it, at most `limit`; then it is killed. `while_waiting` is called
/// now and then. Errors: kResourceExhausted, where no process can be made.
[[nodiscard]] CapturedChild run_captured(const std::vector<std::string>& arguments, Duration limit,
                                         const std::function<void()>& while_waiting);

}  // namespace tenure::cli
