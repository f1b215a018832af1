#include "session/lane.hpp"

#include "session/session_core.hpp"

namespace tenure::detail {

void Lane::serve() noexcept {
  SessionCore& core = core_;
  const SessionRef keep = SessionRef::adopt(core);  // taken for this lane by whoever started it
  bool is_open = true;
  if (is_primary()) is_open = core.load_model(*this);
  if (is_open) is_open = core.open_context(*this);
  if (is_primary()) core.load_ended(is_open ? nullptr : std::exchange(core.load_error_, nullptr));
  if (is_open) {
    while (Request* request = core.next(*this)) run(*request);
  }
#if defined(TENURE_MUTATION_LEAK_CONTEXT)
  static_cast<void>(context_.release());
#endif
#if defined(TENURE_MUTATION_INSTANCE_FIRST)
  if (is_primary()) core.release_instance();
#endif
  core.close_context(*this);
  core.lane_ended(*this);
  core.host().lane_waits();
}

void Lane::run(Request& request) noexcept {
  SessionCore::RunResult result;
#if defined(TENURE_MUTATION_STICKY_STOP)
  StopSignal& stop = core_.sticky_stop_;
#else
  StopSignal& stop = request.stop;
#endif
  try {
    const NativeCall call;
    result.end = context_->engine_context().run(request.input_views, request.output_views, stop);
  } catch (const Error& error) {
    result.error = std::current_exception();
    result.is_device_lost = error.code() == ErrorCode::kDeviceLost;
  } catch (...) {
    result.error = std::current_exception();
  }
  core_.ended(*this, request, result);
}

bool SessionCore::load_model(Lane& primary) noexcept {
  {
    const LockGuard guard(lock_);
    call_begins(primary, load_stop_, nullptr);
  }
  try {
    const NativeCall call;
    Engine& engine = host_.choose_engine(spec_);
    DeviceLease lease = host_.devices.acquire(engine, spec_.device, creator_);
    guard_exit();
    const ModelSource source{spec_.file, std::exchange(spec_.bytes, nullptr)};
    const InstanceOptions options{.threads = spec_.threads, .stoppable = spec_.stoppable};
    std::unique_ptr<EngineInstance> instance = lease.device().load(source, options, load_stop_);
    signature_ = instance->signature();
    capabilities_ = instance->capabilities();
    auto tier = std::make_unique<InstanceTier>(std::move(lease), std::move(instance), host_.ledger, name_, creator_);
    const LockGuard guard(lock_);
    instance_ = std::move(tier);
  } catch (...) {
    load_error_ = std::current_exception();
  }
  const LockGuard guard(lock_);
  call_ends(primary);
  return load_error_ == nullptr;
}

bool SessionCore::open_context(Lane& lane) noexcept {
  {
    const LockGuard guard(lock_);
    call_begins(lane, load_stop_, nullptr);
  }
  std::unique_ptr<ContextTier> context;
  try {
    const NativeCall call;
    const std::string name = name_ + " lane " + std::to_string(lane.index());
    context = std::make_unique<ContextTier>(instance(), host_.ledger, name, creator_);
  } catch (...) {
    host_.ledger.note(name_, "a context was refused");
    if (lane.is_primary()) load_error_ = std::current_exception();
  }
  const LockGuard guard(lock_);
  call_ends(lane);
  lane.context_ = std::move(context);
  return lane.context_ != nullptr;
}

void SessionCore::close_context(Lane& lane) noexcept {
  std::unique_ptr<ContextTier> context;
  {
    const LockGuard guard(lock_);
    context = std::move(lane.context_);
    call_begins(lane, load_stop_, nullptr);  // to free may hang as well (I14)
  }
  {
    const NativeCall call;
    context.reset();
  }
  const LockGuard guard(lock_);
  call_ends(lane);
}

InstanceTier& SessionCore::instance() const noexcept {
  const LockGuard guard(lock_);
  return *instance_;
}

void SessionCore::load_ended(std::exception_ptr error) noexcept {
  {
    const LockGuard guard(lock_);
    if (state_ != SessionState::kLoading) return;  // closed or quarantined meanwhile: the waiter has been told
    move_to(error == nullptr ? SessionState::kReady : SessionState::kFailed);
  }
  if (error != nullptr) {
    loaded_.fail(std::move(error));
    return;
  }
  start_other_lanes();
  loaded_.complete();
}

void SessionCore::start_other_lanes() noexcept {
  if (!capabilities_.concurrent_runs || capabilities_.thread_bound) return;
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    {
      const LockGuard guard(lock_);
      ++open_lanes_;
    }
    ref();
    host_.lane_got_work();
    try {
      host_.lanes.start(*lanes_[i]);
    } catch (...) {  // fewer lanes serve as well, only not as fast
      host_.ledger.note(name_, "no thread for a further lane");
      host_.lane_waits();
      const LockGuard guard(lock_);
      --open_lanes_;
      references_.fetch_sub(1, std::memory_order_relaxed);  // the primary lane holds another
    }
  }
}

Request* SessionCore::next(Lane& lane) noexcept {
  while (true) {
    Request* abandoned = nullptr;
    {
      const LockGuard guard(lock_);
      abandoned = std::exchange(abandoned_, nullptr);
      if (abandoned == nullptr) {
        if (!is_open()) return nullptr;
        if (Request* request = intake_.pop()) {
          request->phase = Request::Phase::kRunning;
          call_begins(lane, request->stop, request);
          return request;
        }
        if (state_ == SessionState::kDraining) return nullptr;
        ++waiting_lanes_;
        host_.lane_waits();
      }
    }
    if (abandoned == nullptr) {
      await_wake_up();
    } else {
      free_abandoned(abandoned);
    }
  }
}

void SessionCore::await_wake_up() noexcept {
  while (true) {
    const std::uint32_t ticket = work_.ticket();
    {
      const LockGuard guard(lock_);
      if (wake_ups_ > 0) {
        --wake_ups_;
        return;
      }
    }
    work_.wait(ticket);
  }
}

void SessionCore::ended(Lane& lane, Request& request, const RunResult& result) noexcept {
  {
    Answers answers;
    const LockGuard guard(lock_);  // ends before the answers, which are sent with no lock held
    call_ends(lane);
    request.phase = Request::Phase::kEnded;
    Reply& reply = answers.add(request, Because::kEnded);
    if (result.error != nullptr) {
      answer(request, result.error, reply);
    } else if (result.end == RunEnd::kDone) {
      answer(request, nullptr, reply);
    } else if (request.is_cancelled) {
      answer(request, error(ErrorCode::kClosed, "it was closed in mid-run"), reply);
    } else {
      answer(request, error(ErrorCode::kInternal, "a run was stopped that nobody had asked to stop"), reply);
    }
    if (!request.is_cancelled) {
      request.error == nullptr ? host_.ledger.count_done() : host_.ledger.count_failed();
    } else if (!request.is_quarantined) {  // the quarantine has told its receipt
      const CancelEffect effect = result.end == RunEnd::kStopped ? CancelEffect::kStopped : CancelEffect::kDiscarded;
      reply.to_complete = CancelReceipt{effect, request.stop.steps(), host_.timers().now() - request.cancelled_at};
      host_.ledger.count_cancelled(effect);
    }
  }
  request.unref();  // the lane's
  if (result.is_device_lost) fail(result.error);
}

}  // namespace tenure::detail
