#include <tenure/coro/root.hpp>

namespace tenure {
namespace {

class RootJob final : public detail::JobNode {
 public:
  explicit RootJob(detail::JobTree& tree) noexcept
      : JobNode(tree, tree.default_dispatcher, detail::kSupervisor, "runtime") {
    ref();  // as a parent's tree would: given back when the job completes
  }
};

}  // namespace

Root::Root(Dispatcher& default_dispatcher, TimerQueue& timers, ErrorHandler on_error)
    : JobTree(default_dispatcher, timers),
      on_error_(std::move(on_error)),
      job_(detail::JobRef::adopt(new RootJob(*this))) {}

Owner Root::open(const char* name, Dispatcher& dispatcher) const {
  return Owner(detail::OwnerJob::make(*job_.get(), dispatcher, name));
}

bool Root::end(Duration limit, Dispatcher* pumped) {
  job_->cancel();
  job_->finish_body();
  return detail::wait_here(*job_.get(), pumped, limit);
}

void Root::report(const std::exception_ptr& error, const char* job_name) noexcept {
  if (on_error_) on_error_(error, job_name);
}

}  // namespace tenure
