#include <tenure/base/check.hpp>
#include <tenure/testing/world.hpp>
#include <thread>

#include "testing/virtual_lanes.hpp"

namespace tenure::testing {

World::World(FakeEngine& engine, std::uint64_t seed)
    : dispatcher_(seed), lanes_(std::make_shared<VirtualLanes>(timers_)), engine_(engine) {
  RuntimeOptions options;
  options.dispatcher = &dispatcher_;
  options.timers = &timers_;
  options.lane_observer = lanes_.get();
  options.abort_on_disorder = true;
  options.on_error = [this](const std::exception_ptr& error, const char*) { errors_.push_back(describe(error)); };
  runtime_ = std::make_unique<Runtime>(std::move(options));
  engine_.set_time(lanes_);
  runtime_->add_engine(engine_.share());
}

World::~World() {
  runtime_->scope().cancel();
  run_until_idle();
  release_hung();
  run_until_idle();
  const ShutdownReport report = runtime_->shutdown(std::chrono::seconds(10));
  if (!report.is_complete) {
    for (const std::string& line : report.left) std::fprintf(stderr, "World: not released: %s\n", line.c_str());
  }
  TENURE_CHECK(report.is_complete, "a World ends with everything released");
  lanes_->detach();
}

Owner World::open(const char* name) { return runtime_->open(name, dispatcher_); }

Session World::load(ModelSpec spec) { return run(load_session(scope(), std::move(spec))).value(); }

void World::settle() {
  while (true) {
    lanes_->await_quiet();
    if (dispatcher_.run_ready() == 0 && lanes_->is_quiet()) return;
  }
}

bool World::step(TimePoint end) {
  settle();
  const TimePoint next = std::min(timers_.next(), lanes_->next());
  if (next == TimePoint::max() || next > end) return false;
  // Timers first, then one sleeper at a time: what moves is always one thing.
  timers_.move_to(next);
  settle();
  lanes_->wake_one(timers_.now());
  settle();
  return true;
}

void World::advance(Duration duration) {
  const TimePoint end = timers_.now() + duration;
  while (step(end)) {
  }
  timers_.move_to(end);
  settle();
}

void World::run_until_idle() {
  while (step(TimePoint::max())) {
  }
}

void World::run_until_complete(const detail::JobNode& job) {
  settle();
  while (!job.has(detail::kCompletedFlag) && step(TimePoint::max())) {
  }
  if (job.has(detail::kCompletedFlag)) return;
  throw Error(ErrorCode::kDeadlineExceeded, "the task is stuck: nothing is ready and no timer waits (TENURE_SEED=" +
                                                std::to_string(dispatcher_.seed()) + ")");
}

void World::release_hung() {
  settle();
  const std::uint64_t hung = engine_.hung_now();
  engine_.release_hung();
  while (hung > 0 && engine_.hung_now() > 0) std::this_thread::yield();
  settle();
}

}  // namespace tenure::testing
