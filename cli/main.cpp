// The program `tenure`: its verbs, and what becomes of their errors.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tenure/base/error.hpp>
#include <vector>

#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

void add_verbs(CLI::App& app, Context& context) {
  add_demo(app, context);
  add_engines(app, context);
  add_models(app, context);
  add_inspect(app, context);
  add_run(app, context);
  add_storm(app, context);
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

ExitCode complain(std::string_view message) {
  std::fprintf(stderr, "tenure: %.*s\n", static_cast<int>(message.size()), message.data());
  return kUsage;
}

ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::vector<std::string> verbs = verbs_of(app);
  if (first.empty()) return complain("no verb given; there are " + listed(verbs) + " (tenure --help tells more)");
  if (!first.starts_with('-') && std::ranges::find(verbs, first) == verbs.end()) {
    return complain("there is no verb '" + std::string(first) + "'; there are " + listed(verbs));
  }
  if (first.starts_with('-') && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return complain("no verb given before '" + std::string(first) + "'; there are " + listed(verbs));
  }
  const std::string verb = first.starts_with('-') ? "" : std::string(first) + " ";
  return complain(std::string(error.what()) + (verb.empty() ? "; options come after the verb" : "") + " (tenure " +
                  verb + "--help tells more)");
}

/// What to do about it, where the message itself doesn't say.
std::string advice_for(ErrorCode code) {
  if (code != ErrorCode::kUnavailable) return {};
  return "\n  run tools/fetch/fetch (or ./demo, which does all) to get the engine, or name the folder that has it with "
         "--cache DIR or TENURE_CACHE=DIR; `tenure engines` lists what is here";
}

ExitCode report(const Context& context, const std::exception_ptr& thrown) {
  std::string message;
  ErrorCode code = ErrorCode::kInternal;
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    code = error.code();
    message = error.message();
    if (error.engine_code() != 0) message += " (engine code " + std::to_string(error.engine_code()) + ")";
    if (error.cause() != nullptr) message += ": caused by " + describe(error.cause());
  } catch (const std::bad_alloc&) {
    code = ErrorCode::kResourceExhausted;
    message = "memory is out; close other programs, or take a smaller model or input";
  } catch (const std::filesystem::filesystem_error& error) {
    code = ErrorCode::kInvalidArgument;
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  }
  const ExitCode exit_code = exit_code_of(code);
  complain(message + advice_for(code));
  if (context.wants_json) {
    const Json document = {{"error", {{"code", to_string(code)}, {"message", message}, {"exit_code", +exit_code}}}};
    print_json(document);
    std::fflush(stdout);
  }
  return exit_code;
}

ExitCode run(int argc, const char* const* argv) {
  CLI::App app("Tenure: models on your machine, with lifetimes that hold.", "tenure");
  Context context;
  app.set_version_flag("--version", "tenure " TENURE_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Each verb has its own help: tenure VERB --help\n\n"
      "Exit codes: 0 done, 1 the check failed, 2 usage, 3 bad model or input, 4 engine missing");
  try {
    add_verbs(app, context);
    app.parse(argc, argv);
    flush_output();
    return context.exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return static_cast<ExitCode>(app.exit(error));  // --help and --version
    return usage_error(app, error, argc, argv);
  } catch (...) {
    return report(context, std::current_exception());
  }
}

}  // namespace
}  // namespace tenure::cli

int main(int argc, char** argv) { return tenure::cli::run(argc, argv); }
