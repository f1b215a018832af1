#pragma once

#include <utility>

#include <tenure/coro/deferred.hpp>
#include <tenure/coro/job.hpp>
#include <tenure/coro/result_job.hpp>

namespace tenure {

/// A copyable handle on a job, to launch and load in. What coroutines take and pass on, by value.
///
/// Returns   `launch`: the new Job. `async`: a Deferred with its result.
/// Errors    kClosed: the job has ended. std::bad_alloc. An error of what was launched goes up: it fails this job and
///           cancels its siblings, except under a supervisor.
/// Cancel    what is launched in a cancelled scope never begins.
/// Threads   any; what is launched runs on the scope's dispatcher.
/// Lifetime  ends nothing by its own end. A callable and its arguments live until its coroutine has ended; reference
///           parameters refer to these arguments.
/// Source    kotlinx.coroutines CoroutineScope.
class Scope {
 public:
  explicit Scope(detail::JobRef job) noexcept : job_(std::move(job)) {}

  /// Starts a task, or a coroutine `callable(scope, arguments...)` or `callable(arguments...)`.
  template <class F, class... A>
  Job launch(F&& callable, A&&... arguments) const {
    auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
    return Job(start(std::move(body), 0));
  }

  template <class F, class... A>
  auto async(F&& callable, A&&... arguments) const {
    auto body = detail::make_body(std::forward<F>(callable), std::forward<A>(arguments)...);
    return Deferred<typename decltype(body)::Result>(start(std::move(body), detail::kDeferred));
  }

  /// Loads a model into this scope: the session ends when the scope does. Provided by the session library
  /// (tenure/session/load.hpp), found by the type of its argument.
  template <class Scopes = Scope, class... A>
  auto load(A&&... arguments) const {
    return load_session(static_cast<const Scopes&>(*this), std::forward<A>(arguments)...);
  }

  /// The same scope, but what is launched through this handle runs on `dispatcher`, or bears `name` (a literal).
  [[nodiscard]] Scope on(Dispatcher& dispatcher) const noexcept {
    Scope scope = *this;
    scope.dispatcher_ = &dispatcher;
    return scope;
  }
  [[nodiscard]] Scope named(const char* name) const noexcept {
    Scope scope = *this;
    scope.name_ = name;
    return scope;
  }

  void cancel(std::exception_ptr cause = nullptr) const noexcept { job_->cancel(cause); }
  [[nodiscard]] bool is_cancelled() const noexcept { return job_->is_cancelled(); }
  [[nodiscard]] Job job() const noexcept { return Job(job_); }
  [[nodiscard]] Dispatcher& dispatcher() const noexcept {
    return dispatcher_ != nullptr ? *dispatcher_ : job_->dispatcher();
  }
  [[nodiscard]] TimePoint now() const noexcept { return job_->tree().timers.now(); }
  /// For the library.
  [[nodiscard]] detail::JobNode& node() const noexcept { return *job_.get(); }

 private:
  template <class Body>
  detail::JobRef start(Body&& body, std::uint16_t flags) const {
    require_own_process();
    auto job = detail::JobRef::adopt(new detail::LaunchedJob<std::remove_cvref_t<Body>>(
        job_->tree(), dispatcher(), flags, name_, std::forward<Body>(body)));
    if (!job_->attach(*job.get())) throw_closed();
    job->post();
    return job;
  }
  [[noreturn]] void throw_closed() const;
  void require_own_process() const;

  detail::JobRef job_;
  Dispatcher* dispatcher_ = nullptr;
  const char* name_ = "";
};

template <class Body>
void detail::LaunchedJob<Body>::start() noexcept {
  try {
    this->enter(body_->make(Scope(JobRef(this))));
  } catch (...) {  // the frame could not be had, or the callable threw before it became a coroutine
    end_with(std::current_exception());
    return;
  }
  handle_of(*this->Link::child).resume();
}

}  // namespace tenure
