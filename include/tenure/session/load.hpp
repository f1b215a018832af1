#pragma once

#include <source_location>

#include <tenure/session/session.hpp>

namespace tenure {

/// Loads a model into `scope`; found by `Scope::load` and `Owner::load`.
///
/// Returns   the session, ready to run.
/// Errors    kNotFound, kDataLoss, kInvalidArgument: about the file. kUnavailable: no engine for it, or no such device.
///           kResourceExhausted, kEngine. kDeadlineExceeded: the load passed its hard limit and is quarantined. kAborted:
///           others closed it while it loaded. kClosed: the scope has ended.
/// Cancel    the load is stopped where the engine can, else it ends behind us and is released.
/// Threads   any; the load runs on the session's lane, never on a dispatcher's worker.
/// Lifetime  the session belongs to `scope` and ends with it.
[[nodiscard]] Task<Session> load_session(const Scope& scope, ModelSpec spec,
                                         std::source_location where = std::source_location::current());

}  // namespace tenure
