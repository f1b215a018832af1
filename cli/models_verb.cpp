// tenure models: what can be named instead of a path.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

Json entry_of(const ModelFile& model) {
  Json entry = {{"name", model.name},
                {"file", model.file.filename().string()},
                {"path", model.file.string()},
                {"in_cache", model.is_there},
                {"bytes", nullptr},
                {"task", nullptr},
                {"licence", nullptr},
                {"source", nullptr}};
  if (model.is_there) entry["bytes"] = model.bytes;
  if (model.known != nullptr) {
    entry["task"] = model.known->task;
    entry["licence"] = model.known->licence;
    entry["source"] = model.known->source;
  }
  return entry;
}

void show_models(Context& context) {
  const std::vector<ModelFile> models = list_models(context.cache());
  if (context.wants_json) {
    Json entries = Json::array();
    for (const ModelFile& model : models) entries.push_back(entry_of(model));
    print_json({{"cache", context.cache().string()}, {"models", std::move(entries)}});
    return;
  }
  bool is_any_missing = false;
  Table table({"NAME", "SIZE", "LICENCE", "WHAT IT DOES"});
  for (const ModelFile& model : models) {
    is_any_missing = is_any_missing || !model.is_there;
    table.add({{model.name, Tone::kStrong},
               model.is_there ? Table::Cell(bytes_text(model.bytes)) : Table::Cell("missing", Tone::kBad),
               model.known != nullptr ? std::string(model.known->licence) : "",
               model.known != nullptr ? std::string(model.known->task) : model.file.filename().string()});
  }
  table.print();
  print_line(paint(Tone::kFaint, "in " + context.cache().string()));
  if (is_any_missing) print_line("Some are missing: run tools/fetch/fetch, or name another cache with --cache.");
}

}  // namespace

void add_models(CLI::App& app, Context& context) {
  CLI::App& verb = add_verb(app, context, "models", "List the models of the cache, with their short names",
                            "tenure models\n"
                            "tenure models --json\n"
                            "tenure models --cache /big/disk");
  verb.callback([&context] { show_models(context); });
}

}  // namespace tenure::cli
