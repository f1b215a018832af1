#include "cli/demo/captured_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <tenure/base/error.hpp>

#include "cli/context.hpp"

extern char** environ;

namespace tenure::cli {
namespace {

constexpr int kTick = 100;  // milliseconds between two calls of while_waiting

[[noreturn]] void refuse(const char* what, int error) {
  throw Error(ErrorCode::kResourceExhausted, std::string("no child process: ") + what + ": " + std::strerror(error));
}

class PipeEnd {
 public:
  PipeEnd() = default;
  explicit PipeEnd(int descriptor) noexcept : descriptor_(descriptor) {}
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  ~PipeEnd() { reset(); }
  void reset(int descriptor = -1) noexcept {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = descriptor;
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse("pipe", errno);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  }
  PipeEnd reading;
  PipeEnd writing;
};

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments, const Pipe& output,
            const Pipe& errors) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writing.get(), STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) refuse(program.c_str(), error);
  return child;
}

/// Takes what is there. False: the other end is closed.
bool take(const PipeEnd& end, std::string& text) {
  std::array<char, 4096> chunk{};
  const ssize_t count = read(end.get(), chunk.data(), chunk.size());
  if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

CapturedChild run_captured(const std::vector<std::string>& arguments, Duration limit,
                           const std::function<void()>& while_waiting) {
  CapturedChild child;
  Pipe output;
  Pipe errors;
  const pid_t pid = spawn(executable().string(), arguments, output, errors);
  output.writing.reset();
  errors.writing.reset();
  const TimePoint end = std::chrono::steady_clock::now() + limit;
  bool is_output_open = true;
  bool is_errors_open = true;
  while (is_output_open || is_errors_open) {
    std::array<pollfd, 2> waiting = {pollfd{is_output_open ? output.reading.get() : -1, POLLIN, 0},
                                     pollfd{is_errors_open ? errors.reading.get() : -1, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), kTick);
    if (waiting[0].revents != 0) is_output_open = take(output.reading, child.output);
    if (waiting[1].revents != 0) is_errors_open = take(errors.reading, child.errors);
    while_waiting();
    if (child.timed_out || std::chrono::steady_clock::now() < end) continue;
    child.timed_out = true;
    kill(pid, SIGKILL);
    break;  // a grandchild may keep the pipes open
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) child.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) child.signal = WTERMSIG(status);
  return child;
}

}  // namespace tenure::cli
