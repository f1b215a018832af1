// tenure run: its options, and what it prints.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/duration.hpp"
#include "cli/json_of.hpp"
#include "cli/output.hpp"
#include "cli/run/output_folder.hpp"
#include "cli/run/series.hpp"
#include "cli/run/summary.hpp"
#include "cli/verbs.hpp"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

// A person who wants less says --timeout; a program that hangs is still told apart from one that is slow.
constexpr Duration kHardLimit = 60s;

struct Options {
  std::string model;
  std::string image;
  std::vector<std::string> arrays;
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string timeout;
  std::string output;
  bool stoppable = false;
  int threads = 1;
};

struct Report {
  const ModelFile& model;
  const Options& options;
  const std::string& input;
  const Series& series;
  std::vector<std::filesystem::path> files;
};

InputSource source_of(const Options& options, const KnownModel* known) {
  if (!options.image.empty()) return InputSource::from_image(options.image, known);
  if (!options.arrays.empty()) return InputSource::from_arrays(options.arrays);
  return InputSource::from_seed(options.seed, known);
}

Json output_entry(const Report& report, std::size_t index) {
  const Tensor& output = report.series.outputs->at(index);
  const TensorSummary summary = summarise(output);
  Json entry = json_of(output.spec());
  entry["min"] = summary.min;
  entry["mean"] = summary.mean;
  entry["max"] = summary.max;
  entry["not_finite"] = summary.not_finite;
  entry["first"] = summary.first;
  if (index < report.files.size()) entry["file"] = report.files[index].string();
  return entry;
}

Json document_of(const Report& report) {
  const Series& series = report.series;
  Json inputs = Json::array();
  for (const TensorSpec& spec : series.signature.inputs) inputs.push_back(json_of(spec));
  Json outputs = Json::array();
  for (std::size_t i = 0; series.outputs && i < series.outputs->size(); ++i) outputs.push_back(output_entry(report, i));
  Json receipts = Json::array();
  for (const CancelReceipt& receipt : series.receipts) receipts.push_back(json_of(receipt));
  Json document = {{"model", report.model.name},
                   {"file", report.model.file.string()},
                   {"device", series.device},
                   {"threads", report.options.threads},
                   {"stops", to_string(series.capabilities.stops)},
                   {"input", report.input},
                   {"inputs", std::move(inputs)},
                   {"load_ms", to_ms(series.load_time)},
                   {"runs", series.times.size() + series.receipts.size()},
                   {"done", series.times.size()},
                   {"timed_out", series.receipts.size()},
                   {"time_ms", nullptr},
                   {"receipts", std::move(receipts)},
                   {"outputs", std::move(outputs)}};
  if (!series.times.empty()) {
    const TimeSummary times = summarise(series.times);
    document["time_ms"] = {
        {"first", times.first}, {"min", times.min}, {"median", times.median}, {"p99", times.p99}, {"max", times.max}};
  }
  return document;
}

void print_outputs(const Report& report) {
  Table table({"OUTPUT", "TYPE", "SHAPE", "MIN", "MEAN", "MAX", "FIRST VALUES"}, 2);
  table.align_right({3, 4, 5});
  for (const Tensor& output : *report.series.outputs) {
    const TensorSummary summary = summarise(output);
    std::string first;
    for (std::size_t i = 0; i < std::min<std::size_t>(summary.first.size(), 4); ++i) {
      first += fmt::format("{}{:.5g}", i == 0 ? "" : " ", summary.first[i]);
    }
    if (summary.not_finite > 0) first += fmt::format("  ({} not finite)", summary.not_finite);
    table.add({output.name(), std::string(to_string(output.spec().type)), to_string(output.spec().shape),
               fmt::format("{:.5g}", summary.min), fmt::format("{:.5g}", summary.mean),
               fmt::format("{:.5g}", summary.max), first});
  }
  table.print();
}

