// tenure engines: which engines and devices are here, and what they can do.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <tenure/session.hpp>

#include "cli/context.hpp"
#include "cli/json_of.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

struct Measured {
  Capabilities fast;
  Capabilities stoppable;
};

Task<Capabilities> capabilities_of(Scope scope, ModelSpec spec) {
  const Session session = co_await scope.load(std::move(spec));
  co_return session.capabilities();
}

/// What the engine can do with the first model of the cache, the small one: a capability is measured, not promised.
std::optional<Measured> measure(Context& context) {
  for (const ModelFile& model : list_models(context.cache())) {
    if (!model.is_there) continue;
    try {
      const auto runtime = context.make_runtime();
      ModelSpec fast(model.file);
      ModelSpec stoppable(model.file);
      stoppable.stoppable = true;
      return Measured{runtime->block_on(capabilities_of, fast), runtime->block_on(capabilities_of, stoppable)};
    } catch (const Error&) {  // a damaged file in the cache; `tenure inspect` tells more
    }
  }
  return std::nullopt;
}

void list_engines(Context& context) {
  Json engines = Json::array();
  Table table({"ENGINE", "DEVICE", "STATE", "WHAT"});
  const std::string advice = "run tools/fetch/fetch, or name the folder that has it with --cache or TENURE_CACHE";
  Engine& engine = *context.engine();
  const std::string name(engine.name());
  for (const DeviceInfo& device : engine.devices()) {
    Json entry = {{"name", name}, {"device", device.device}, {"available", device.available}};
    if (!device.available) {
      const bool can_be_fetched = device.device == "cpu";
      entry["reason"] = device.reason;
      if (can_be_fetched) entry["to_do"] = advice;
      table.add(
          {name, device.device, {"unavailable", Tone::kBad}, device.reason + (can_be_fetched ? "; " + advice : "")});
    } else {
      const std::optional<Measured> measured = measure(context);
      entry["capabilities"] = nullptr;
      std::string what = "ready";
      if (measured) {
        entry["capabilities"] = json_of(measured->fast);
        entry["capabilities_stoppable"] = json_of(measured->stoppable);
        what = text_of(measured->fast) + "; with --stoppable: " + text_of(measured->stoppable.stops);
      }
      table.add({name, device.device, {"available", Tone::kGood}, what});
    }
    engines.push_back(std::move(entry));
  }
  if (context.wants_json) {
    print_json({{"cache", context.cache().string()}, {"engines", std::move(engines)}});
  } else {
    table.print();
  }
}

}  // namespace

void add_engines(CLI::App& app, Context& context) {
  CLI::App& verb = add_verb(app, context, "engines", "List the engines, their devices and what they can do",
                            "tenure engines\n"
                            "tenure engines --json\n"
                            "TENURE_CACHE=/big/disk tenure engines");
  verb.callback([&context] { list_engines(context); });
}

}  // namespace tenure::cli
