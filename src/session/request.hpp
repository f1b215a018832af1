#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <tenure/coro/receipt.hpp>
#include <tenure/engine/engine.hpp>
#include <tenure/session/model_spec.hpp>

namespace tenure::detail {

class Request;

/// What is to be done for a request once no lock is held (I9).
struct Reply {
  JobNode* to_resume = nullptr;
  JobRef to_mark_stuck;
  std::optional<CancelReceipt> to_complete;
  Request* request = nullptr;
  Reply* next = nullptr;
};

/// Why a reply is due. A close, a quarantine and the end of the native call may come from three threads at once, so each
/// has a reply of its own.
enum class Because : std::uint8_t { kEnded, kClosed, kQuarantined };

/// One run, from its submission to its answer. Counted by the caller's awaiter and by the intake or the lane. What is
/// not constant is guarded by the session's lock, but for the tensors: these are the lane's while it runs.
class Request : public Recycled {
 public:
  enum class Phase : std::uint8_t { kNew, kQueued, kRunning, kEnded };

  Request() : receipt_(*new Receipt) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes, and frees the tensors, sees that the other one has let go.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  [[nodiscard]] Receipt& receipt() noexcept { return receipt_; }
  [[nodiscard]] ReceiptPtr share_receipt() noexcept {
    receipt_.ref();
    return ReceiptPtr::adopt(receipt_);
  }

  // Constant once submitted.
  bool is_borrowing = false;
  RunOptions options;
  std::uint64_t sequence = 0;

  // The tensors: given ones lie here, lent ones are seen through the views only.
  Inputs inputs;
  Outputs outputs;
  std::vector<ConstTensorView> input_views;
  std::vector<TensorView> output_views;

  StopSignal stop;  // of this run, and only of this (I12)

  // Under the session's lock.
  Phase phase = Phase::kNew;
  bool is_answered = false;   // exactly once (I15)
  bool is_cancelled = false;  // by its caller, or by a close
  bool is_quarantined = false;
  TimePoint cancelled_at;
  JobNode* waiting_job = nullptr;
  std::exception_ptr error;
  Request* previous = nullptr;
  Request* next = nullptr;
  Request* next_abandoned = nullptr;
  std::array<Reply, 3> replies;  // by Because

 private:
  ~Request() { receipt_.unref(); }
  Atomic<std::uint32_t> references_{1};
  Receipt& receipt_;
};

/// Replies, collected under the session's lock and sent with none held.
class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() { send(); }
  /// The one reply of its kind.
  Reply& add(Request& request, Because reason) noexcept {
    Reply& reply = request.replies[static_cast<std::size_t>(reason)];
    request.ref();
    reply.request = &request;
    reply.next = first_;
    first_ = &reply;
    return reply;
  }
  void send() noexcept;

 private:
  Reply* first_ = nullptr;
};

/// The waiting requests of a session: by priority, then deadline, then submission. Under the session's lock.
class Intake {
 public:
  void push(Request& request) noexcept;
  void remove(Request& request) noexcept;
  Request* pop() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  Request* first_ = nullptr;
  Request* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tenure::detail
