#pragma once

#include <cstdint>
#include <random>

#include <tenure/coro/confined_dispatcher.hpp>

namespace tenure::testing {

/// Runs on the test's thread, in an order shuffled by a seed, so that no test leans on an order that isn't promised.
///
/// Returns   `seed()`: what replays the order.
/// Errors    none.
/// Cancel    see ConfinedDispatcher.
/// Threads   any may post; run by the test's.
/// Source    trio's scheduler.
class ShuffledDispatcher final : public ConfinedDispatcher {
 public:
  explicit ShuffledDispatcher(std::uint64_t seed) noexcept : seed_(seed), random_(seed) {}
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  void became_ready() noexcept override {}
  WorkItem* pick(WorkQueue& ready) noexcept override {
    if (ready.size() > 1) {
      for (std::uint64_t turns = random_() % ready.size(); turns > 0; --turns) ready.push(*ready.pop());
    }
    return ready.pop();
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
};

/// The seed for this run: TENURE_SEED where it is set, else a new one.
[[nodiscard]] std::uint64_t choose_seed();

}  // namespace tenure::testing
