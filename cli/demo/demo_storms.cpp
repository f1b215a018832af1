// The third step of the demonstration: the usual recipe beside Tenure, under the same load.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <tenure/base/error.hpp>

#include "cli/context.hpp"
#include "cli/demo/captured_child.hpp"
#include "cli/demo/steps.hpp"
#include "cli/duration.hpp"
#include "cli/progress.hpp"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLimit = 45s;
// A crash is a matter of chance; three storms that all get through are not.
constexpr int kNaiveTries = 3;

struct Storm {
  CapturedChild child;
  Json document;  // null where it printed none
};

Storm run_storm_verb(Context& context, bool is_naive, int pages, int seed) {
  std::vector<std::string> arguments = {"storm",
                                        "face",
                                        "hand",
                                        "--pages",
                                        std::to_string(pages),
                                        "--seed",
                                        std::to_string(seed),
                                        "--json",
                                        "--cache",
                                        context.cache().string()};
  if (is_naive) arguments.emplace_back("--naive");
  Progress progress(is_naive ? "  naive storm" : "  Tenure's storm");
  Storm storm;
  storm.child = run_captured(arguments, kLimit, [&progress] { progress.show(); });
  storm.document = Json::parse(storm.child.output, nullptr, false);
  if (storm.document.is_discarded()) storm.document = nullptr;
  return storm;
}

/// A value of the document for a person: "–" where it isn't there.
std::string cell(const Json& document, const std::vector<std::string>& path, const char* unit = "") {
  Json value = document;
  for (const std::string& key : path) {
    if (!value.is_object() || !value.contains(key)) return "–";
    value = Json(value[key]);
  }
  if (value.is_null()) return "–";
  if (value.is_number_float()) return fmt::format("{:.2f}{}", value.get<double>(), unit);
  if (value.is_number()) return fmt::format("{}{}", value.get<std::int64_t>(), unit);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_zero(const Json& document, const char* key) {
  return document.is_object() && document.contains(key) && document[key].is_number() && document[key] == 0;
}

std::string end_of_naive(const Storm& naive) {
  const std::string signal = cell(naive.document, {"signal"});
  const std::string module = cell(naive.document, {"module"});
  if (signal != "–") return signal + (module == "–" ? "" : " in " + module);
  if (naive.child.timed_out || !is_zero(naive.document, "hung")) return naive.document.is_null() ? "no report" : "hung";
  return "got through";
}

void print_table(const Storm& naive, const Storm& ours, bool has_died, bool is_fine) {
  Table table({"", "THE USUAL RECIPE", "TENURE"}, 2);
  table.add({"how it ended",
             {end_of_naive(naive), has_died ? Tone::kBad : Tone::kPlain},
             {is_fine                ? "all pages closed"
              : ours.child.timed_out ? "no end in time"
                                     : "not as promised",
              is_fine ? Tone::kGood : Tone::kBad}});
  const auto add = [&](const char* title, const std::vector<std::string>& path, const char* unit = "") {
    table.add({title, cell(naive.document, path, unit), cell(ours.document, path, unit)});
  };
  add("pages", {"pages"});
  add("crashed", {"crashed"});
  add("leaked", {"leaked"});
  add("out of order", {"out_of_order"});
  add("hung", {"hung"});
  add("failed", {"failed"});
  add("caller released, p99", {"caller_release_us", "p99"}, " us");
  add("page closed, p99", {"close_ms", "p99"}, " ms");
  add("heartbeat late, p99", {"heartbeat_late_ms", "p99"}, " ms");
  add("seconds", {"seconds"});
  table.print();
}

}  // namespace

StepResult show_storms(Context& context, int pages) {
  Storm naive;
  bool has_died = false;
  for (int attempt = 1; attempt <= kNaiveTries && !has_died; ++attempt) {
    naive = run_storm_verb(context, true, pages, attempt);
    has_died = cell(naive.document, {"signal"}) != "–";
  }
  const Storm ours = run_storm_verb(context, false, pages, 1);
  const Json& found = ours.document;
  const bool is_fine = ours.child.exit_code == 0 && is_zero(found, "crashed") && is_zero(found, "leaked") &&
                       is_zero(found, "out_of_order") && is_zero(found, "hung");
  if (!context.wants_json) {
    print_table(naive, ours, has_died, is_fine);
    if (naive.document.is_null()) print_line("  the naive storm gave no report: " + naive.child.errors);
    if (found.is_null()) print_line("  Tenure's storm gave no report: " + ours.child.errors);
  }
  return {
      .is_as_promised = has_died && is_fine,
      .document = {{"naive", naive.document}, {"naive_died", has_died}, {"tenure", found}, {"tenure_held", is_fine}}};
}

}  // namespace tenure::cli
