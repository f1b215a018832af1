#include <tenure/coro/scope.hpp>

namespace tenure {

void Scope::throw_closed() const {
  throw Error(ErrorCode::kClosed,
              "the scope \"" + std::string(job_->name()) + "\" has ended: nothing can be launched in it");
}

void Scope::require_own_process() const {
  if (!job_->tree().is_inert()) return;
  throw Error(ErrorCode::kFailedPrecondition,
              "this runtime was made before fork(): its threads do not exist in the child; make a runtime here");
}

}  // namespace tenure
