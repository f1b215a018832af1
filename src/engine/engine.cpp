#include <tenure/engine/engine.hpp>

namespace tenure {

std::string_view to_string(Stops stops) noexcept {
  switch (stops) {
    case Stops::kNever: return "never";
    case Stops::kPerNode: return "per_node";
    case Stops::kPerToken: return "per_token";
    case Stops::kPerBatch: return "per_batch";
  }
  return "unknown";
}

}  // namespace tenure
