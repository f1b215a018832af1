#include "cli/verbs.hpp"

#include <CLI/CLI.hpp>

#include "cli/context.hpp"

namespace tenure::cli {

CLI::App& add_verb(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                   const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->add_flag("--json", context.wants_json, "Print one JSON document, for programs");
  verb->add_option("--cache", context.chosen_cache, "Where engines and models are (else $TENURE_CACHE, else .cache)")
      ->type_name("DIR");
  std::string footer = "Examples:";
  std::string::size_type begin = 0;
  while (begin < examples.size()) {
    const std::string::size_type end = std::min(examples.find('\n', begin), examples.size());
    footer += "\n  " + examples.substr(begin, end - begin);
    begin = end + 1;
  }
  verb->footer(footer);
  return *verb;
}

}  // namespace tenure::cli
