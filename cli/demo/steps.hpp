#pragma once

#include <filesystem>
#include <string>

#include "cli/output.hpp"

namespace tenure::cli {

class Context;

/// One step of the demonstration: what it found, and whether all went as promised. Each prints its own account for a
/// person, but nothing where a program asked.
struct StepResult {
  bool is_as_promised = false;
  Json document;
};

/// Finds the face in a real photograph, and draws it into `picture`.
[[nodiscard]] StepResult show_face(Context& context, const std::filesystem::path& picture);
/// Leaves a page in mid-run, and shows what is released when.
[[nodiscard]] StepResult show_release(Context& context);
/// The naive storm beside Tenure's.
[[nodiscard]] StepResult show_storms(Context& context, int pages);

}  // namespace tenure::cli
