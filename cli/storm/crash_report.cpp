#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/storm/child_process.hpp"

namespace tenure::cli {
namespace {

std::uintptr_t program_counter(void* context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

// dladdr is not on the list of what a handler may call. Here the process is lost anyway, and the worst that it can do is
// to crash again, which the parent sees by the signal alone.
void say_where(int signal, siginfo_t*, void* context) {
  Dl_info found{};
  const char* module = "unknown";
  void* counter = reinterpret_cast<void*>(program_counter(context));  // NOLINT(performance-no-int-to-ptr): a register
  if (dladdr(counter, &found) != 0 && found.dli_fname != nullptr) {
    const char* slash = std::strrchr(found.dli_fname, '/');
    module = slash == nullptr ? found.dli_fname : slash + 1;
  }
  std::array<char, 256> line{};
  const int length = std::snprintf(line.data(), line.size(), "{\"report\":{\"module\":\"%s\"}}\n", module);
  static_cast<void>(!write(report_descriptor(), line.data(), static_cast<std::size_t>(length)));
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

void report_crashes() {
  struct sigaction action{};
  action.sa_sigaction = &say_where;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

}  // namespace tenure::cli
