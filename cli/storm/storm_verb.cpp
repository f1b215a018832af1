// tenure storm: pages that open and are left, over real models; in a child process, so that a crash is counted.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/context.hpp"
#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/storm/child_process.hpp"
#include "cli/storm/naive.hpp"
#include "cli/storm/page.hpp"
#include "cli/storm/storm.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

struct StormArguments {
  std::vector<std::string> models;
  std::uint64_t pages = 500;
  std::string time;
  std::string dwell = "0ms..3ms";
  int in_flight = 2;
  std::uint64_t seed = 1;
  bool is_naive = false;
  bool has_no_models = false;
  std::string patience = "60s";
};

/// A duration of an option; a bare number is seconds, and 0 is one. Errors: kInvalidArgument.
Duration duration_of(const char* option, const std::string& text) {
  if (text.find_first_not_of("0.munsh") == std::string::npos && text.starts_with('0')) return Duration{0};
  const bool is_bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  if (const auto duration = parse_duration(is_bare ? text + "s" : text)) return *duration;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(option) + " " + text + ": expected a duration, such as 80ms or 30s");
}

/// "0ms..30ms". Errors: kInvalidArgument.
std::pair<Duration, Duration> range_of(const char* option, const std::string& text) {
  constexpr std::string_view kBetween = "..";
  const std::size_t at = text.find(kBetween);
  if (at == std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string(option) + " " + text + ": expected MIN..MAX, such as 0ms..30ms");
  }
  const std::pair range(duration_of(option, text.substr(0, at)),
                        duration_of(option, text.substr(at + kBetween.size())));
  if (range.first > range.second) {
    throw Error(ErrorCode::kInvalidArgument, std::string(option) + " " + text + ": expected MIN not above MAX");
  }
  return range;
}

std::vector<ModelSpec> find_models(const StormArguments& arguments, const Context& context) {
  std::vector<ModelSpec> specs;
  for (const std::string& name : arguments.models) {
    ModelSpec spec(context.model(name).file);
    specs.push_back(std::move(spec));
  }
  return specs;
}

StormOptions options_of(const StormArguments& arguments, const Context& context) {
  StormOptions options;
  if (!arguments.has_no_models) options.models = find_models(arguments, context);
  options.pages = arguments.pages;
  if (!arguments.time.empty()) options.time = duration_of("--seconds", arguments.time);
  std::tie(options.min_dwell, options.max_dwell) = range_of("--dwell", arguments.dwell);
  options.in_flight = arguments.in_flight;
  options.seed = arguments.seed;
  return options;
}

/// Says how far it is, but not oftener than a person can see.
class Reporter {
 public:
  void operator()(double fraction) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    write_progress(fraction);
  }

 private:
  std::chrono::steady_clock::time_point last_;
};

void be_the_child(const StormArguments& arguments, Context& context) {
  const StormOptions options = options_of(arguments, context);
  if (arguments.is_naive) {
    report_crashes();
    const std::uint64_t left =
        run_naive_storm(options.models, *context.engine(), options.pages, options.seed, Reporter());
    write_report({{"pages", left}});
    return;
  }
  std::vector<std::shared_ptr<Engine>> engines;
  if (!options.models.empty()) engines.push_back(context.engine());
  write_report(run_storm(options, engines, Reporter()));
}

std::vector<std::string> child_arguments(const StormArguments& arguments, const Context& context) {
  std::vector<std::string> child{"storm"};
  for (const std::string& model : arguments.models) child.push_back(context.model(model).file.string());
  const auto add = [&child](const char* option, const std::string& value) {
    if (!value.empty()) child.insert(child.end(), {option, value});
  };
  add("--cache", context.cache().string());
  arguments.time.empty() ? add("--pages", std::to_string(arguments.pages)) : add("--seconds", arguments.time);
  add("--dwell", arguments.dwell);
  add("--in-flight", std::to_string(arguments.in_flight));
  add("--seed", std::to_string(arguments.seed));
  if (arguments.is_naive) child.emplace_back("--naive");
  if (arguments.has_no_models) child.emplace_back("--no-models");
  return child;
}

Json naive_document(const StormArguments& arguments, const ChildEnd& end) {
  Json document{{"naive", true}, {"pages", arguments.pages}, {"crashed", end.signal.empty() ? 0 : 1}};
  document["signal"] = end.signal.empty() ? Json(nullptr) : Json(end.signal);
  document["module"] = end.report.contains("module") ? Json(end.report["module"]) : Json(nullptr);
  if (end.is_hung) document["hung"] = 1;
  return document;
}

Json storm_document(const StormArguments& arguments, const ChildEnd& end) {
  const bool has_crashed = !end.signal.empty() && !end.is_hung;
  const bool has_broken_off = end.report.is_null();
  Json document{{"pages", arguments.pages}, {"crashed", has_crashed || (has_broken_off && !end.is_hung) ? 1 : 0}};
  for (const char* key : {"leaked", "out_of_order", "hung", "failed", "refused"}) document[key] = 0;
  if (!has_broken_off) {
    for (const auto& [key, value] : end.report.items()) document[key] = value;
  }
  if (end.is_hung) document["hung"] = document["hung"].get<std::uint64_t>() + 1;
  if (has_crashed) document["signal"] = end.signal;
  return document;
}

