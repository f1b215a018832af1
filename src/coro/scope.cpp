#include <tenure/coro/scope.hpp>

namespace tenure {

void Scope::throw_closed() const {
  throw Error(ErrorCode::kClosed, "the scope \"" + std::string(job_->name()) + "\" has ended: nothing can be launched in it");
}

}  // namespace tenure
