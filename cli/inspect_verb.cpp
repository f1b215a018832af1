// tenure inspect: what a model takes and gives, what it costs, and what its engine can do with it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>
#include <nlohmann/json.hpp>
#include <tenure/session.hpp>

#include "cli/context.hpp"
#include "cli/duration.hpp"
#include "cli/json_of.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

struct Inspected {
  ModelSignature signature;
  Capabilities capabilities;
  Duration load_time{0};
  std::string device;                  // "litert cpu"
  std::array<std::size_t, 3> bytes{};  // by Tier
};

Task<Inspected> load_and_look(Scope scope, ModelSpec spec, const Ledger* ledger) {
  const TimePoint begin = scope.now();
  const Session session = co_await scope.load(std::move(spec));
  Inspected found{.signature = session.signature(),
                  .capabilities = session.capabilities(),
                  .load_time = scope.now() - begin,
                  .device = {},
                  .bytes = {}};
  for (const LedgerEntry& entry : ledger->entries()) {
    found.bytes.at(static_cast<std::size_t>(entry.tier)) += entry.bytes;
    if (entry.tier == Tier::kDevice) found.device = entry.name;
  }
  co_return found;
}

void print_found(const ModelFile& model, const Inspected& found) {
  print_line(paint(Tone::kStrong, model.file.filename().string()) + fmt::format("  {}, {}, loaded in {}",
                                                                                bytes_text(model.bytes), found.device,
                                                                                ms_text(to_ms(found.load_time))));
  if (model.known != nullptr) print_line("  " + std::string(model.known->task));
  Table table({"", "NAME", "TYPE", "SHAPE", "BYTES"}, 2);
  table.align_right({4});
  const auto add = [&table](const char* side, const std::vector<TensorSpec>& specs) {
    for (const TensorSpec& spec : specs) {
      const Json entry = json_of(spec);
      table.add({side, spec.name, std::string(to_string(spec.type)), to_string(spec.shape),
                 entry["bytes"].is_null() ? "open" : entry["bytes"].dump()});
    }
  };
  add("input", found.signature.inputs);
  add("output", found.signature.outputs);
  table.print();
  print_line(fmt::format("  memory: instance {}, context {}",
                         bytes_text(found.bytes[static_cast<std::size_t>(Tier::kInstance)]),
                         bytes_text(found.bytes[static_cast<std::size_t>(Tier::kContext)])));
  print_line("  " + text_of(found.capabilities));
}

Json document_of(const ModelFile& model, const Inspected& found) {
  const auto list = [](const std::vector<TensorSpec>& specs) {
    Json entries = Json::array();
    for (const TensorSpec& spec : specs) entries.push_back(json_of(spec));
    return entries;
  };
  const std::size_t space = found.device.find(' ');
  return {{"model", model.name},
          {"file", model.file.string()},
          {"file_bytes", model.bytes},
          {"engine", found.device.substr(0, space)},
          {"device", space == std::string::npos ? "" : found.device.substr(space + 1)},
          {"load_ms", to_ms(found.load_time)},
          {"inputs", list(found.signature.inputs)},
          {"outputs", list(found.signature.outputs)},
          {"bytes",
           {{"device", found.bytes[static_cast<std::size_t>(Tier::kDevice)]},
            {"instance", found.bytes[static_cast<std::size_t>(Tier::kInstance)]},
            {"context", found.bytes[static_cast<std::size_t>(Tier::kContext)]}}},
          {"capabilities", json_of(found.capabilities)}};
}

struct Options {
  std::string model;
  bool stoppable = false;
};

void inspect(Context& context, const Options& options) {
  const ModelFile model = context.model(options.model);
  const auto runtime = context.make_runtime();
  ModelSpec spec(model.file);
  spec.stoppable = options.stoppable;
  const Inspected found = runtime->block_on(load_and_look, spec, &runtime->ledger());
  if (context.wants_json) {
    print_json(document_of(model, found));
  } else {
    print_found(model, found);
  }
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  CLI::App& verb = add_verb(app, context, "inspect", "Show a model's tensors, memory and engine",
                            "tenure inspect face\n"
                            "tenure inspect ./my_model.tflite --json\n"
                            "tenure inspect pose --stoppable");
  const auto options = std::make_shared<Options>();
  verb.add_option("model", options->model, "A short name (see `tenure models`) or a path")
      ->required()
      ->type_name("MODEL");
  verb.add_flag("--stoppable", options->stoppable, "Load it so that a run can be stopped, where the engine can");
  verb.callback([&context, options] { inspect(context, *options); });
}

}  // namespace tenure::cli
