#pragma once

#include <tenure/base/error.hpp>

namespace tenure::cli {

/// What the program's exit code tells. Scripts rely on the numbers.
enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,    ///< it ran, and what it looked at was not as it should be; or it broke off
  kUsage = 2,          ///< the command line is wrong
  kBadInput = 3,       ///< the model or an input is wrong
  kEngineMissing = 4,  ///< no engine, or no such device
};

[[nodiscard]] ExitCode exit_code_of(ErrorCode code) noexcept;

}  // namespace tenure::cli
