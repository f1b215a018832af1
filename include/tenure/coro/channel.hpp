#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include <tenure/coro/channel_ops.hpp>

namespace tenure {

/// How many elements wait in a channel, and what happens to one more.
class ChannelCapacity {
 public:
  std::size_t elements;
  bool is_conflated;  ///< the newest element replaces the one that waits

  static constexpr ChannelCapacity of(std::size_t elements) noexcept { return {elements, false}; }
  static constexpr ChannelCapacity of_newest() noexcept { return {1, true}; }

 private:
  constexpr ChannelCapacity(std::size_t count, bool conflates) noexcept : elements(count), is_conflated(conflates) {}
};
inline constexpr ChannelCapacity kRendezvous = ChannelCapacity::of(0);
inline constexpr ChannelCapacity kConflated = ChannelCapacity::of_newest();
inline constexpr ChannelCapacity kUnlimited = ChannelCapacity::of(std::numeric_limits<std::size_t>::max());
/// Errors    kInvalidArgument: no room at all; a hand-over without one is kRendezvous.
[[nodiscard]] inline ChannelCapacity buffered(std::size_t elements) {
  if (elements == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "buffered(0): expected at least 1; kRendezvous hands over without a buffer");
  }
  return ChannelCapacity::of(elements);
}

/// The sending side of a channel: copied at will, and safe to use after the channel is gone.
///
/// Returns   `send`: an awaitable that ends when the element has been taken or buffered.
/// Errors    kClosed, with the cause if there is one. `try_send` throws nothing; see TrySend.
/// Cancel    `send` is a cancellation point; an element not taken goes to `on_undelivered`.
/// Threads   any.
template <class T>
class Sender {
 public:
  explicit Sender(detail::ChannelRef<T> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] auto send(T element) const { return detail::SendAwaiter<T>(state_, std::move(element)); }
  /// Never suspends; moves from `element` only where it was sent.
  TrySend try_send(T&& element) const { return state_->try_send(std::move(element)); }

 private:
  detail::ChannelRef<T> state_;
};

/// Hands elements from coroutine to coroutine, in order.
///
/// Returns   `receive`: the next element, or nothing once the channel is closed and empty.
/// Errors    `send` after a close: kClosed, with the cause. `receive` after `close(cause)` or `cancel(cause)`: kClosed
///           with that cause, once it is empty.
/// Cancel    both are cancellation points. An element whose hand-over lost against a cancel goes to `on_undelivered`,
///           with no lock held, so a resource in it is not leaked.
/// Threads   any.
/// Lifetime  its end cancels it: what waits in it goes to `on_undelivered`, senders get kClosed.
/// Source    kotlinx.coroutines Channel.
template <class T>
class Channel {
 public:
  explicit Channel(ChannelCapacity capacity = kRendezvous, UniqueFunction<void(T&&)> on_undelivered = nullptr)
      : state_(detail::ChannelRef<T>::make(capacity.elements, capacity.is_conflated, std::move(on_undelivered))) {}
  Channel(Channel&&) noexcept = default;
  Channel& operator=(Channel&&) = delete;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (state_) state_->cancel(nullptr);
  }

  [[nodiscard]] auto send(T element) const { return detail::SendAwaiter<T>(state_, std::move(element)); }
  TrySend try_send(T&& element) const { return state_->try_send(std::move(element)); }
  [[nodiscard]] auto receive() const { return detail::ReceiveAwaiter<T>(state_); }
  /// What waits now, or nothing; never suspends.
  [[nodiscard]] std::optional<T> try_receive() const { return state_->try_receive(); }
  [[nodiscard]] Sender<T> sender() const noexcept { return Sender<T>(state_); }

  /// No more elements are taken; those that wait are still received, parked sends included. False: closed already.
  bool close(std::exception_ptr cause = nullptr) const { return state_->close(std::move(cause)); }
  /// As close, but what waits is dropped to `on_undelivered`, and parked sends get kClosed.
  void cancel(std::exception_ptr cause = nullptr) const { state_->cancel(std::move(cause)); }
  [[nodiscard]] bool is_closed() const noexcept { return state_->is_closed(); }

 private:
  detail::ChannelRef<T> state_;
};

}  // namespace tenure
