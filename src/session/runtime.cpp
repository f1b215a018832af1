#include <cstdio>
#include <tenure/session/runtime.hpp>
#include <thread>

#include "session/lane.hpp"
#include "session/runtime_core.hpp"

namespace tenure {

Runtime::Runtime(RuntimeOptions options) : shutdown_deadline_(options.shutdown_deadline) {
  core_ = std::make_unique<detail::RuntimeCore>(std::move(options));
}

namespace {

void end(std::unique_ptr<detail::RuntimeCore> core, Duration deadline) {
  const ShutdownReport report = core->shut_down(deadline);
  if (report.is_complete) return;
  // Kept on purpose: freeing it under a running kernel, or in a child of fork, would be worse than to leak it.
  detail::RuntimeCore* kept = core.release();
  if (kept->root->is_inert() || detail::is_process_ending()) return;
  for (const std::string& line : report.left)
    std::fprintf(stderr, "tenure: not released at shutdown: %s\n", line.c_str());
}

}  // namespace

Runtime::~Runtime() {
  if (core_ == nullptr) return;
  if (!core_->is_own_thread()) {
    end(std::move(core_), shutdown_deadline_);
    return;
  }
  // A worker can't wait for itself: another thread does, and lives until all is released.
  std::thread([core = std::move(core_), deadline = shutdown_deadline_]() mutable {
    end(std::move(core), deadline);
  }).detach();
}

void Runtime::add_engine(std::shared_ptr<Engine> engine) { core_->add_engine(std::move(engine)); }
std::vector<Engine*> Runtime::engines() const { return core_->engines(); }

Owner Runtime::open(const char* name) { return open(name, core_->dispatcher()); }

Owner Runtime::open(const char* name, Dispatcher& dispatcher) {
  if (core_->root->is_inert()) {
    throw Error(ErrorCode::kFailedPrecondition, "the owner \"" + std::string(name) +
                                                    "\" can't be opened: the runtime was made before fork(), and its "
                                                    "threads do not exist in the child");
  }
  core_->remember_dispatcher(dispatcher);
  return core_->root->open(name, dispatcher);
}

Scope Runtime::scope() const { return core_->root->scope(); }
ShutdownReport Runtime::shutdown(Duration deadline) { return core_->shut_down(deadline); }
Ledger& Runtime::ledger() const noexcept { return core_->ledger; }
Dispatcher& Runtime::dispatcher() const noexcept { return core_->dispatcher(); }
TimerQueue& Runtime::timers() const noexcept { return core_->timers(); }

}  // namespace tenure
