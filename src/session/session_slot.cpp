#include <tenure/coro/as_outcome.hpp>
#include <tenure/session/session_slot.hpp>

namespace tenure {
namespace {

using Loading = CompletableDeferred<Session>;

/// Fails what nobody has completed: whoever waits is answered also where the load was cancelled, or never began.
struct FailThenDelete {
  void operator()(Loading* loading) const noexcept {
    try {
      loading->fail(std::make_exception_ptr(Error(ErrorCode::kClosed, "the owner of the slot has ended")));
    } catch (...) {
      loading->fail(std::current_exception());
    }
    delete loading;
  }
};
using LoadSide = std::unique_ptr<Loading, FailThenDelete>;

// An error of the load is for who waits for the session, not for the owner.
Task<void> load_into(Scope scope, ModelSpec spec, LoadSide loading) {
  Task<Session> load = load_session(scope, std::move(spec));
  Outcome<Session> outcome = co_await as_outcome(std::move(load));
  if (outcome.has_value()) {
    Session session = std::move(outcome).value();
    if (!loading->complete(session)) session.request_close();
  } else if (outcome.is_error()) {
    loading->fail(outcome.error());
  }
}

Task<Session> wait_for(Pending<Session> loading) { co_return co_await loading; }

Task<Outputs> run_when_loaded(Pending<Session> loading, Inputs inputs, RunOptions options) {
  Session session = co_await loading;
  Task<Outputs> run = session.run(std::move(inputs), options);
  co_return co_await std::move(run);
}

}  // namespace

void SessionSlot::load(ModelSpec spec) {
  clear();
  loading_ = std::make_unique<Loading>();
  LoadSide side(new Loading(*loading_));
  load_ = scope_.named("session slot").launch(load_into, scope_, std::move(spec), std::move(side));
}

void SessionSlot::clear() noexcept {
  if (loading_ == nullptr) return;
  try {
    if (!loading_->fail(std::make_exception_ptr(Error(ErrorCode::kClosed, "another load has taken the slot")))) {
      if (const Session* session = loading_->value_if_done()) session->request_close();
    }
  } catch (...) {
    loading_->fail(std::current_exception());
  }
  load_.cancel();
  loading_.reset();
}

Task<Session> SessionSlot::session() const {
  if (loading_ == nullptr) throw Error(ErrorCode::kFailedPrecondition, "nothing has been loaded into the slot");
  return wait_for(loading_->pending());
}

Task<Outputs> SessionSlot::run(Inputs inputs) const { return run(std::move(inputs), RunOptions{}); }

Task<Outputs> SessionSlot::run(Inputs inputs, RunOptions options) const {
  if (loading_ == nullptr) throw Error(ErrorCode::kFailedPrecondition, "nothing has been loaded into the slot");
  return run_when_loaded(loading_->pending(), std::move(inputs), options);
}

}  // namespace tenure
