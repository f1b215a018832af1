#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tenure/coro/scope.hpp>
#include <tenure/engine/engine.hpp>
#include <tenure/session/model_spec.hpp>
#include <tenure/session/session_state.hpp>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/tensor.hpp>

namespace tenure {

namespace detail {
class SessionCore;

/// A counted reference on a session's core; not one of the app's handles.
class SessionRef {
 public:
  SessionRef() = default;
  explicit SessionRef(SessionCore& core) noexcept;
  static SessionRef adopt(SessionCore& core) noexcept {
    SessionRef reference;
    reference.core_ = &core;
    return reference;
  }
  SessionRef(const SessionRef& other) noexcept;
  SessionRef(SessionRef&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  SessionRef& operator=(SessionRef other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~SessionRef();
  SessionCore* operator->() const noexcept { return core_; }
  SessionCore& operator*() const noexcept { return *core_; }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  SessionCore* core_ = nullptr;
};

}  // namespace detail

/// Memory that is lent to a run, not given: see Session::run on borrowed tensors.
template <class T>
struct Borrowed {
  std::span<T> memory;
};
template <class T>
[[nodiscard]] Borrowed<T> borrow(std::span<T> memory) noexcept {
  return Borrowed<T>{memory};
}
template <class T>
[[nodiscard]] Borrowed<T> borrow(std::vector<T>& memory) noexcept {
  return Borrowed<T>{std::span<T>(memory)};
}

class BorrowedRun;

/// What an app holds of a loaded model: a copyable, counted handle.
///
/// Returns   `run`: one Tensor per model output, in the order of `signature().outputs`. `close`: a task that ends when
///           all is released.
/// Errors    kClosed: the session is closing, or was closed by any handle. kInvalidArgument: names the tensor, and what
///           was given and expected. kResourceExhausted: `intake_bound` requests wait. kEngine: with the engine's own
///           code; the session serves the next request. kDeviceLost: the session has failed. kDeadlineExceeded: a native
///           call passed its hard limit, and the session is quarantined. kFailedPrecondition: in a child made by fork.
/// Cancel    of a request that waits: native code never sees it. In native code: its stop flag, and only its, is raised
///           where the engine can stop; else it runs to its end and its outputs are dropped. The caller is released at
///           once where the tensors were given, and when native code has let go where they were lent. See CancelReceipt.
/// Threads   any. Runs start by priority, then deadline, then order of submission.
/// Shapes    as the signature says; row-major, host memory.
/// Lifetime  belongs to the scope that it was loaded in, and ends with it; the last handle's end drains it: what was
///           accepted is finished, then contexts, instance and device lease go, in this order.
/// Source    the actor of kotlinx.coroutines; LiteRT CompiledModel::Run.
class Session {
 public:
  Session() = default;
  explicit Session(detail::SessionRef core) noexcept;
  Session(const Session& other) noexcept;
  Session(Session&& other) noexcept = default;
  Session& operator=(Session other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Session();

  // Overloads and not default arguments: `{}` in an expression that awaits is what g++ 12 destroys twice.
  [[nodiscard]] Task<Outputs> run(Inputs inputs) const;
  [[nodiscard]] Task<Outputs> run(Inputs inputs, RunOptions options) const;
  /// With the picture fitted to the model's first input; `range` is what its pixels are scaled to.
  [[nodiscard]] Task<Outputs> run(const Image& image) const;
  [[nodiscard]] Task<Outputs> run(const Image& image, ImageRange range) const;
  /// On memory that stays the caller's: for a model of one input and one output, or lists of both. Must be awaited in
  /// the expression that makes it.
  template <class In, class Out>
  [[nodiscard]] BorrowedRun run(Borrowed<In> input, Borrowed<Out> output) const;
  [[nodiscard]] BorrowedRun run(std::vector<std::span<const std::byte>> inputs,
                                std::vector<std::span<std::byte>> outputs) const;

  /// Closes the session for all of its handles: what waits ends with kClosed, what runs is asked to stop. Returns at
  /// once. Twice, or during another close, it changes nothing.
  void request_close() const noexcept;
  /// request_close(), and waits for the release. Errors: kDeadlineExceeded where it ended in quarantine.
  [[nodiscard]] Task<void> close() const;

  [[nodiscard]] const ModelSignature& signature() const noexcept;
  [[nodiscard]] Capabilities capabilities() const noexcept;
  [[nodiscard]] SessionState state() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept;
  /// Requests that wait for a lane.
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Requests that are in native code.
  [[nodiscard]] std::size_t running() const noexcept;
  explicit operator bool() const noexcept { return static_cast<bool>(core_); }

 private:
  friend class BorrowedRun;
  void require_loaded() const;
  detail::SessionRef core_;
};

}  // namespace tenure

#include <tenure/session/borrowed_run.hpp>
