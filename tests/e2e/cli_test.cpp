// The program as a shell sees it: verbs, exit codes, what it says to a person and to a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace tenure::testing {
namespace {

using Json = nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kVerbs = {"demo", "engines", "models", "inspect", "run", "storm"};

TEST(CliTest, SaysItsVersion) {
  const Finished said = tenure({"--version"});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_EQ(said.output, "tenure " TENURE_VERSION "\n");
}

TEST(CliTest, HelpListsTheVerbsAndTheExitCodes) {
  const Finished help = tenure({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : kVerbs) EXPECT_THAT(help.output, HasSubstr(verb));
  EXPECT_THAT(help.output, HasSubstr("4 engine missing"));
}

TEST(CliTest, EachVerbHasHelpWithExamples) {
  for (const char* verb : kVerbs) {
    const Finished help = tenure({verb, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_THAT(help.output, HasSubstr("Examples:\n  tenure " + std::string(verb)));
    EXPECT_THAT(help.output, HasSubstr("--json"));
  }
}

TEST(CliTest, AWrongCommandLineIsAUsageError) {
  expect_refusal(tenure({}), 2, "no verb", "engines, models, inspect, run");
  expect_refusal(tenure({"fly"}), 2, "no verb 'fly'", "engines, models, inspect, run");
  expect_refusal(tenure({"--frob"}), 2, "--frob");
  expect_refusal(tenure({"run"}), 2, "required", "tenure run --help");
  expect_refusal(tenure({"run", "face", "--frob"}), 2, "--frob");
  expect_refusal(tenure({"run", "face", "hand"}), 2, "hand");
  expect_refusal(tenure({"run", "face", "--repeat", "0"}), 2, "--repeat");
  expect_refusal(tenure({"run", "face", "--threads", "many"}), 2, "--threads");
  expect_refusal(tenure({"run", "face", "--random", "-1"}), 2, "--random");
  expect_refusal(tenure({"run", "face", "--random", "1", "--image", "a.png"}), 2, "excludes");
  for (const char* limit : {"5", "0ms", "-3ms", "5 ms", "soon", "", "5days", "1e99s", "nans"}) {
    expect_refusal(tenure({"run", "face", "--timeout", limit}), 2, "--timeout");
  }
}

TEST(CliTest, ListsTheEngines) {
  const Finished human = tenure({"engines"});
  EXPECT_EQ(human.exit_code, 0);
  EXPECT_THAT(human.output, HasSubstr("litert  cpu     available"));

  const Finished machine = tenure({"engines", "--json"});
  ASSERT_EQ(machine.exit_code, 0);
  const Json document = machine.json();
  ASSERT_GE(document["engines"].size(), 1U);
  for (const Json& engine : document["engines"]) {
    EXPECT_TRUE(engine["name"].is_string());
    EXPECT_TRUE(engine["device"].is_string());
    EXPECT_EQ(engine.contains("reason"), !engine["available"].get<bool>()) << engine;
  }
  const Json& cpu = document["engines"][0];
  EXPECT_EQ(cpu["device"], "cpu");
  EXPECT_EQ(cpu["available"], true);
  EXPECT_EQ(cpu["capabilities"]["stops"], "never");
  EXPECT_EQ(cpu["capabilities_stoppable"]["stops"], "per_node");
}

TEST(CliTest, ListsTheModels) {
  const Finished human = tenure({"models"});
  EXPECT_EQ(human.exit_code, 0);
  EXPECT_THAT(human.output, HasSubstr("face "));
  EXPECT_THAT(human.output, HasSubstr("Apache-2.0"));

  const Json document = tenure({"models", "--json"}).json();
  std::vector<std::string> names;
  for (const Json& model : document["models"]) {
    names.push_back(model["name"].get<std::string>());
    EXPECT_EQ(model["in_cache"], true) << model;
    EXPECT_EQ(model["bytes"].get<std::uintmax_t>(), std::filesystem::file_size(model["path"].get<std::string>()));
  }
  for (const char* name : {"face", "hand", "pose", "segment", "pose_landmark_lite"}) EXPECT_THAT(names, Contains(name));
}

TEST(CliTest, InspectsAModelByNameAndByPath) {
  const Finished human = tenure({"inspect", "face"});
  EXPECT_EQ(human.exit_code, 0);
  EXPECT_THAT(human.output, HasSubstr("[1, 128, 128, 3]"));
  EXPECT_THAT(human.output, HasSubstr("classificators"));
  EXPECT_THAT(human.output, HasSubstr("litert cpu"));

  const Json by_name = tenure({"inspect", "face", "--json"}).json();
  EXPECT_EQ(by_name["engine"], "litert");
  EXPECT_EQ(by_name["device"], "cpu");
  const Json input = {{"name", "input"}, {"type", "float32"}, {"shape", {1, 128, 128, 3}}, {"bytes", 196608}};
  EXPECT_EQ(by_name["inputs"], Json::array({input}));
  EXPECT_EQ(by_name["outputs"].size(), 2U);
  EXPECT_GT(by_name["bytes"]["instance"], by_name["file_bytes"]);
  EXPECT_GE(by_name["bytes"]["context"], 196608U + 57344U + 3584U);
  EXPECT_EQ(by_name["capabilities"]["stops"], "never");

  const Json by_path = tenure({"inspect", by_name["file"], "--stoppable", "--json"}).json();
  EXPECT_EQ(by_path["outputs"], by_name["outputs"]);
  EXPECT_EQ(by_path["capabilities"]["stops"], "per_node");
}

TEST(CliTest, RunsOnRandomValuesThatTheSeedDecides) {
  const Finished human = tenure({"run", "face"});
  EXPECT_EQ(human.exit_code, 0) << human.errors;
  EXPECT_THAT(human.output, HasSubstr("regressors"));
  EXPECT_THAT(human.output, HasSubstr("1 run, median"));

  const Json first = tenure({"run", "face", "--random", "7", "--repeat", "3", "--json"}).json();
  EXPECT_EQ(first["runs"], 3);
  EXPECT_EQ(first["done"], 3);
  EXPECT_EQ(first["timed_out"], 0);
  EXPECT_GT(first["time_ms"]["median"], 0.0);
  EXPECT_LE(first["time_ms"]["min"], first["time_ms"]["median"]);
  EXPECT_LE(first["time_ms"]["median"], first["time_ms"]["max"]);
  ASSERT_EQ(first["outputs"].size(), 2U);
  for (const Json& output : first["outputs"]) {
    EXPECT_EQ(output["first"].size(), 8U);
    EXPECT_EQ(output["not_finite"], 0);
    EXPECT_LT(output["min"], output["mean"]);
    EXPECT_LT(output["mean"], output["max"]);
  }
  const Json again = tenure({"run", "face", "--random", "7", "--json"}).json();
  EXPECT_EQ(again["outputs"], first["outputs"]);
  const Json other = tenure({"run", "face", "--random", "8", "--json"}).json();
  EXPECT_NE(other["outputs"], first["outputs"]);
}

TEST(CliTest, ATimeLimitThatPassesHasAReceipt) {
  const Finished human = tenure({"run", "pose", "--stoppable", "--timeout", "1ms"});
  EXPECT_EQ(human.exit_code, 1) << human.errors;
  EXPECT_THAT(human.output, HasSubstr("time limit of 1ms passed"));

  const Finished stopped = tenure({"run", "pose", "--stoppable", "--timeout", "2ms", "--repeat", "3", "--json"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_EQ(stopped.json()["timed_out"], 3);
  EXPECT_EQ(stopped.json()["outputs"], Json::array());
  EXPECT_EQ(stopped.json()["time_ms"], nullptr);
  const Json told = stopped.json();
  for (const Json& receipt : told["receipts"]) {
    EXPECT_THAT((std::vector<std::string>{"stopped", "dropped"}), Contains(receipt["effect"].get<std::string>()));
    EXPECT_GE(receipt["until_quiet_ms"], 0.0);
  }
  // XNNPACK can't be stopped: it is run out and discarded, or, where the limit passed before a lane took it, dropped.
  const Json run_out = tenure({"run", "pose", "--timeout", "10ms", "--json"}).json();
  EXPECT_THAT((std::vector<std::string>{"discarded", "dropped"}),
              Contains(run_out["receipts"][0]["effect"].get<std::string>()));
}

TEST(CliTest, ATimeLimitThatDoesNotPassChangesNothing) {
  const Finished done = tenure({"run", "face", "--timeout", "1min", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(done.json()["outputs"], tenure({"run", "face", "--json"}).json()["outputs"]);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENURE_IS_THREAD_SANITIZED 1
#endif
#endif
#ifndef TENURE_IS_THREAD_SANITIZED  // it can't see how the engine's own threads wait for each other
TEST(CliTest, ThreadsDoNotChangeTheShape) {
  const Finished done = tenure({"run", "hand", "--threads", "2", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(done.json()["threads"], 2);
  EXPECT_EQ(done.json()["outputs"][0]["shape"], (Json::array({1, 63})));
}
#endif

Launch on_terminal(std::vector<std::string> arguments) {
  Launch launch;
  launch.arguments = std::move(arguments);
  launch.environment = {{"NO_COLOR", ""}, {"TERM", "xterm"}};
  launch.on_terminal = true;
  return launch;
}

constexpr const char* kEscape = "\x1b[";

TEST(CliTest, ColoursAreForTerminals) {
  EXPECT_THAT(tenure_with(on_terminal({"engines"})).output, HasSubstr("\x1b[32mavailable"));
  EXPECT_THAT(tenure({"engines"}).output, Not(HasSubstr(kEscape)));
}

TEST(CliTest, NoColorIsHonoured) {
  Launch launch = on_terminal({"engines"});
  launch.environment.front().second = "1";
  EXPECT_THAT(tenure_with(launch).output, Not(HasSubstr(kEscape)));
  launch = on_terminal({"engines"});
  launch.environment.back().second = "dumb";
  EXPECT_THAT(tenure_with(launch).output, Not(HasSubstr(kEscape)));
}

TEST(CliTest, LongWorkHasABarOnATerminalOnly) {
  const std::vector<std::string> arguments = {"run", "pose", "--repeat", "40"};
  EXPECT_THAT(tenure_with(on_terminal(arguments)).output, HasSubstr("/40"));
  const Finished piped = tenure(arguments);
  EXPECT_THAT(piped.errors, Not(HasSubstr("/40")));
  EXPECT_THAT(piped.output, Not(HasSubstr("/40")));
}

TEST(CliTest, OutputThatDoesNotArriveIsAnError) {
  Launch launch;
  launch.arguments = {"-c", std::string(TENURE_PROGRAM) + " models > /dev/full"};
  expect_refusal(run_program("/bin/sh", launch), 1, "disk is full");
}

TEST(CliTest, DemonstratesTheFaceAndTheRelease) {
  const TemporaryFolder folder;
  Launch launch;
  launch.arguments = {"demo", "--skip-storm"};
  launch.folder = folder.path();
  const Finished human = tenure_with(launch);
  EXPECT_EQ(human.exit_code, 0) << human.output << human.errors;
  for (const char* part : {"a face, score 0.9", "context freed", "released in this order", "Try next: tenure run"}) {
    EXPECT_THAT(human.output, HasSubstr(part));
  }
  EXPECT_GT(std::filesystem::file_size(folder.path() / "demo-face.png"), 10'000U);

  launch.arguments = {"demo", "--skip-storm", "--json", "--output", "other.png"};
  const Finished machine = tenure_with(launch);
  ASSERT_EQ(machine.exit_code, 0) << machine.errors;
  const Json document = machine.json();
  EXPECT_EQ(document["as_promised"], true);
  // Where the face is in NASA's photograph, measured by hand.
  const Json& box = document["face"]["faces"][0]["box"];
  EXPECT_NEAR(box["left"].get<int>(), 178, 12);
  EXPECT_NEAR(box["top"].get<int>(), 81, 12);
  EXPECT_NEAR(box["right"].get<int>(), 272, 12);
  EXPECT_NEAR(box["bottom"].get<int>(), 175, 12);
  EXPECT_EQ(document["release"]["in_order"], true);
  EXPECT_EQ(document["release"]["nothing_left"], true);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "other.png"));
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TENURE_IS_SANITIZED 1
#endif
#endif

#ifndef TENURE_IS_SANITIZED  // the naive storm must die of itself, not of a sanitizer
TEST(CliTest, DemonstratesAllInOneRun) {
  const TemporaryFolder folder;
  Launch launch;
  launch.arguments = {"demo", "--pages", "60"};
  launch.folder = folder.path();
  const Finished finished = tenure_with(launch);
  EXPECT_EQ(finished.exit_code, 0) << finished.output << finished.errors;
  for (const char* part : {"1. ", "2. ", "3. ", "THE USUAL RECIPE", "SIG", "all pages closed", "Try next: "}) {
    EXPECT_THAT(finished.output, HasSubstr(part));
  }
}
#endif

}  // namespace
}  // namespace tenure::testing
