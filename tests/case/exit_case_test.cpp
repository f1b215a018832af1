// C6: the process ends under a runtime in a static, a global or a leaked pointer, with a run in flight. Each way is a
// program of its own: this one, started again with TENURE_EXIT_CASE set.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "support/real_runtime.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

std::optional<Runtime> g_global;
std::optional<Session> g_session;
Runtime* g_leaked = nullptr;

RuntimeOptions two_threads() {
  RuntimeOptions options;
  options.threads = 2;
  return options;
}

Runtime& make(std::string_view place) {
  if (place == "static") {
    static Runtime runtime(two_threads());
    return runtime;
  }
  if (place == "global") return g_global.emplace(two_threads());
  g_leaked = new Runtime(two_threads());
  return *g_leaked;
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// The child's part. Comes back where it is to leave by `return`.
void live_and_leave(const std::string& exit_case) {
  const auto slash = exit_case.find('/');
  const auto last_slash = exit_case.rfind('/');
  const std::string place = exit_case.substr(0, slash);
  const std::string way = exit_case.substr(slash + 1, last_slash - slash - 1);
  const std::string load = exit_case.substr(last_slash + 1);
  static FakeEngine engine;  // as an engine's library, it is there until the end
  engine.set_script({.run_time = 300ms});
  if (load == "hangs") engine.set_script({.hang_run_at = {1}});
  Runtime& runtime = make(place);
  will_be_kept(runtime);
  runtime.add_engine(engine.share());
  g_session = runtime.block_on(load_session(runtime.scope(), "model.fake"));
  const auto first = begin_run(runtime.scope(), *g_session);
  const auto second = begin_run(runtime.scope(), *g_session);
  if (load == "hangs") {
    engine.await_hung(1);
  } else {
    engine.await_runs_begun(1);
  }
  std::printf("leaving at %lld\n", static_cast<long long>(now()));
  std::fflush(stdout);
  if (way == "return") return;
  if (way == "quick_exit") std::quick_exit(0);
  std::thread([] { std::exit(0); }).detach();
  while (true) pause();
}

TEST(ExitChild, LivesAndLeaves) {
  if (const char* exit_case = std::getenv("TENURE_EXIT_CASE")) live_and_leave(exit_case);
}

struct Ended {
  int status = -1;
  std::string said;
  Duration took{0};
};

Ended run_child(const std::string& exit_case) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    setenv("TENURE_EXIT_CASE", exit_case.c_str(), 1);
    const char* tsan = std::getenv("TSAN_OPTIONS");  // it would sleep for a second at exit, to see races
    setenv("TSAN_OPTIONS", (std::string(tsan == nullptr ? "" : tsan) + " atexit_sleep_ms=0").c_str(), 1);
    unsetenv("GTEST_OUTPUT");
    unsetenv("GTEST_TOTAL_SHARDS");
    unsetenv("GTEST_SHARD_INDEX");
    alarm(60);  // kept over exec: a hang ends by a signal
    execl("/proc/self/exe", "tenure_exit_child", "--gtest_filter=ExitChild.LivesAndLeaves", nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    ended.said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(pipe_ends[0]);
  waitpid(child, &ended.status, 0);
  if (const auto at = ended.said.find("leaving at "); at != std::string::npos) {
    ended.took = Duration(now() - std::stoll(ended.said.substr(at + 11)));
  }
  return ended;
}

void expect_a_good_end(const std::string& exit_case, Duration limit) {
  SCOPED_TRACE(exit_case);
  const Ended ended = run_child(exit_case);
  EXPECT_TRUE(WIFEXITED(ended.status)) << "signal " << WTERMSIG(ended.status) << "\n" << ended.said;
  EXPECT_EQ(WEXITSTATUS(ended.status), 0) << ended.said;
  EXPECT_NE(ended.said.find("leaving at "), std::string::npos) << ended.said;
  EXPECT_LT(ended.took, limit);
}

TEST(Case, C6_TheProcessEndsWithARunInFlight) {
  for (const char* place : {"static", "global", "leaked"}) {
    for (const char* way : {"return", "exit", "quick_exit"}) {
      expect_a_good_end(std::string(place) + "/" + way + "/runs", 2s);
    }
  }
}

TEST(Case, C6_TheProcessEndsUnderARunThatNeverReturns) {
  for (const char* way : {"return", "exit", "quick_exit"}) {
    expect_a_good_end(std::string("static/") + way + "/hangs", 2s);
  }
}

}  // namespace
}  // namespace tenure
