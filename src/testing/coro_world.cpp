#include <cstdlib>
#include <random>
#include <tenure/testing/coro_world.hpp>

namespace tenure::testing {

std::uint64_t choose_seed() {
  if (const char* seed = std::getenv("TENURE_SEED")) return std::strtoull(seed, nullptr, 10);
  return std::random_device{}();
}

CoroWorld::CoroWorld(std::uint64_t seed)
    : dispatcher_(seed), root_(dispatcher_, timers_, [this](const std::exception_ptr& error, const char*) {
        errors_.push_back(describe(error));
      }) {}

CoroWorld::~CoroWorld() {
  root_.cancel();
  run_until_idle();  // a shielded clean-up may wait for virtual time
  root_.end(std::chrono::seconds(10), &dispatcher_);
}

void CoroWorld::run_ready() {
  while (dispatcher_.run_ready() > 0) {
  }
}

void CoroWorld::advance(Duration duration) {
  const TimePoint end = timers_.now() + duration;
  run_ready();
  while (timers_.next() <= end) {
    timers_.move_to(timers_.next());
    run_ready();
  }
  timers_.move_to(end);
}

void CoroWorld::run_until_idle() {
  run_ready();
  while (timers_.next() != TimePoint::max()) {
    timers_.move_to(timers_.next());
    run_ready();
  }
}

void CoroWorld::require_complete(const detail::JobNode& job) const {
  if (job.has(detail::kCompletedFlag)) return;
  throw Error(ErrorCode::kDeadlineExceeded, "the task is stuck: nothing is ready and no timer waits (TENURE_SEED=" +
                                                std::to_string(dispatcher_.seed()) + ")");
}

}  // namespace tenure::testing
