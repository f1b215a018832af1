#pragma once

#include <tenure/testing/world.hpp>

namespace tenure::testing {

/// A session loaded in a scope that a test ends when it likes: what drains it, with handles of it still out.
class ScopedSession {
 public:
  ScopedSession(World& world, ModelSpec spec = "model.fake") : world_(world) {
    job_ = world.scope().launch(&ScopedSession::hold, std::move(spec), std::ref(session), gate_.pending());
    world_.settle();
  }
  /// Ends the scope: the session drains.
  void end_scope() {
    gate_.complete();
    world_.settle();
  }
  [[nodiscard]] const Job& scope_job() const noexcept { return job_; }

  Session session;

 private:
  static Task<void> hold(Scope scope, ModelSpec spec, Session& result, Pending<void> gate) {
    Task<Session> load = scope.load(std::move(spec));
    result = co_await std::move(load);
    co_await gate;
  }

  World& world_;
  CompletableDeferred<void> gate_;
  Job job_;
};

}  // namespace tenure::testing
