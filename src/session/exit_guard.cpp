// What happens to native calls when the process ends: the engines' own exit handlers must not run under them.
#include <cstdlib>
#include <tenure/base/lock.hpp>

#include "session/lane.hpp"

namespace tenure::detail {
namespace {

// The end of the process is one for all runtimes, so this is the one piece of state that is not a runtime's.
Atomic<std::uint32_t> g_calls_in_flight{0};
Atomic<bool> g_is_ending{false};
Event g_call_ended;

constexpr Duration kLongestWait = std::chrono::milliseconds(1500);

void wait_for_native_calls() noexcept {
  // seq_cst: a lane counts itself and then looks at this; one of the two sees the other.
  g_is_ending.store(true, std::memory_order_seq_cst);
  const TimePoint end = std::chrono::steady_clock::now() + kLongestWait;
  while (true) {
    const std::uint32_t ticket = g_call_ended.ticket();
    const Duration left = end - std::chrono::steady_clock::now();
    if (g_calls_in_flight.load(std::memory_order_seq_cst) == 0 || left <= Duration{0}) return;
    g_call_ended.wait(ticket, left);
  }
}

}  // namespace

NativeCall::NativeCall() noexcept {
  g_calls_in_flight.fetch_add(1, std::memory_order_seq_cst);
  if (!g_is_ending.load(std::memory_order_seq_cst)) return;
  g_calls_in_flight.fetch_sub(1, std::memory_order_seq_cst);
  g_call_ended.notify_all();
  while (true) g_call_ended.wait(g_call_ended.ticket());  // the process ends under this thread
}

NativeCall::~NativeCall() {
  g_calls_in_flight.fetch_sub(1, std::memory_order_seq_cst);
  if (g_is_ending.load(std::memory_order_seq_cst)) g_call_ended.notify_all();
}

bool is_process_ending() noexcept { return g_is_ending.load(std::memory_order_acquire); }

void guard_exit() noexcept {
  // Handlers run last in, first out. Each engine library registers its own when it is loaded, so one more of ours after
  // each load of a new one would do; the first device of the process is when most are loaded, and twice does no harm.
  static const bool is_registered = std::atexit(&wait_for_native_calls) == 0;
  static_cast<void>(is_registered);
}

}  // namespace tenure::detail
