// tenure demo: in a minute, what Tenure is for.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/demo/steps.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

struct Options {
  std::string picture = "demo-face.png";
  int pages = 200;
  bool skips_storm = false;
};

void demonstrate(Context& context, const Options& options) {
  Json document = Json::object();
  bool is_as_promised = true;
  const auto step = [&](const char* key, const std::string& title, auto&& show) {
    if (!context.wants_json) print_line(paint(Tone::kStrong, title));
    flush_output();
    const StepResult result = show();
    is_as_promised = is_as_promised && result.is_as_promised;
    document[key] = result.document;
    document[key]["as_promised"] = result.is_as_promised;
    if (!context.wants_json) print_line();
    flush_output();
  };
  context.require_engine();
  step("face", "1. A real model on a real photograph", [&] { return show_face(context, options.picture); });
  step("release", "2. A page left in mid-run: what is released, and when", [&] { return show_release(context); });
  if (!options.skips_storm) {
    const std::string pages = std::to_string(options.pages);
    step("storm", "3. " + pages + " pages opened and left in a hurry: the usual recipe, and Tenure",
         [&] { return show_storms(context, options.pages); });
  }
  document["as_promised"] = is_as_promised;
  context.exit_code = is_as_promised ? kDone : kCheckFailed;
  if (context.wants_json) return print_json(document);
  if (!is_as_promised) print_line(paint(Tone::kBad, "Not all went as promised."));
  print_line("Try next: tenure run face --image YOUR.jpg   or   tenure storm face hand --pages 2000");
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  CLI::App& verb = add_verb(app, context, "demo", "Show what Tenure does, on real models, in a minute",
                            "tenure demo\n"
                            "tenure demo --output /tmp/face.png --pages 500\n"
                            "tenure demo --skip-storm --json");
  const auto options = std::make_shared<Options>();
  verb.add_option("--output", options->picture, "Where the picture with the face goes")
      ->type_name("FILE.png")
      ->capture_default_str();
  verb.add_option("--pages", options->pages, "Pages of each storm")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb.add_flag("--skip-storm", options->skips_storm, "Leave the third step out");
  verb.callback([&context, options] { demonstrate(context, *options); });
}

}  // namespace tenure::cli
