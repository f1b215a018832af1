#include "cli/storm/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <tenure/base/error.hpp>

extern char** environ;

namespace tenure::cli {
namespace {

constexpr const char* kVariable = "TENURE_REPORT_FD";
constexpr int kReportDescriptor = 3;

[[noreturn]] void fail(const char* what, int error) {
  throw Error(ErrorCode::kUnavailable,
              std::string("can't start the child process: ") + what + ": " + std::strerror(error));
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) fail("pipe", errno);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] int reading() const noexcept { return ends_[0]; }
  [[nodiscard]] int writing() const noexcept { return ends_[1]; }
  void close_writing() noexcept { close_end(1); }

 private:
  void close_end(int end) noexcept {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }
  int ends_[2] = {-1, -1};
};

pid_t spawn(const std::vector<std::string>& arguments, const Pipe& pipe) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 2);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.insert(argv.begin(), const_cast<char*>("tenure"));
  argv.push_back(nullptr);
  const std::string setting = std::string(kVariable) + "=" + std::to_string(kReportDescriptor);
  std::vector<char*> environment{const_cast<char*>(setting.c_str())};
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe.writing(), kReportDescriptor);
  pid_t child = -1;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("posix_spawn", error);
  return child;
}

void take_line(const std::string& line, ChildEnd& end, const std::function<void(double)>& progress) {
  const nlohmann::ordered_json message = nlohmann::ordered_json::parse(line, nullptr, false);
  if (message.is_discarded()) return;
  if (message.contains("progress")) progress(message["progress"].get<double>());
  if (message.contains("report")) end.report = message["report"];
}

/// Reads until the child closes its end. False: it was silent for too long.
bool read_lines(int descriptor, Duration patience, ChildEnd& end, const std::function<void(double)>& progress) {
  std::string pending;
  while (true) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    const int ready = poll(&waiting, 1, static_cast<int>(limit));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    char buffer[4096];
    const ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count <= 0) return true;
    pending.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t newline = pending.find('\n'); newline != std::string::npos; newline = pending.find('\n')) {
      take_line(pending.substr(0, newline), end, progress);
      pending.erase(0, newline + 1);
    }
  }
}

void write_line(const nlohmann::ordered_json& message) {
  const std::string line = message.dump() + "\n";
  // A parent that is gone is no reason to fail: the exit code still says what was found.
  static_cast<void>(!write(report_descriptor(), line.data(), line.size()));
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& arguments, Duration patience,
                   const std::function<void(double)>& progress) {
  ChildEnd end;
  Pipe pipe;
  const pid_t child = spawn(arguments, pipe);
  pipe.close_writing();
  if (!read_lines(pipe.reading(), patience, end, progress)) {
    end.is_hung = true;
    kill(child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    end.signal = std::string("SIG") + (name == nullptr ? "?" : name);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

int report_descriptor() noexcept {
  const char* value = std::getenv(kVariable);
  return value == nullptr ? -1 : std::atoi(value);
}

void write_progress(double fraction) { write_line({{"progress", fraction}}); }
void write_report(const nlohmann::ordered_json& report) { write_line({{"report", report}}); }

}  // namespace tenure::cli
