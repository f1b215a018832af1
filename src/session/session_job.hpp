#pragma once

#include "session/session_core.hpp"

namespace tenure::detail {

/// The session as a resource in its owner's job: the owner's cancel closes it, the end of the owner's scope drains it, and
/// the owner is complete only after it is released or quarantined.
class SessionJob final : public JobNode, private CancelListener {
 public:
  SessionJob(JobNode& parent, SessionRef core) noexcept
      : JobNode(parent.tree(), parent.tree().default_dispatcher, kResource, "session"), core_(std::move(core)) {}

  void listen() noexcept { add_listener(*this); }
  /// Called once, by the session, which gives up its reference on this.
  void end() noexcept {
    remove_listener(*this);
    finish_body();
  }

 private:
  void on_cancel() noexcept override { core_->close(); }
  void parent_ended() noexcept override { core_->drain(); }

  const SessionRef core_;
};

}  // namespace tenure::detail
