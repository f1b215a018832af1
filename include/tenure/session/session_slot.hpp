#pragma once

#include <memory>

#include <tenure/coro/completable_deferred.hpp>
#include <tenure/coro/owner.hpp>
#include <tenure/session/load.hpp>
#include <tenure/session/session.hpp>

namespace tenure {

/// A place for one session: the article's `loadModel`, without its leak.
///
/// Returns   `load` at once. `run`: as Session::run, on the model whose load was last asked for when it was called.
/// Errors    `run`: those of the load, and of Session::run; kClosed where another load took the place meanwhile;
///           kFailedPrecondition where nothing was loaded.
/// Cancel    another `load` cancels one that is pending and closes the old session: what waits in it ends with kClosed.
/// Threads   the owner's dispatcher, or one thread at a time.
/// Lifetime  its sessions belong to the owner; its end closes the one it holds.
class SessionSlot {
 public:
  explicit SessionSlot(const Owner& owner) noexcept : scope_(owner.scope()) {}
  explicit SessionSlot(Scope scope) noexcept : scope_(std::move(scope)) {}
  SessionSlot(const SessionSlot&) = delete;
  SessionSlot& operator=(const SessionSlot&) = delete;
  ~SessionSlot() { clear(); }

  void load(ModelSpec spec);
  /// Cancels a pending load, or closes the session.
  void clear() noexcept;
  [[nodiscard]] Task<Outputs> run(Inputs inputs) const;
  [[nodiscard]] Task<Outputs> run(Inputs inputs, RunOptions options) const;
  /// The session, once it is loaded.
  [[nodiscard]] Task<Session> session() const;

 private:
  using Loading = CompletableDeferred<Session>;
  Scope scope_;
  Job load_;
  std::unique_ptr<Loading> loading_;
};

}  // namespace tenure
