#pragma once

#include <string>
#include <tenure/base/cancel_receipt.hpp>
#include <tenure/engine/engine.hpp>

#include "cli/output.hpp"

namespace tenure::cli {

/// {"name", "type", "shape", "bytes"}; bytes are null where a dimension is open.
[[nodiscard]] Json json_of(const TensorSpec& spec);
/// {"stops", "concurrent_runs", "thread_bound", "shares_weights"}
[[nodiscard]] Json json_of(const Capabilities& capabilities);
/// {"effect", "steps", "until_quiet_ms", "text"}
[[nodiscard]] Json json_of(const CancelReceipt& receipt);

/// "stops between two nodes"
[[nodiscard]] std::string text_of(Stops stops);
/// "a run goes to its end, one run at a time, …"
[[nodiscard]] std::string text_of(const Capabilities& capabilities);
[[nodiscard]] std::string text_of(const TensorSpec& spec);

}  // namespace tenure::cli
