// The front of a session: how it begins, and how requests come in and leave.
#include "session/session_core.hpp"

#include <tenure/base/check.hpp>
#include <tenure/session/borrowed_run.hpp>

#include "session/session_job.hpp"

namespace tenure::detail {

SessionRef::SessionRef(SessionCore& core) noexcept : core_(&core) { core.ref(); }
SessionRef::SessionRef(const SessionRef& other) noexcept : core_(other.core_) {
  if (core_ != nullptr) core_->ref();
}
SessionRef::~SessionRef() {
  if (core_ != nullptr) core_->unref();
}

SessionCore::SessionCore(RuntimeCore& host, ModelSpec spec, std::string creator, std::source_location where)
    : host_(host),
      spec_(std::move(spec)),
      name_(spec_.file.stem().string()),
      creator_(std::move(creator)),
      where_(where),
      hard_limit_(spec_.hard_limit > Duration{0} ? spec_.hard_limit : host.hard_limit) {
  if (spec_.lanes < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                name_ + ": lanes is " + std::to_string(spec_.lanes) + ", expected at least 1");
  }
  for (int i = 0; i < spec_.lanes; ++i) lanes_.push_back(std::make_unique<Lane>(*this, i));
}

SessionCore::~SessionCore() = default;

SessionRef SessionCore::start(const Scope& scope, ModelSpec spec, std::source_location where) {
  RuntimeCore& host = RuntimeCore::of(scope);
  JobNode& parent = scope.node();
  SessionRef core = SessionRef::adopt(*new SessionCore(host, std::move(spec), parent.name(), where));
  auto* job = new SessionJob(parent, core);
  const JobRef keep = JobRef::adopt(job);  // the lane may have ended it before we are done with it
  {
    const LockGuard guard(core->lock_);
    core->job_ = keep;
  }
  if (!parent.attach(*job)) {
    const LockGuard guard(core->lock_);
    core->job_ = JobRef();
    throw Error(ErrorCode::kClosed,
                "the scope \"" + std::string(parent.name()) + "\" has ended: no model can be loaded in it");
  }
  host.ledger.note(core->name_, "loading");
  core->ref();  // the primary lane's
  host.lane_got_work();
  try {
    host.lanes.start(*core->lanes_.front());
  } catch (...) {
    host.lane_waits();
    core->unref();
    {
      const LockGuard guard(core->lock_);
      core->move_to(SessionState::kFailed);
      core->move_to(SessionState::kClosed);
    }
    core->end_job();
    throw Error(ErrorCode::kResourceExhausted, core->name_ + ": no thread for its lane", std::current_exception());
  }
  job->listen();  // closes at once where the scope is cancelled already
  return core;
}

void SessionCore::move_to(SessionState to) noexcept {
  TENURE_CHECK(may_move(state_, to), "a session moves along its table only (I18)");
  state_ = to;
  host_.ledger.note(name_, to_string(to).data());  // NOLINT(bugprone-suspicious-stringview-data-usage): a literal
}

std::exception_ptr SessionCore::error(ErrorCode code, const char* what, Request* request,
                                      const std::exception_ptr& cause) const noexcept {
  try {
    Error error(code, "session \"" + name_ + "\": " + what, cause, where_);
    if (request != nullptr) error.set_receipt(request->share_receipt());
    return std::make_exception_ptr(std::move(error));
  } catch (...) {
    return std::current_exception();  // out of memory: the answer is that
  }
}

void SessionCore::drop_handle() noexcept {
  // acq_rel: what other handles did is done before the drain.
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) drain();
}

namespace {

[[noreturn]] void reject(const std::string& session, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "session \"" + session + "\": " + what);
}

void check_count(const std::string& session, const char* side, std::size_t given, std::size_t expected) {
  if (given == expected) return;
  reject(session, std::to_string(given) + " " + side + " given, expected " + std::to_string(expected));
}

std::string text_of(const TensorSpec& spec) { return std::string(to_string(spec.type)) + " " + to_string(spec.shape); }

