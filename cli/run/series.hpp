#pragma once

#include <memory>
#include <optional>
#include <tenure/session.hpp>
#include <vector>

#include "cli/progress.hpp"
#include "cli/run/inputs.hpp"

namespace tenure::cli {

/// What `tenure run` does: one session, and runs of it one after the other.
struct SeriesPlan {
  ModelSpec spec;
  std::shared_ptr<const InputSource> source;  // shared: a launch copies its arguments
  int repeat = 1;
  std::optional<Duration> limit;  ///< of each run
};

/// What it came to.
struct Series {
  ModelSignature signature;
  Capabilities capabilities;
  std::string device;  ///< "litert cpu"
  Duration load_time{0};
  std::vector<Duration> times;          ///< of each run that ended in time
  std::vector<CancelReceipt> receipts;  ///< of each that did not
  std::optional<Outputs> outputs;       ///< of the last that did
};

/// Loads the model into `scope`, runs it, and lets it go.
[[nodiscard]] Task<Series> run_series(Scope scope, SeriesPlan plan, const Ledger* ledger, Progress* progress);

}  // namespace tenure::cli
