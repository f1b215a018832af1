#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tenure::testing {

/// How a program is started.
struct Launch {
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added, or taken away where the value is empty
  std::filesystem::path folder;                                  ///< that it runs in
  bool as_nobody = false;                                        ///< without rights, where the test has any
  bool on_terminal = false;  ///< stdin, stdout and stderr are one terminal, whose text comes as `output`
};

/// How it ended, and what it said.
struct Finished {
  int exit_code = -1;  ///< -1 where a signal ended it
  int signal = 0;
  std::string output;
  std::string errors;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(output); }
};

namespace detail {

[[noreturn]] inline void become(const std::string& program, const Launch& launch) {
  for (const auto& [name, value] : launch.environment) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  if (!launch.folder.empty() && chdir(launch.folder.c_str()) != 0) _exit(126);
  constexpr uid_t kNobody = 65534;
  if (launch.as_nobody && geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
  std::vector<char*> words{const_cast<char*>("tenure")};
  for (const std::string& argument : launch.arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

/// Reads both until their other ends are closed.
inline void drain(int output, int errors, Finished& finished) {
  std::array<pollfd, 2> ends = {pollfd{output, POLLIN, 0}, pollfd{errors, POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return;
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      std::array<char, 4096> chunk{};
      const ssize_t count = read(end.fd, chunk.data(), chunk.size());
      std::string& text = &end == ends.data() ? finished.output : finished.errors;
      if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
      if (count <= 0) end.fd = -1;  // a terminal ends with an error
    }
  }
}

}  // namespace detail

/// Starts `program` and waits for its end. A program that hangs is ended by the time limit of its test.
inline Finished run_program(const std::string& program, const Launch& launch) {
  Finished finished;
  pid_t child = -1;
  if (launch.on_terminal) {
    int terminal = -1;
    child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) detail::become(program, launch);
    detail::drain(terminal, -1, finished);
    close(terminal);
  } else {
    std::array<int, 2> output{};
    std::array<int, 2> errors{};
    if (pipe2(output.data(), O_CLOEXEC) != 0 || pipe2(errors.data(), O_CLOEXEC) != 0) std::abort();
    child = fork();
    if (child == 0) {
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      dup2(errors[1], STDERR_FILENO);
      detail::become(program, launch);
    }
    close(output[1]);
    close(errors[1]);
    detail::drain(output[0], errors[0], finished);
    close(output[0]);
    close(errors[0]);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished;
}

#ifdef TENURE_PROGRAM
/// Runs our own program.
inline Finished tenure_with(Launch launch) { return run_program(TENURE_PROGRAM, launch); }
inline Finished tenure(std::vector<std::string> arguments) {
  Launch launch;
  launch.arguments = std::move(arguments);
  return tenure_with(std::move(launch));
}
#endif

/// The program ended with `exit_code` and one error, which begins with "tenure: " and holds each of `parts`.
template <class... Parts>
void expect_refusal(const Finished& finished, int exit_code, Parts... parts) {
  EXPECT_EQ(finished.exit_code, exit_code) << "signal " << finished.signal << "\n" << finished.errors;
  EXPECT_NE(finished.errors.find("tenure: "), std::string::npos) << finished.errors;
  for (const std::string_view part : std::initializer_list<std::string_view>{parts...}) {
    EXPECT_NE(finished.errors.find(part), std::string::npos) << "no '" << part << "' in: " << finished.errors;
  }
}

}  // namespace tenure::testing
