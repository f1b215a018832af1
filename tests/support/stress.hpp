#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include <tenure/coro.hpp>
#include <tenure/coro/root.hpp>

namespace tenure::testing {

/// `rounds` times TENURE_STRESS_SCALE (1 where it is not set), at least 1.
inline int scaled(int rounds) {
  const char* scale = std::getenv("TENURE_STRESS_SCALE");
  const double factor = scale == nullptr ? 1.0 : std::strtod(scale, nullptr);
  return std::max(1, static_cast<int>(rounds * factor));
}

/// The seed of a test: TENURE_SEED where it is set. Printed, though real threads do not replay exactly.
inline std::uint64_t stress_seed() {
  const char* given = std::getenv("TENURE_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "TENURE_SEED=" << seed << std::endl;
  return seed;
}

/// Ends the program where the block that holds it does not end in time: a hang must not look like a slow test.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(100))
      : thread_([this, limit] {
          const auto end = std::chrono::steady_clock::now() + limit;
          while (!is_done_.load()) {
            const std::uint32_t ticket = event_.ticket();
            if (is_done_.load()) return;
            const Duration left = end - std::chrono::steady_clock::now();
            if (left <= Duration{0}) {
              std::cerr << "hang: the test did not end within " << limit.count() << " s" << std::endl;
              std::abort();
            }
            event_.wait(ticket, left);
          }
        }) {}
  ~Watchdog() {
    is_done_.store(true);
    event_.notify_all();
    thread_.join();
  }

 private:
  Event event_;
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

/// A job tree over real threads and real time.
struct StressWorld {
  explicit StressWorld(int threads = 4) : pool(threads) {}
  ~StressWorld() { EXPECT_TRUE(root.end(std::chrono::seconds(60), nullptr)); }
  StressWorld(const StressWorld&) = delete;
  StressWorld& operator=(const StressWorld&) = delete;

  Watchdog watchdog;
  ThreadPool pool;
  TimerThread timers;
  std::atomic<int> errors{0};
  Root root{pool, timers, [this](const std::exception_ptr&, const char*) { ++errors; }};
};

/// Passes the time of about `turns` turns of an empty loop: to move a race's two sides against each other.
inline void pass(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) os::cpu_relax();
}

}  // namespace tenure::testing
