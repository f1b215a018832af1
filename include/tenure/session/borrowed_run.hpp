#pragma once

#include <tenure/session/session.hpp>

namespace tenure {

namespace detail {

class Request;

/// Parks the caller of a run until it is answered. The request is counted: the lane has it too.
class RequestAwaiter final : public CancelListener {
 public:
  RequestAwaiter(SessionRef core, Request& request, bool is_borrowing) noexcept
      : core_(std::move(core)), request_(&request), is_borrowing_(is_borrowing) {}
  RequestAwaiter(const RequestAwaiter&) = delete;
  RequestAwaiter& operator=(const RequestAwaiter&) = delete;
  ~RequestAwaiter();

  static bool await_ready() noexcept { return false; }
  template <TenurePromise P>
  Handle await_suspend(std::coroutine_handle<P> self) {
    return park(self.promise());
  }
  void await_resume();

 private:
  Handle park(PromiseBase& leaf);
  void on_cancel() noexcept override;

  SessionRef core_;
  Request* request_;
  JobNode* job_ = nullptr;
  bool is_borrowing_;
  bool is_resumed_ = false;
};

}  // namespace detail

/// A run on memory that stays the caller's. It can't be launched, stored or moved: only `co_await` takes it, in the
/// expression that makes it, so that the frame which lends the memory waits until native code has let go (I16).
class [[nodiscard]] BorrowedRun {
 public:
  BorrowedRun(Session session, std::vector<std::span<const std::byte>> inputs,
              std::vector<std::span<std::byte>> outputs) noexcept
      : session_(std::move(session)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  BorrowedRun(const BorrowedRun&) = delete;
  BorrowedRun& operator=(const BorrowedRun&) = delete;
  ~BorrowedRun() = default;

  [[nodiscard]] detail::RequestAwaiter operator co_await() &&;

 private:
  Session session_;
  std::vector<std::span<const std::byte>> inputs_;
  std::vector<std::span<std::byte>> outputs_;
};

template <class In, class Out>
BorrowedRun Session::run(Borrowed<In> input, Borrowed<Out> output) const {
  std::vector<std::span<const std::byte>> inputs{std::as_bytes(input.memory)};
  std::vector<std::span<std::byte>> outputs{std::as_writable_bytes(output.memory)};
  return run(std::move(inputs), std::move(outputs));
}

}  // namespace tenure
