#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <tenure/base/error.hpp>
#include <tenure/base/function.hpp>
#include <tenure/coro/job_node.hpp>

namespace tenure {

enum class TrySend : std::uint8_t { kSent, kFull, kClosed };

namespace detail {

template <class T>
struct ChannelWaiter : Waiter {
  std::optional<T> element;
  bool found_closed = false;
};

[[noreturn]] void throw_channel_closed(const std::exception_ptr& cause);

/// What a channel's handles and parked coroutines share. The state table; each row is walked by ChannelStatesTest.
///
/// | state     | send                   | receive                        | goes to             |
/// |-----------|------------------------|--------------------------------|---------------------|
/// | open      | taken, buffered, parks | taken, from a sender, parks    | closed, cancelled   |
/// | closed    | kClosed                | what waits, then end           | cancelled           |
/// | cancelled | kClosed                | end                            | –                   |
template <class T>
class ChannelState : public Recycled {
 public:
  using Entry = ChannelWaiter<T>;

  ChannelState(std::size_t capacity, bool is_conflated, UniqueFunction<void(T&&)> on_undelivered)
      : capacity_(capacity), is_conflated_(is_conflated), on_undelivered_(std::move(on_undelivered)) {}

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes sees what the others wrote.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// What a try came to, and whom to resume once no lock is held.
  struct Step {
    bool is_done = false;
    bool is_closed = false;
    JobNode* resumed = nullptr;
    std::optional<T> replaced;
  };
  /// Under the lock: moves `element` on where that can be done at once.
  Step send_now(T& element) TENURE_REQUIRES(lock_) {
    Step step;
    if (is_closed_) {
      step.is_closed = true;
    } else if (Entry* receiver = claim(receivers_)) {
      receiver->element.emplace(std::move(element));
      step.resumed = receiver->job;
      step.is_done = true;
    } else if (buffer_.size() < capacity_) {
      buffer_.push_back(std::move(element));
      step.is_done = true;
    } else if (is_conflated_) {
      step.replaced.emplace(std::move(buffer_.back()));
      buffer_.back() = std::move(element);
      step.is_done = true;
    }
    return step;
  }
  Step receive_now(std::optional<T>& element) TENURE_REQUIRES(lock_) {
    Step step;
    if (!buffer_.empty()) {
      element.emplace(std::move(buffer_.front()));
      buffer_.pop_front();
      step.is_done = true;
      if (Entry* sender = claim(senders_)) buffer_.push_back(take_from(*sender, step));
    } else if (Entry* sender = claim(senders_)) {
      element.emplace(take_from(*sender, step));
      step.is_done = true;
    } else if (is_closed_) {
      step.is_closed = true;
    }
    return step;
  }

  TrySend try_send(T&& element) {
    Step step;
    {
      const LockGuard guard(lock_);
      step = send_now(element);
    }
    finish(step);
    return step.is_closed ? TrySend::kClosed : step.is_done ? TrySend::kSent : TrySend::kFull;
  }
  std::optional<T> try_receive() {
    std::optional<T> element;
    Step step;
    {
      const LockGuard guard(lock_);
      step = receive_now(element);
    }
    finish(step);
    return element;
  }
  void finish(Step& step) noexcept {
    if (step.resumed != nullptr) step.resumed->post();
    if (step.replaced) undeliver(std::move(*step.replaced));
  }

  bool close(std::exception_ptr cause) {
    WaitList woken;
    {
      const LockGuard guard(lock_);
      if (is_closed_) return false;
      is_closed_ = true;
      cause_ = std::move(cause);
      if (buffer_.empty() && senders_.empty()) wake_closed(receivers_, woken);
    }
    post(woken);
    return true;
  }
  void cancel(std::exception_ptr cause) {
    WaitList woken;
    std::deque<T> dropped;
    {
      const LockGuard guard(lock_);
      if (!is_closed_) cause_ = std::move(cause);
      is_closed_ = true;
      dropped.swap(buffer_);
      wake_closed(senders_, woken);
      wake_closed(receivers_, woken);
    }
    post(woken);
    for (T& element : dropped) undeliver(std::move(element));
  }
  [[nodiscard]] bool is_closed() noexcept {
    const LockGuard guard(lock_);
    return is_closed_;
  }

  void undeliver(T&& element) noexcept {
    if (on_undelivered_) on_undelivered_(std::move(element));
  }
  void forget(WaitList& list, Entry& entry) noexcept {
    const LockGuard guard(lock_);
    if (entry.linked) list.remove(entry);
  }
  [[nodiscard]] std::exception_ptr cause() noexcept {
    const LockGuard guard(lock_);
    return cause_;
  }

 private:
  template <class U, class Derived>
  friend class ChannelAwaiter;
  template <class U>
  friend class SendAwaiter;
  template <class U>
  friend class ReceiveAwaiter;
  ~ChannelState() = default;

  /// The first waiter whose coroutine no cancel has taken.
  static Entry* claim(WaitList& list) noexcept {
    while (Waiter* waiter = list.pop()) {
      if (waiter->job->claim()) return static_cast<Entry*>(waiter);
    }
    return nullptr;
  }
  static T take_from(Entry& sender, Step& step) {
    T element = std::move(*sender.element);
    sender.element.reset();
    sender.job->resume_always();  // its element is visible to others: it must not look cancelled
    step.resumed = sender.job;
    return element;
  }
  static void wake_closed(WaitList& list, WaitList& woken) noexcept {
    while (Entry* entry = claim(list)) {
      entry->found_closed = true;
      woken.push(*entry);
    }
  }
  static void post(WaitList& woken) noexcept {
    while (Waiter* waiter = woken.pop()) waiter->job->post();
  }

  Atomic<std::uint32_t> references_{1};
  Lock lock_;
  const std::size_t capacity_;
  const bool is_conflated_;
  bool is_closed_ TENURE_GUARDED_BY(lock_) = false;
  std::exception_ptr cause_ TENURE_GUARDED_BY(lock_);
  std::deque<T> buffer_ TENURE_GUARDED_BY(lock_);
  WaitList senders_ TENURE_GUARDED_BY(lock_);
  WaitList receivers_ TENURE_GUARDED_BY(lock_);
  UniqueFunction<void(T&&)> on_undelivered_;
};

/// A counted handle on the shared state.
template <class T>
class ChannelRef {
 public:
  template <class... A>
  static ChannelRef make(A&&... arguments) {
    ChannelRef handle;
    handle.state_ = new ChannelState<T>(std::forward<A>(arguments)...);
    return handle;
  }
  ChannelRef(const ChannelRef& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->ref();
  }
  ChannelRef(ChannelRef&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  ChannelRef& operator=(ChannelRef other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~ChannelRef() {
    if (state_ != nullptr) state_->unref();
  }
  ChannelState<T>* operator->() const noexcept { return state_; }
  ChannelState<T>& operator*() const noexcept { return *state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  ChannelRef() = default;
  ChannelState<T>* state_ = nullptr;
};

}  // namespace detail
}  // namespace tenure