void print_report(const Report& report) {
  const Series& series = report.series;
  print_line(paint(Tone::kStrong, report.model.name) +
             fmt::format("  {}, {} thread{}, loaded in {}, on {}", series.device, report.options.threads,
                         report.options.threads == 1 ? "" : "s", ms_text(to_ms(series.load_time)), report.input));
  if (series.outputs) print_outputs(report);
  if (!series.times.empty()) {
    const TimeSummary times = summarise(series.times);
    std::string line = fmt::format("  {} run{}, median {}", series.times.size(), series.times.size() == 1 ? "" : "s",
                                   ms_text(times.median));
    if (series.times.size() > 1) {
      line += fmt::format(" (first {}, min {}, p99 {}, max {})", ms_text(times.first), ms_text(times.min),
                          ms_text(times.p99), ms_text(times.max));
    }
    print_line(line);
  }
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(series.receipts.size(), kShown); ++i) {
    print_line("  " + paint(Tone::kBad, "time limit of " + report.options.timeout + " passed") + ": " +
               to_string(series.receipts[i]));
  }
  if (series.receipts.size() > kShown) print_line(fmt::format("  and {} more", series.receipts.size() - kShown));
  for (const std::filesystem::path& file : report.files) print_line("  wrote " + file.string());
}

void run(Context& context, const Options& options) {
  const ModelFile model = context.model(options.model);
  const auto runtime = context.make_runtime();
  std::optional<OutputFolder> folder;
  if (!options.output.empty()) folder.emplace(options.output);

  SeriesPlan plan{.spec = ModelSpec(model.file),
                  .source = std::make_shared<const InputSource>(source_of(options, model.known)),
                  .repeat = options.repeat,
                  .limit = options.timeout.empty() ? std::nullopt : parse_duration(options.timeout)};
  plan.spec.stoppable = options.stoppable;
  plan.spec.threads = options.threads;
  plan.spec.hard_limit = kHardLimit;
  const std::string input = plan.source->description();

  Series series;
  {
    Progress progress("running " + model.name, static_cast<std::size_t>(options.repeat));
    series = runtime->block_on(run_series, std::move(plan), &runtime->ledger(), &progress);
  }
  Report report{.model = model, .options = options, .input = input, .series = series, .files = {}};
  if (folder && series.outputs) report.files = folder->write(*series.outputs);
  if (context.wants_json) {
    print_json(document_of(report));
  } else {
    print_report(report);
  }
  flush_output();
  if (folder) folder->keep();
  if (!series.receipts.empty()) context.exit_code = kCheckFailed;
}

std::string complaint_about_duration(const std::string& text) {
  if (parse_duration(text)) return {};
  return "'" + text + "' is no duration; expected a number above 0 with its unit, such as 80ms, 1.5s or 2min";
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App& verb = add_verb(app, context, "run", "Run a model and summarise its outputs",
                            "tenure run face --image photo.png\n"
                            "tenure run pose --repeat 20 --threads 2\n"
                            "tenure run pose --stoppable --timeout 20ms        # exit 1: the limit passed\n"
                            "tenure run hand --input input_1=hand.npy --output results\n"
                            "tenure run ./my_model.tflite --random 7 --json");
  const auto options = std::make_shared<Options>();
  verb.add_option("model", options->model, "A short name (see `tenure models`) or a path")
      ->required()
      ->type_name("MODEL");
  CLI::Option* image = verb.add_option("--image", options->image, "A PNG or JPEG picture, fitted to the input");
  image->type_name("FILE");
  CLI::Option* arrays = verb.add_option("--input", options->arrays, "An array as numpy.save writes it; once per input");
  arrays->type_name("NAME=FILE.npy")->allow_extra_args(false);
  CLI::Option* random =
      verb.add_option("--random", options->seed, "Random values of this seed (the default, of seed 1)");
  random->type_name("SEED")->check(CLI::NonNegativeNumber);
  image->excludes(arrays)->excludes(random);
  arrays->excludes(random);
  verb.add_option("--repeat", options->repeat, "How many runs, one after the other")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  verb.add_option("--timeout", options->timeout, "Time limit of each run, such as 80ms; if it passes, exit 1")
      ->type_name("DURATION")
      ->check(CLI::Validator(complaint_about_duration, ""));
  verb.add_option("--output", options->output, "Write each output as .npy into this folder")->type_name("DIR");
  verb.add_flag("--stoppable", options->stoppable, "Load it so that a run can be stopped, where the engine can");
  verb.add_option("--threads", options->threads, "Threads of the engine within one run")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  verb.callback([&context, options] { run(context, *options); });
}

}  // namespace tenure::cli
