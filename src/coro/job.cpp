#include <memory>
#include <tenure/coro/job.hpp>

namespace tenure {
namespace detail {

Handle JoinAwaiter::park(PromiseBase& leaf) noexcept {
  JobNode& waiting = *leaf.job;
  if (waiting.is_cancelled()) return unwind(leaf);
  if (target_->is_ancestor_of(waiting)) {
    joins_itself_ = true;
    return handle_of(leaf);
  }
  is_parked_ = true;
  switch (target_->park_joiner(*this, leaf)) {
    case JobNode::Park::kParked: break;  // this frame may be running elsewhere, or gone
    case JobNode::Park::kComplete:
      if (!waiting.spend_budget()) return handle_of(leaf);
      waiting.post_behind(leaf, JobNode::Step::kResumeAlways);
      break;
    case JobNode::Park::kCancelled: return unwind(leaf);
  }
  return std::noop_coroutine();
}

void JoinAwaiter::throw_not_joined() const {
  const std::string name = target_->name();
  if (joins_itself_) {
    throw Error(ErrorCode::kFailedPrecondition,
                "a job can't wait for its own end: \"" + name + "\" is joined from inside itself");
  }
  throw Error(ErrorCode::kDeadlineExceeded,
              "the job \"" + name + "\" can't end: native code that borrows its memory has not come back");
}

namespace {

Outcome<void> outcome_of(JobNode& node) {
  switch (node.state()) {
    case JobState::kCompleted: return Outcome<void>::of_value({});
    case JobState::kFailed: return Outcome<void>::of_error(node.error());
    case JobState::kCancelled: return Outcome<void>::of_cancelled(node.error());
    default:
      throw Error(ErrorCode::kFailedPrecondition,
                  "the job \"" + std::string(node.name()) + "\" has not ended: join it before you ask how it did");
  }
}

class FunctionHandler final : public CompletionHandler {
 public:
  FunctionHandler(JobRef node, UniqueFunction<void(Outcome<void>)> function)
      : node_(std::move(node)), function_(std::move(function)) {}
  void on_completion() noexcept override {
    const std::unique_ptr<FunctionHandler> self(this);
    function_(outcome_of(*node_.get()));
  }

 private:
  JobRef node_;
  UniqueFunction<void(Outcome<void>)> function_;
};

}  // namespace
}  // namespace detail

Outcome<void> Job::outcome() const { return detail::outcome_of(*node_.get()); }

void Job::on_completion(UniqueFunction<void(Outcome<void>)> handler) const {
  auto owned = std::make_unique<detail::FunctionHandler>(node_, std::move(handler));
  detail::FunctionHandler& registered = *owned.release();  // from here on it owns itself
  if (!node_->add_handler(registered)) registered.on_completion();
}

}  // namespace tenure
