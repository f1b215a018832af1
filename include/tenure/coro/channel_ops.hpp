#pragma once

#include <tenure/coro/channel_state.hpp>

namespace tenure::detail {

/// What the two awaiters of a channel share: the try under the lock, and else the parking.
/// `Derived::try_now` and `Derived::list` say which side it is.
template <class T, class Derived>
class ChannelAwaiter : public ChannelWaiter<T> {
 public:
  explicit ChannelAwaiter(ChannelRef<T> state) noexcept : state_(std::move(state)) {}
  ChannelAwaiter(const ChannelAwaiter&) = delete;
  ChannelAwaiter& operator=(const ChannelAwaiter&) = delete;
  ~ChannelAwaiter() {
    if (this->job != nullptr) state_->forget(static_cast<Derived*>(this)->list(), *this);
    // Not resumed normally, yet it holds an element: one that lost against a cancel.
    if (!is_resumed_ && this->element) state_->undeliver(std::move(*this->element));
  }

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) {
    return park(self.promise());
  }

 protected:
  bool is_resumed_ = false;
  ChannelRef<T> state_;

 private:
  Handle park(PromiseBase& leaf) TENURE_NO_THREAD_SAFETY {
    JobNode& me = *leaf.job;
    if (me.is_cancelled()) return unwind(leaf);
    ChannelState<T>& state = *state_;
    typename ChannelState<T>::Step step;
    {
      const LockGuard guard(state.lock_);
      step = static_cast<Derived*>(this)->try_now();
      if (!step.is_done && !step.is_closed) {
        WaitList& list = static_cast<Derived*>(this)->list();
        this->job = &me;
        list.push(*this);
        if (me.arm(leaf)) return std::noop_coroutine();  // this frame may be running elsewhere, or gone
        list.remove(*this);
        this->job = nullptr;
      }
    }
    if (!step.is_done && !step.is_closed) return unwind(leaf);
    this->found_closed = step.is_closed;
    if (!me.spend_budget()) {
      state.finish(step);
      return handle_of(leaf);
    }
    ChannelRef<T> keep = state_;  // this frame may be gone once it is posted
    me.post_behind(leaf, JobNode::Step::kResumeAlways);
    keep->finish(step);
    return std::noop_coroutine();
  }
};

template <class T>
class [[nodiscard]] SendAwaiter : public ChannelAwaiter<T, SendAwaiter<T>> {
 public:
  SendAwaiter(ChannelRef<T> state, T&& element) : ChannelAwaiter<T, SendAwaiter>(std::move(state)) {
    this->element.emplace(std::move(element));
  }
  void await_resume() {
    if (this->found_closed) throw_channel_closed(this->state_->cause());  // the destructor gives the element back
    this->is_resumed_ = true;
  }

 private:
  friend class ChannelAwaiter<T, SendAwaiter>;
  auto try_now() TENURE_NO_THREAD_SAFETY {
    auto step = this->state_->send_now(*this->element);
    if (step.is_done) this->element.reset();
    return step;
  }
  WaitList& list() noexcept TENURE_NO_THREAD_SAFETY { return this->state_->senders_; }
};

template <class T>
class [[nodiscard]] ReceiveAwaiter : public ChannelAwaiter<T, ReceiveAwaiter<T>> {
 public:
  using ChannelAwaiter<T, ReceiveAwaiter>::ChannelAwaiter;
  std::optional<T> await_resume() {
    if (this->found_closed) {
      if (const std::exception_ptr cause = this->state_->cause()) throw_channel_closed(cause);
      return std::nullopt;
    }
    this->is_resumed_ = true;
    return std::move(this->element);
  }

 private:
  friend class ChannelAwaiter<T, ReceiveAwaiter>;
  auto try_now() TENURE_NO_THREAD_SAFETY { return this->state_->receive_now(this->element); }
  WaitList& list() noexcept TENURE_NO_THREAD_SAFETY { return this->state_->receivers_; }
};

}  // namespace tenure::detail
