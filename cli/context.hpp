#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <tenure/session/runtime.hpp>

#include "cli/exit_code.hpp"
#include "cli/models.hpp"

namespace tenure::cli {

/// What every verb is given: where the engines and models are, what the user asked of all verbs alike, and where the
/// verb puts what it came to.
class Context {
 public:
  /// The folder that tools/fetch fills: --cache, else $TENURE_CACHE, else that of the source tree, else the one beside
  /// the program.
  [[nodiscard]] std::filesystem::path cache() const;
  /// The engine, opened once; also where it can't be used, and then its `devices()` say why.
  [[nodiscard]] const std::shared_ptr<Engine>& engine() const;
  /// Errors: kUnavailable, with the reason and what to do, where no engine can be used.
  void require_engine() const;
  /// A runtime with the engine. Errors: as require_engine.
  [[nodiscard]] std::unique_ptr<Runtime> make_runtime(RuntimeOptions options = {}) const;
  /// The model of a short name or a path. Errors: kNotFound and kInvalidArgument, as find_model; kUnavailable where the
  /// cache has neither the model nor the engine.
  [[nodiscard]] ModelFile model(const std::string& name_or_path) const;

  std::string chosen_cache;  ///< --cache
  bool wants_json = false;   ///< --json
  ExitCode exit_code = kDone;

 private:
  mutable std::shared_ptr<Engine> engine_;  // opened by the first who asks
};

/// The file that this program runs from.
[[nodiscard]] std::filesystem::path executable();

}  // namespace tenure::cli
