// Children, completion and failure: how a job ends, and how that goes up the tree.
#include <tenure/base/error.hpp>
#include <tenure/coro/job_node.hpp>

#include "coro/post_batch.hpp"

namespace tenure::detail {

JobState JobNode::state() noexcept {
  const std::uint16_t flags = flags_.load(std::memory_order_acquire);
  if ((flags & kCompletedFlag) != 0) {
    if ((flags & kFailedFlag) != 0) return JobState::kFailed;
    return (flags & kBodyCancelled) != 0 ? JobState::kCancelled : JobState::kCompleted;
  }
  if (is_cancelled()) return JobState::kCancelling;
  return (flags & kBodyDone) != 0 ? JobState::kCompleting : JobState::kActive;
}

std::exception_ptr JobNode::error() noexcept {
  const LockGuard guard(lock_);
  return error_;
}

std::exception_ptr JobNode::end_as_error() noexcept {
  std::exception_ptr error = this->error();
  if (has(kFailedFlag)) return error;
  try {
    return std::make_exception_ptr(
        Error(ErrorCode::kAborted, "what was waited for (job \"" + std::string(name_) + "\") was cancelled", error));
  } catch (...) {
    return std::current_exception();  // out of memory: that is what there is to say
  }
}

bool JobNode::is_ancestor_of(const JobNode& other) const noexcept {
  for (const JobNode* job = &other; job != nullptr; job = job->parent_job_) {
    if (job == this) return true;
  }
  return false;
}

bool JobNode::attach(JobNode& child) noexcept {
  const LockGuard guard(lock_);
  if (has(kSealed) || (child.has(kResource) && has(kResourcesEnded))) return false;
  // A cancel sets its bit before it takes this lock to walk the children: it is seen here, or it will see the child (I5).
  if (is_cancelled() && !child.has(kShielded)) {
    child.wait_word_.store(kCancelledBit, std::memory_order_relaxed);
    const LockGuard child_guard(child.lock_);
    child.error_ = has(kFailedFlag) ? nullptr : error_;
  }
  child.parent_job_ = this;
  child.previous_sibling_ = nullptr;
  child.next_sibling_ = first_child_;
  if (first_child_ != nullptr) first_child_->previous_sibling_ = &child;
  first_child_ = &child;
  ++child_count_;
  if (child.has(kResource)) ++resource_count_;
  child.ref();
  return true;
}

JobNode::Next JobNode::detach(JobNode& child) noexcept {
  const LockGuard guard(lock_);
  if (cancel_cursor_ == &child) cancel_cursor_ = child.next_sibling_;
  (child.previous_sibling_ == nullptr ? first_child_ : child.previous_sibling_->next_sibling_) = child.next_sibling_;
  if (child.next_sibling_ != nullptr) child.next_sibling_->previous_sibling_ = child.previous_sibling_;
  --child_count_;
  if (child.has(kResource)) --resource_count_;
  return what_is_next();
}

JobNode::Next JobNode::what_is_next() noexcept {
  if (!has(kBodyDone) || has(kSealed)) return Next::kNothing;
  if (child_count_ == 0) {
    if (has(kHasEpilogue)) {
      set_flag(kSealed);
      return Next::kEpilogue;
    }
    set_flag(kSealed | kCompletedFlag);
    return Next::kComplete;
  }
  if (child_count_ == resource_count_ && !has(kResourcesEnded)) {
    set_flag(kResourcesEnded);
    // Given back by end_resources(): the resources may end on another thread, and with them this job, before it is called.
    ref();
    return Next::kEndResources;
  }
  return Next::kNothing;
}

JobNode::Next JobNode::body_done() noexcept {
  const LockGuard guard(lock_);
  if (has(kBodyDone)) return Next::kNothing;
  set_flag(kBodyDone);
  return what_is_next();
}

void JobNode::finish_body() noexcept { advance(this, body_done(), nullptr); }

bool JobNode::finish_inline_body() noexcept {
  const Next next = body_done();
  advance(this, next, this);
  return next == Next::kComplete;
}

void JobNode::advance(JobNode* job, Next next, const JobNode* inline_scope) noexcept {
  while (true) {
    switch (next) {
      case Next::kNothing: return;
      case Next::kEndResources: job->end_resources(); return;
      case Next::kEpilogue:
        job->step_ = Step::kEpilogue;
        job->post();
        return;
      case Next::kComplete: break;
    }
    JobNode* parent = job->parent_job_;
    job->tell_joiners();
    const Next parent_next = parent == nullptr ? Next::kNothing : parent->detach(*job);
    job->completed();
    if (job->has(kInline) && job != inline_scope) {
      job->step_ = Step::kScopeDone;
      parent->dispatcher_->post(*job);  // the parent's frame waits for this and holds a reference
    }
    job->unref();
    job = parent;
    next = parent_next;
  }
}

void JobNode::end_resources() noexcept {
  const JobRef keep = JobRef::adopt(this);  // taken by what_is_next()
  while (true) {
    JobNode* resource = nullptr;
    {
      const LockGuard guard(lock_);
      for (JobNode* child = first_child_; child != nullptr; child = child->next_sibling_) {
        if (child->has(kResource) && !child->has(kResourceTold)) {
          child->set_flag(kResourceTold);
          child->ref();
          resource = child;
          break;
        }
      }
    }
    if (resource == nullptr) return;
    resource->parent_ended();
    resource->unref();
  }
}

void JobNode::run_epilogue() noexcept {
  epilogue();
  {
    const LockGuard guard(lock_);
    set_flag(kCompletedFlag);
  }
  advance(this, Next::kComplete, nullptr);
}

void JobNode::fail(const std::exception_ptr& error) noexcept {
  JobNode* job = this;
  while (true) {
    bool is_first = false;
    bool is_known = false;
    {
      const LockGuard guard(job->lock_);
      if (!job->has(kFailedFlag) && !job->is_cancelled()) {
        job->error_ = error;
        job->set_flag(kFailedFlag);
        is_first = true;
      }
      is_known = job->error_ == error;  // a body that awaited the child which failed brings the same error again
    }
    if (!is_first) {
      if (!is_known) job->report(error, job->name_);
      return;
    }
    job->cancel_children_of_failed();
    JobNode* parent = job->parent_job_;
    if (job->has(kInline) || parent == nullptr) return;  // thrown by who awaits the scope, or blocks on the root
    if (parent->has(kSupervisor)) {
      if (!job->has(kDeferred)) parent->report(error, job->name_);
      return;
    }
    job = parent;
  }
}

void JobNode::tell_joiners() noexcept {
  WaitList handlers;
  wake_joiners(handlers);
  while (Waiter* handler = handlers.pop()) static_cast<CompletionHandler*>(handler)->on_completion();
}

void JobNode::wake_joiners(WaitList& handlers) noexcept {
  PostBatch batch;
  const LockGuard guard(lock_);  // ends before the batch, which posts
  while (Waiter* waiter = joiners_.pop()) {
    if (waiter->job == nullptr) {
      handlers.push(*waiter);
    } else if (waiter->job->claim()) {
      batch.add(*waiter->job);
    }
  }
}

void JobNode::mark_stuck() noexcept {
  for (JobNode* job = this; job != nullptr; job = job->parent_job_) {
    job->set_flag(kStuck);
    WaitList handlers;
    job->wake_joiners(handlers);
    while (Waiter* handler = handlers.pop()) {  // these wait for the end itself
      const LockGuard guard(job->lock_);
      job->joiners_.push(*handler);
    }
    if (job->has(kHasEpilogue)) return;
  }
}

JobNode::Park JobNode::park_joiner(Waiter& waiter, PromiseBase& leaf) noexcept {
  JobNode& waiting = *leaf.job;
  const LockGuard guard(lock_);
  if (has(kCompletedFlag | kStuck)) return Park::kComplete;
  waiter.job = &waiting;
  joiners_.push(waiter);
  if (waiting.arm(leaf)) return Park::kParked;
  joiners_.remove(waiter);
  return Park::kCancelled;
}

void JobNode::forget_joiner(Waiter& waiter) noexcept {
  const LockGuard guard(lock_);
  if (waiter.linked) joiners_.remove(waiter);
}

bool JobNode::add_handler(CompletionHandler& handler) noexcept {
  const LockGuard guard(lock_);
  if (has(kCompletedFlag)) return false;
  joiners_.push(handler);
  return true;
}

void JobNode::note_receipt(const ReceiptPtr& receipt) noexcept {
  if (parent_job_ != nullptr && !has(kShielded)) parent_job_->note_receipt(receipt);
}

}  // namespace tenure::detail