void check_input(const std::string& session, const TensorSpec& given, const TensorSpec& expected) {
  if (given.type == expected.type && given.shape == expected.shape) return;
  reject(session, "input \"" + expected.name + "\" is " + text_of(given) + ", expected " + text_of(expected));
}

void check_size(const std::string& session, const char* side, std::size_t given, const TensorSpec& expected) {
  if (given == expected.byte_size()) return;
  reject(session, std::string(side) + " \"" + expected.name + "\" lends " + std::to_string(given) +
                      " bytes, expected " + std::to_string(expected.byte_size()) + " for " + text_of(expected));
}

struct RequestDeleter {
  void operator()(Request* request) const noexcept { request->unref(); }
};
using NewRequest = std::unique_ptr<Request, RequestDeleter>;

}  // namespace

Request& SessionCore::make_request(Inputs inputs, RunOptions options) const {
  check_count(name_, "inputs", inputs.size(), signature_.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) check_input(name_, inputs.at(i).spec(), signature_.inputs[i]);
  NewRequest request(new Request);
  request->options = options;
  request->inputs = std::move(inputs);
  for (const TensorSpec& spec : signature_.outputs) request->outputs.add(Tensor(spec));
  for (std::size_t i = 0; i < request->inputs.size(); ++i) {
    const Tensor& tensor = request->inputs.at(i);
    request->input_views.push_back({&signature_.inputs[i], tensor.bytes()});
  }
  for (Tensor& tensor : request->outputs) request->output_views.push_back({&tensor.spec(), tensor.bytes()});
  return *request.release();
}

Request& SessionCore::make_request(const std::vector<std::span<const std::byte>>& inputs,
                                   const std::vector<std::span<std::byte>>& outputs) const {
  check_count(name_, "inputs", inputs.size(), signature_.inputs.size());
  check_count(name_, "outputs", outputs.size(), signature_.outputs.size());
  NewRequest request(new Request);
  request->is_borrowing = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_size(name_, "input", inputs[i].size(), signature_.inputs[i]);
    request->input_views.push_back({&signature_.inputs[i], inputs[i]});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_size(name_, "output", outputs[i].size(), signature_.outputs[i]);
    request->output_views.push_back({&signature_.outputs[i], outputs[i]});
  }
  return *request.release();
}

Handle SessionCore::submit(Request& request, PromiseBase& leaf) {
  const SessionRef keep(*this);  // the caller's frame, and its handle, may be gone once it is parked
  switch (put_into_intake(request, leaf)) {
    case Submitted::kToWaitingLane: work_.notify_one(); return std::noop_coroutine();
    case Submitted::kToBusyLane: return std::noop_coroutine();
    case Submitted::kCallerCancelled: return unwind(leaf);
    case Submitted::kClosed: request.error = error(ErrorCode::kClosed, "it is closed"); break;
    case Submitted::kFull:
      request.error = error(ErrorCode::kResourceExhausted, "as many requests wait as its intake takes");
      break;
  }
  return handle_of(leaf);
}

SessionCore::Submitted SessionCore::put_into_intake(Request& request, PromiseBase& leaf) noexcept {
  JobNode& job = *leaf.job;
  const LockGuard guard(lock_);
  if (state_ != SessionState::kReady) {
    // Where one cancel ends both the session and its caller, the caller is unwound, and hears of no error.
    return job.is_cancelled() ? Submitted::kCallerCancelled : Submitted::kClosed;
  }
  if (is_full()) return Submitted::kFull;
  if (request.is_borrowing) {
    // A cancel from here on finds the request in the intake: it takes this lock.
    if (job.is_cancelled()) return Submitted::kCallerCancelled;
    job.arm_firm(leaf);
  } else if (!job.arm(leaf)) {
    return Submitted::kCallerCancelled;
  }
  request.sequence = next_sequence_++;
  request.waiting_job = &job;
  request.phase = Request::Phase::kQueued;
  request.ref();  // the intake's, then the lane's
  intake_.push(request);
  return wake_one() ? Submitted::kToWaitingLane : Submitted::kToBusyLane;
}

