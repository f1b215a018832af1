// The caller's side of a run: the awaiter, and the two forms of a run over it.
#include <tenure/session/borrowed_run.hpp>

#include "session/session_core.hpp"

namespace tenure {
namespace detail {

RequestAwaiter::~RequestAwaiter() {
  if (job_ != nullptr) {
    job_->remove_listener(*this);
    if (!is_resumed_) {
      job_->note_receipt(request_->share_receipt());
      core_->abandon(*request_);
      return;
    }
  }
  request_->unref();
}

Handle RequestAwaiter::park(PromiseBase& leaf) {
  JobNode& job = *leaf.job;
  if (job.is_cancelled()) return unwind(leaf);
  job_ = &job;
  job.add_listener(*this);
  return core_->submit(*request_, leaf);
}

void RequestAwaiter::on_cancel() noexcept { core_->cancel(*request_); }

void RequestAwaiter::await_resume() {
  is_resumed_ = true;
  core_->rethrow_answer(*request_);
}

namespace {

Task<Outputs> run_given([[maybe_unused]] Session session, SessionRef core, Inputs inputs, RunOptions options) {
  Request& request = core->make_request(std::move(inputs), options);
  RequestAwaiter run(std::move(core), request, false);
  co_await run;
  co_return std::move(request.outputs);
}

Task<void> close_and_wait(SessionRef core) {
  core->close();
  Pending<void> closed = core->closed();
  co_await closed;
}

}  // namespace
}  // namespace detail

Session::Session(detail::SessionRef core) noexcept : core_(std::move(core)) {
  if (core_) core_->add_handle();
}
Session::Session(const Session& other) noexcept : Session(other.core_) {}
Session::~Session() {
  if (core_ && !core_->is_inert()) core_->drop_handle();
}

void Session::require_loaded() const {
  if (!core_) throw Error(ErrorCode::kFailedPrecondition, "this Session is empty: nothing has been loaded into it");
}

Task<Outputs> Session::run(Inputs inputs) const { return run(std::move(inputs), RunOptions{}); }
Task<Outputs> Session::run(const Image& image) const { return run(image, ImageRange{}); }

Task<Outputs> Session::run(Inputs inputs, RunOptions options) const {
  require_loaded();
  core_->require_usable();
  return detail::run_given(*this, core_, std::move(inputs), options);
}

Task<Outputs> Session::run(const Image& image, ImageRange range) const {
  require_loaded();
  core_->require_usable();
  Inputs inputs;
  inputs.add(fit(image, core_->signature().inputs.at(0), range));
  return detail::run_given(*this, core_, std::move(inputs), {});
}

BorrowedRun Session::run(std::vector<std::span<const std::byte>> inputs,
                         std::vector<std::span<std::byte>> outputs) const {
  core_->require_usable();
  return {*this, std::move(inputs), std::move(outputs)};
}

detail::RequestAwaiter BorrowedRun::operator co_await() && {
  detail::Request& request = session_.core_->make_request(inputs_, outputs_);
  return {session_.core_, request, true};
}

void Session::request_close() const noexcept {
  if (!core_->is_inert()) core_->close();
}

Task<void> Session::close() const {
  require_loaded();
  core_->require_usable();
  return detail::close_and_wait(core_);
}

const ModelSignature& Session::signature() const noexcept { return core_->signature(); }
Capabilities Session::capabilities() const noexcept { return core_->capabilities(); }
SessionState Session::state() const noexcept { return core_->state(); }
const std::string& Session::name() const noexcept { return core_->name(); }
std::size_t Session::waiting() const noexcept { return core_->waiting(); }
std::size_t Session::running() const noexcept { return core_->running(); }

namespace detail {
namespace {

/// Closes a session that is loaded for a caller who is gone.
class UnlessKept {
 public:
  explicit UnlessKept(const SessionRef& core) noexcept : core_(core) {}
  UnlessKept(const UnlessKept&) = delete;
  UnlessKept& operator=(const UnlessKept&) = delete;
  ~UnlessKept() {
    if (!is_kept_) core_->close();
  }
  void keep() noexcept { is_kept_ = true; }

 private:
  SessionRef core_;
  bool is_kept_ = false;
};

Task<Session> load_in(Scope scope, ModelSpec spec, std::source_location where) {
  SessionRef core = SessionCore::start(scope, std::move(spec), where);
  UnlessKept guard(core);
  Pending<void> loaded = core->loaded();
  co_await loaded;
  Session session(std::move(core));
  guard.keep();
  co_return session;
}

}  // namespace
}  // namespace detail

Task<Session> load_session(const Scope& scope, ModelSpec spec, std::source_location where) {
  return detail::load_in(scope, std::move(spec), where);
}

}  // namespace tenure
