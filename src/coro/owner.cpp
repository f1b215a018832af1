#include <tenure/coro/owner.hpp>
#include <tenure/coro/scopes.hpp>

namespace tenure {
namespace detail {

JobRef OwnerJob::make(JobNode& parent, Dispatcher& dispatcher, const char* name) {
  auto* job = new OwnerJob(parent, dispatcher, name);
  JobRef handle = JobRef::adopt(job);
  if (!parent.attach(*job)) {
    throw Error(ErrorCode::kClosed, "the owner \"" + std::string(name) + "\" can't be opened: its parent has ended");
  }
  job->add_listener(*job);  // ends at once where the parent is cancelled already
  return handle;
}

void OwnerJob::throw_closed() const {
  throw Error(ErrorCode::kClosed, "the owner \"" + std::string(name()) + "\" has ended");
}

void OwnerJob::keep(std::unique_ptr<KeptState> state) {
  {
    const LockGuard guard(state_lock_);
    if (!is_cancelled()) {
      state->next = std::move(kept_);
      kept_ = std::move(state);
      return;
    }
  }
  throw_closed();
}

void OwnerJob::set_error_handler(UniqueFunction<void(std::exception_ptr)> handler) {
  auto added = std::make_unique<OwnerErrorHandler>();
  added->function = std::move(handler);
  const LockGuard guard(state_lock_);
  added->replaced = std::move(error_handler_);
  error_handler_ = std::move(added);
}

void OwnerJob::report(const std::exception_ptr& error, const char* job_name) noexcept {
  OwnerErrorHandler* handler = nullptr;
  {
    const LockGuard guard(state_lock_);
    handler = error_handler_.get();
  }
  if (handler != nullptr && handler->function) {
    handler->function(error);  // it may use the owner, or end it
  } else {
    JobNode::report(error, job_name);
  }
}

void OwnerJob::epilogue() noexcept {
  std::unique_ptr<KeptState> kept;
  {
    const LockGuard guard(state_lock_);
    kept = std::move(kept_);
  }
  while (kept != nullptr) kept = std::move(kept->next);  // a loop: a long list must not recurse
}

}  // namespace detail

namespace {
Task<void> join(Job job) { co_await job.join(); }

Task<void> cancel_and_join(Job job) {
  job.cancel();
  // Shielded: who closes from inside an owner that is cancelled itself still waits for the end.
  Task<void> joining = join(job);
  co_await shield(std::move(joining));
}
}  // namespace

Task<void> Owner::close() { return cancel_and_join(job()); }

}  // namespace tenure
