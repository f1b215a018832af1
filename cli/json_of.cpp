#include "cli/json_of.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/duration.hpp"

namespace tenure::cli {

Json json_of(const TensorSpec& spec) {
  const bool is_open = std::ranges::any_of(spec.shape, [](std::int64_t extent) { return extent < 0; });
  Json json = {{"name", spec.name}, {"type", to_string(spec.type)}, {"shape", spec.shape}, {"bytes", nullptr}};
  if (!is_open) json["bytes"] = spec.byte_size();
  return json;
}

Json json_of(const Capabilities& capabilities) {
  return {{"stops", to_string(capabilities.stops)},
          {"concurrent_runs", capabilities.concurrent_runs},
          {"thread_bound", capabilities.thread_bound},
          {"shares_weights", capabilities.shares_weights}};
}

Json json_of(const CancelReceipt& receipt) {
  return {{"effect", to_string(receipt.effect)},
          {"steps", receipt.steps},
          {"until_quiet_ms", to_ms(receipt.until_quiet)},
          {"text", to_string(receipt)}};
}

std::string text_of(Stops stops) {
  switch (stops) {
    case Stops::kNever: return "goes to its end";
    case Stops::kPerNode: return "stops between two nodes";
    case Stops::kPerToken: return "stops after a token";
    case Stops::kPerBatch: return "stops after a batch";
  }
  return "does what nobody knows";
}

std::string text_of(const Capabilities& capabilities) {
  std::string text = "a run, once begun, " + text_of(capabilities.stops);
  text += capabilities.concurrent_runs ? ", several runs at once" : ", one run at a time";
  text += capabilities.thread_bound ? ", bound to its thread" : ", any thread";
  text += capabilities.shares_weights ? ", contexts share the weights" : ", each context has its own weights";
  return text;
}

std::string text_of(const TensorSpec& spec) { return std::string(to_string(spec.type)) + " " + to_string(spec.shape); }

}  // namespace tenure::cli