bool is_fine(const Json& document) {
  for (const char* key : {"crashed", "leaked", "out_of_order", "hung", "failed"}) {
    if (document[key].get<std::int64_t>() != 0) return false;
  }
  return document.value("counts_agree", false);
}

std::string percentiles(const Json& values, const char* unit) {
  return fmt::format("p50 {:.2f}, p99 {:.2f}, max {:.2f} {}", values["p50"].get<double>(), values["p99"].get<double>(),
                     values["max"].get<double>(), unit);
}

void print_storm(const Json& document) {
  const auto count = [&document](const char* key) { return document[key].get<std::int64_t>(); };
  const auto tell = [&](const char* key) {
    return paint(count(key) == 0 ? Tone::kGood : Tone::kBad, fmt::format("{} {}", count(key), key));
  };
  print_line(fmt::format("{} pages: {}, {}, {}, {}, {}", count("pages"), tell("crashed"), tell("leaked"),
                         tell("out_of_order"), tell("hung"), tell("failed")));
  if (document.contains("signal")) print_line("  died of " + document["signal"].get<std::string>());
  if (document.contains("first_failure"))
    print_line("  first failure: " + document["first_failure"].get<std::string>());
  if (!document.contains("runs")) return;
  const Json& runs = document["runs"];
  print_line(fmt::format("  runs: {} done, {} stopped, {} discarded, {} dropped", runs["done"].get<int>(),
                         runs["stopped"].get<int>(), runs["discarded"].get<int>(), runs["dropped"].get<int>()));
  std::string left = "  left in:";
  for (const auto& [state, pages] : document["left_in"].items()) left += fmt::format(" {} {}", state, pages.get<int>());
  print_line(left);
  print_line("  caller released after " + percentiles(document["caller_release_us"], "us"));
  print_line("  page gone after       " + percentiles(document["close_ms"], "ms"));
  print_line("  heartbeat late by     " + percentiles(document["heartbeat_late_ms"], "ms"));
  print_line(fmt::format(
      "  alive at the end: {} native objects, {} in the ledger; resident memory {:+.1f} MB after the first 200 pages",
      document["native"]["devices"].get<int>() + document["native"]["instances"].get<int>() +
          document["native"]["contexts"].get<int>(),
      document["ledger"]["devices"].get<int>() + document["ledger"]["instances"].get<int>() +
          document["ledger"]["contexts"].get<int>(),
      document["rss_growth_mb"].get<double>()));
}

void print_naive(const Json& document) {
  if (document["signal"].is_null()) {
    print_line("the naive storm got through this time; try more --pages, or another --seed");
    return;
  }
  print_line(paint(Tone::kBad, "the naive storm died of " + document["signal"].get<std::string>()) +
             (document["module"].is_null() ? "" : " in " + document["module"].get<std::string>()));
}

void storm(StormArguments& arguments, Context& context) {
  if (arguments.models.empty() && !arguments.has_no_models) arguments.models = {"face"};
  const StormOptions checked =
      options_of(arguments, context);  // bad input is told here, not by a child that dies of it
  if (!checked.models.empty()) context.require_engine();
  if (report_descriptor() >= 0) return be_the_child(arguments, context);

  Progress progress(arguments.is_naive ? "naive storm" : "storm", 1000);
  const ChildEnd end =
      run_child(child_arguments(arguments, context), duration_of("--patience", arguments.patience),
                [&progress](double fraction) { progress.show(static_cast<std::size_t>(fraction * 1000)); });
  const Json document = arguments.is_naive ? naive_document(arguments, end) : storm_document(arguments, end);
  if (context.wants_json) {
    print_json(document);
  } else {
    arguments.is_naive ? print_naive(document) : print_storm(document);
  }
  context.exit_code = !arguments.is_naive && is_fine(document) ? kDone : kCheckFailed;
}

}  // namespace

void add_storm(CLI::App& app, Context& context) {
  CLI::App& verb =
      add_verb(app, context, "storm", "Open and leave pages over real models, fast, and count what is left",
               "tenure storm face hand --pages 2000\n"
               "tenure storm face --seconds 30s --dwell 0ms..10ms --in-flight 4 --json\n"
               "tenure storm face --naive          (the usual thread pool: it dies)\n"
               "tenure storm --no-models           (the heartbeat to compare with)");
  auto arguments = std::make_shared<StormArguments>();
  verb.add_option("models", arguments->models, "Models, by short name or file (default: face)");
  CLI::Option* pages =
      verb.add_option("--pages", arguments->pages, "How many pages")->capture_default_str()->check(CLI::PositiveNumber);
  verb.add_option("--seconds", arguments->time, "How long, instead of a number of pages: 30s, 5m")->excludes(pages);
  verb.add_option("--dwell", arguments->dwell, "How long a page stays before it is left, MIN..MAX")
      ->capture_default_str();
  verb.add_option("--in-flight", arguments->in_flight, "Requests of a page at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  verb.add_option("--seed", arguments->seed, "What the storm is made from")->capture_default_str();
  verb.add_option("--patience", arguments->patience, "How long the storm may show no sign of life")
      ->capture_default_str();
  verb.add_flag("--naive", arguments->is_naive, "The same as it is usually written: a pool, a flag, and a destructor");
  verb.add_flag("--no-models", arguments->has_no_models, "Pages without models");
  verb.callback([arguments, &context] { storm(*arguments, context); });
}

}  // namespace tenure::cli
