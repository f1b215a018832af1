#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tenure/base/time.hpp>

namespace tenure::cli {

/// How a child process ended.
struct ChildEnd {
  int exit_code = -1;             ///< where it exited
  std::string signal;             ///< "SIGSEGV", where a signal ended it
  bool is_hung = false;           ///< it said nothing for too long, and was killed
  nlohmann::ordered_json report;  ///< the last {"report": …} that it wrote, or null
};

/// Runs this program again with `arguments`, and reads the JSON lines that it writes to the pipe `report_descriptor`: one
/// with "progress" now and then, and one with "report". A child that is silent for `patience` is killed.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& arguments, Duration patience,
                                 const std::function<void(double)>& progress);

/// The child's side: where to write, from the environment; -1 where this is no such child.
[[nodiscard]] int report_descriptor() noexcept;
void write_progress(double fraction);
void write_report(const nlohmann::ordered_json& report);

/// Has a crash of this child say, as its report, on which signal and in which library it died. The crash itself goes on.
void report_crashes();

}  // namespace tenure::cli