void SessionCore::answer(Request& request, std::exception_ptr error, Reply& reply) noexcept {
  if (request.is_answered) return;
  request.is_answered = true;
  request.error = std::move(error);
  JobNode* job = std::exchange(request.waiting_job, nullptr);
  // A cancel that took the caller first has won; its frames go, and the answer with them.
  if (job != nullptr && job->claim()) reply.to_resume = job;
}

void SessionCore::cancel(Request& request) noexcept {
  Answers answers;
  const LockGuard guard(lock_);  // ends before the answers, which are sent with no lock held
  if (request.phase == Request::Phase::kNew || request.phase == Request::Phase::kEnded || request.is_cancelled) return;
  request.is_cancelled = true;
  request.cancelled_at = host_.timers().now();
  if (request.phase == Request::Phase::kRunning) {
    request.stop.request();
#if defined(TENURE_MUTATION_STICKY_STOP)
    sticky_stop_.request();
#endif
    return;
  }
  intake_.remove(request);
  drop(request, nullptr, answers);  // a caller that lends its tensors resumes, and is unwound
}

void SessionCore::drop(Request& request, const std::exception_ptr& error, Answers& answers) noexcept {
  request.phase = Request::Phase::kEnded;
  request.is_cancelled = true;
  host_.ledger.count_cancelled(CancelEffect::kDropped);
  Reply& reply = answers.add(request, Because::kEnded);
  reply.to_complete = CancelReceipt{};
  answer(request, error, reply);
  request.unref();  // the intake's
}

void SessionCore::abandon(Request& request) noexcept {
  const SessionRef keep(*this);
  const ReceiptPtr told = request.share_receipt();  // a lane may free the request before we are done
  std::optional<CancelReceipt> receipt;
  bool is_for_lane = false;
  bool is_waking = false;
  {
    const LockGuard guard(lock_);
    request.waiting_job = nullptr;
    if (!request.is_cancelled) {  // else its receipt is, or will be, completed by who sees it end
      if (request.phase == Request::Phase::kNew) receipt = CancelReceipt{};
      // It had its answer when the cancel came: nothing native was left to be stopped.
      if (request.phase == Request::Phase::kEnded) {
        receipt = CancelReceipt{CancelEffect::kDiscarded, request.stop.steps(), Duration{0}};
      }
    }
    is_for_lane = state_ != SessionState::kClosed && state_ != SessionState::kQuarantined;
    if (is_for_lane) {
      request.next_abandoned = std::exchange(abandoned_, &request);
      is_waking = wake_one();
    }
  }
  if (receipt) static_cast<Receipt*>(told.get())->complete(*receipt);
  if (is_waking) work_.notify_one();
  if (!is_for_lane) request.unref();
}

void SessionCore::free_abandoned(Request* first) noexcept {
  while (first != nullptr) std::exchange(first, first->next_abandoned)->unref();
}

void SessionCore::rethrow_answer(Request& request) {
  std::exception_ptr error;
  {
    const LockGuard guard(lock_);
    error = request.error;
  }
  if (error != nullptr) std::rethrow_exception(error);
}

std::size_t SessionCore::in_native_code() const noexcept {
  std::size_t running = 0;
  for (const auto& lane : lanes_) running += lane->call_.request != nullptr ? 1 : 0;
  return running;
}

bool SessionCore::is_full() const noexcept {
  // What a free lane is about to take does not wait.
  const std::size_t free_lanes = static_cast<std::size_t>(open_lanes_) - in_native_code();
  return intake_.size() >= free_lanes && intake_.size() - free_lanes >= spec_.intake_bound;
}

void SessionCore::require_usable() const {
  if (!is_inert()) return;
  throw Error(ErrorCode::kFailedPrecondition,
              "session \"" + name_ + "\": it was loaded before fork(); its lanes do not exist in the child");
}

}  // namespace tenure::detail
