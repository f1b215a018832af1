#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace tenure::cli {

class Context;

// Each adds one verb; what the verb does is done while the command line is parsed. Errors go out as exceptions, and
// `Context::exit_code` takes what the verb came to.
void add_demo(CLI::App& app, Context& context);
void add_engines(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_models(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_storm(CLI::App& app, Context& context);

/// A verb with the options that all have (--json, --cache) and its examples, a line each.
[[nodiscard]] CLI::App& add_verb(CLI::App& app, Context& context, const std::string& name,
                                 const std::string& description, const std::string& examples);

}  // namespace tenure::cli
