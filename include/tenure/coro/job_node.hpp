#pragma once

#include <cstdint>
#include <exception>

#include <tenure/base/atomic.hpp>
#include <tenure/base/cancel_receipt.hpp>
#include <tenure/base/lock.hpp>
#include <tenure/coro/dispatcher.hpp>
#include <tenure/coro/task.hpp>
#include <tenure/coro/timer_queue.hpp>

namespace tenure {

/// Where a job stands. The table; each row is walked by JobStatesTest.
///
/// | state       | body    | children | cancelled | goes to                                    |
/// |-------------|---------|----------|-----------|--------------------------------------------|
/// | kActive     | runs    | any      | no        | kCompleting, kCancelling, kCompleted        |
/// | kCompleting | ended   | some     | no        | kCompleted, kCancelling                     |
/// | kCancelling | any     | any      | yes       | kCancelled, kFailed, kCompleted (a body that |
/// |             |         |          |           | came to its value before it saw the cancel) |
/// | kCompleted  | value   | none     | any       | –                                           |
/// | kFailed     | any     | none     | yes       | –                                           |
/// | kCancelled  | unwound | none     | yes       | –                                           |
///
/// kCancelled is also the end of a body that had ended and then saw its children cut short, of one that threw after the
/// cancel (the error is reported), and of every owner. A cancel that comes after the end changes nothing.
enum class JobState : std::uint8_t { kActive, kCompleting, kCancelling, kCompleted, kFailed, kCancelled };

namespace detail {

/// What all jobs of one tree share. Lives in the runtime, which outlives its jobs.
class JobTree {
 public:
  JobTree(Dispatcher& default_dispatcher, TimerQueue& timers) noexcept
      : default_dispatcher(default_dispatcher), timers(timers) {}
  /// True in a child made by fork: none of the threads that run this tree exist there (I19).
  [[nodiscard]] bool is_inert() const noexcept { return os::fork_generation() != fork_generation_; }

  JobTree(const JobTree&) = delete;
  JobTree& operator=(const JobTree&) = delete;

  /// Takes an error that nobody awaits.
  virtual void report(const std::exception_ptr& error, const char* job_name) noexcept = 0;

  Dispatcher& default_dispatcher;
  TimerQueue& timers;
  /// Cancels that are on their way down this tree, see JobNode::cancel.
  Atomic<std::uint32_t> walks{0};
  void* host = nullptr;  ///< the runtime of a higher layer, for `Scope::load`

 private:
  const std::uint32_t fork_generation_ = os::fork_generation();

 protected:
  ~JobTree() = default;
};

/// A parked coroutine's entry in the list of what it waits for. Guarded by that list's lock.
struct Waiter {
  Waiter* next = nullptr;
  Waiter* previous = nullptr;
  JobNode* job = nullptr;
  bool linked = false;
};

class WaitList {
 public:
  void push(Waiter& waiter) noexcept {
    waiter.next = nullptr;
    waiter.previous = tail_;
    (tail_ == nullptr ? head_ : tail_->next) = &waiter;
    tail_ = &waiter;
    waiter.linked = true;
  }
  void remove(Waiter& waiter) noexcept {
    (waiter.previous == nullptr ? head_ : waiter.previous->next) = waiter.next;
    (waiter.next == nullptr ? tail_ : waiter.next->previous) = waiter.previous;
    waiter.linked = false;
  }
  Waiter* pop() noexcept {
    Waiter* waiter = head_;
    if (waiter != nullptr) remove(*waiter);
    return waiter;
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

 private:
  Waiter* head_ = nullptr;
  Waiter* tail_ = nullptr;
};

/// Waits for a job without a coroutine. Called once, on the thread that completes the job; it owns itself.
struct CompletionHandler : Waiter {
  virtual void on_completion() noexcept = 0;

 protected:
  ~CompletionHandler() = default;
};

/// Called once, synchronously, by whoever cancels the job, with no lock held; or never, once `remove_listener` has
/// returned. It must not wait or allocate (I7).
class CancelListener {
 public:
  virtual void on_cancel() noexcept = 0;

 protected:
  CancelListener() = default;
  ~CancelListener() = default;
  CancelListener(const CancelListener&) = delete;
  CancelListener& operator=(const CancelListener&) = delete;

 private:
  friend class JobNode;
  CancelListener* next_ = nullptr;
  CancelListener* previous_ = nullptr;
  bool linked_ = false;
  bool* removed_inside_ = nullptr;    // while it is called: where to say that it was removed by its own call
  Atomic<std::uint32_t> calling_{0};  // the number of the thread that is calling it
};

enum JobFlag : std::uint16_t {
  kSupervisor = 1,  // a child's error spares this job
  kShielded = 2,    // the parent's cancel does not come through
  kInline = 4,      // a scope: a frame of the parent job waits for it
  kBodyDone = 8,
  kSealed = 16,  // takes no children any more: completed, or about to run its epilogue
  kCompletedFlag = 32,
  kFailedFlag = 64,  // `error_` is an error of its own, not the cause of its cancellation
  kTimedOut = 128,
  kResource = 256,  // not work but something held: ended when the rest of its parent has ended
  kResourcesEnded = 512,
  kHasEpilogue = 1024,  // runs `epilogue()` on its dispatcher after the last child, before it completes
  kDeferred = 2048,     // under a supervisor its error is kept for who awaits it
  kBodyCancelled = 4096,
  kStuck = 16384,        // native code that borrows from a frame below did not come back: joining gives an error
  kResourceTold = 8192,  // on a resource: parent_ended() has been, or is being, called
};

/// One job of the tree. All rules on its fields are in docs/internals/invariants.md; the code is src/coro/job_*.cpp.
class JobNode : public WorkItem, public Link, public Recycled {
 public:
  enum class Step : std::uint8_t { kStart, kResume, kResumeAlways, kUnwind, kScopeDone, kEpilogue };

  JobNode(JobTree& tree, Dispatcher& dispatcher, std::uint16_t flags, const char* name) noexcept
      : flags_(flags), name_(name), tree_(&tree), dispatcher_(&dispatcher) {}
  virtual ~JobNode() = default;

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    // acq_rel: whoever deletes must see what every other holder wrote before it let go.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  [[nodiscard]] JobTree& tree() const noexcept { return *tree_; }
  [[nodiscard]] Dispatcher& dispatcher() const noexcept { return *dispatcher_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] JobNode* parent_job() const noexcept { return parent_job_; }
  [[nodiscard]] bool has(std::uint16_t flag) const noexcept {
    return (flags_.load(std::memory_order_acquire) & flag) != 0;
  }
  [[nodiscard]] bool is_cancelled() const noexcept {
    return (wait_word_.load(std::memory_order_acquire) & kCancelledBit) != 0;
  }
  [[nodiscard]] JobState state() noexcept;
  [[nodiscard]] std::exception_ptr error() noexcept;
  /// Its own error, or kAborted with the cause of its cancellation.
  [[nodiscard]] std::exception_ptr end_as_error() noexcept;

  // --- The suspended end of the job's chain of frames, and who may take it (I1, I4).
  /// `leaf` arms itself; from here on exactly one of claim() and a cancel takes it. False: the job is cancelled.
  [[nodiscard]] bool arm(PromiseBase& leaf) noexcept {
    leaf_ = &leaf;
    step_ = Step::kResume;
    std::uint32_t expected = 0;
    // release: the claimer must see leaf_, step_ and what the awaiter wrote; acquire: we must see a cancel's cause.
    return wait_word_.compare_exchange_strong(expected, kArmedBit, std::memory_order_acq_rel,
                                              std::memory_order_acquire);
  }
  /// As arm(), but a cancel does not take it: for waits that lend the frame's memory. Once claimed, a cancel that came
  /// meanwhile unwinds it.
  void arm_firm(PromiseBase& leaf) noexcept {
    leaf_ = &leaf;
    step_ = Step::kResume;
    wait_word_.fetch_or(kFirmBit, std::memory_order_acq_rel);
  }
  [[nodiscard]] bool claim() noexcept;
  /// After claim(), where the effect of the operation is visible to others: it resumes even if cancelled meanwhile.
  void resume_always() noexcept { step_ = Step::kResumeAlways; }
  void post() noexcept { dispatcher_->post(*this); }
  /// Suspends `leaf` and puts the job behind what is ready; `step` says whether a cancel is looked at again.
  void post_behind(PromiseBase& leaf, Step step) noexcept;
  /// Counts an operation that was ready; true when the coroutine should let others run first (trap of starvation).
  [[nodiscard]] bool spend_budget() noexcept { return ++budget_ == kBudget; }

  // --- The tree (job_tree.cpp).
  /// Makes `child` a child, with the tree's reference on it. False: this job takes none any more.
  [[nodiscard]] bool attach(JobNode& child) noexcept;
  void cancel(const std::exception_ptr& cause = nullptr) noexcept;
  /// Records an error of this job or of a child, and takes it as far up as it goes.
  void fail(const std::exception_ptr& error) noexcept;
  /// The body has ended; completes the job if nothing is left in it.
  void finish_body() noexcept;
  /// As finish_body() for an inline scope: true if it is complete, and the caller resumes the parent's chain itself.
  [[nodiscard]] bool finish_inline_body() noexcept;
  // acq_rel: who sees a flag sees what was written before it was set.
  void set_flag(std::uint16_t flag) noexcept { flags_.fetch_or(flag, std::memory_order_acq_rel); }
  /// Parks `waiter`, a frame of `leaf`, until the job is complete.
  enum class Park : std::uint8_t { kParked, kComplete, kCancelled };  // kComplete: or stuck
  [[nodiscard]] Park park_joiner(Waiter& waiter, PromiseBase& leaf) noexcept;
  void forget_joiner(Waiter& waiter) noexcept;
  /// Marks this job, and those above it up to its owner, as stuck in native code; who joins them is told.
  void mark_stuck() noexcept;
  /// Calls `handler` once the job is complete; false, and not called, where it is so already.
  [[nodiscard]] bool add_handler(CompletionHandler& handler) noexcept;
  [[nodiscard]] bool is_ancestor_of(const JobNode& other) const noexcept;

  // --- Listeners (job_cancel.cpp).
  /// Calls it at once where the job is cancelled already.
  void add_listener(CancelListener& listener) noexcept;
  /// After this it is not, and will not be, running; called from inside itself it does not wait.
  void remove_listener(CancelListener& listener) noexcept;

  /// Takes an error below this job that nobody awaits: goes up to an owner with a handler, else to the tree's.
  virtual void report(const std::exception_ptr& error, const char* job_name) noexcept {
    parent_job_ != nullptr ? parent_job_->report(error, job_name) : tree_->report(error, job_name);
  }
  /// Hands the receipt of a cancelled request to the time limit that the request ran under, if any.
  virtual void note_receipt(const ReceiptPtr& receipt) noexcept;

  void run() noexcept final;
  [[nodiscard]] bool is_unwinding() const noexcept final;
  [[nodiscard]] bool is_unwinding_under(const WorkItem& job) const noexcept final {
    return is_unwinding() && static_cast<const JobNode&>(job).is_ancestor_of(*this);
  }
  void refused() noexcept final { cancel(); }

 protected:
  /// Enters the body. Called on the job's dispatcher; a cancelled job is not entered.
  virtual void start() noexcept {}
  /// Drops what was kept for a body that will not be entered.
  virtual void drop_unstarted() noexcept {}
  /// The job is complete: its joiners are being told. The last call on the node by the tree.
  virtual void completed() noexcept {}
  /// For kHasEpilogue.
  virtual void epilogue() noexcept {}
  /// For kResource: the rest of the parent has ended.
  virtual void parent_ended() noexcept {}

  /// What resumes when an inline scope is complete: the parent's chain, or its unwinding.
  [[nodiscard]] Handle resume_parent() noexcept;
  [[nodiscard]] bool unwinds_parent() const noexcept;

 private:
  friend class CancelWalk;
  enum class Next : std::uint8_t { kNothing, kComplete, kEndResources, kEpilogue };

  static constexpr std::uint32_t kArmedBit = 1;
  static constexpr std::uint32_t kCancelledBit = 2;
  static constexpr std::uint32_t kFirmBit = 4;
  static constexpr std::uint8_t kBudget = 128;

  [[nodiscard]] Next what_is_next() noexcept TENURE_REQUIRES(lock_);
  [[nodiscard]] Next body_done() noexcept TENURE_EXCLUDES(lock_);
  [[nodiscard]] Next detach(JobNode& child) noexcept TENURE_EXCLUDES(lock_);
  void end_resources() noexcept TENURE_EXCLUDES(lock_);
  void post_epilogue() noexcept;
  void run_epilogue() noexcept;
  /// Carries out `next` for `job`, then goes up the tree as long as parents complete: a loop, no recursion (I6).
  static void advance(JobNode* job, Next next, const JobNode* inline_scope) noexcept;
  void cancel_children_of_failed() noexcept;
  /// Runs what is queued on `here`, the calling thread's dispatcher, to unwind jobs under this one (I8).
  void run_unwinding(Dispatcher& here) noexcept;
  void tell_joiners() noexcept;
  void wake_joiners(WaitList& handlers) noexcept;
  void call_listeners() noexcept;
  void unlink_listener(CancelListener& listener) noexcept TENURE_REQUIRES(lock_);

  Atomic<std::uint32_t> wait_word_{0};
  Atomic<std::uint32_t> references_{1};
  Lock lock_;
  Atomic<std::uint16_t> flags_;
  Step step_ = Step::kStart;
  std::uint8_t budget_ = 0;
  std::uint32_t resource_count_ TENURE_GUARDED_BY(lock_) = 0;
  std::uint32_t child_count_ TENURE_GUARDED_BY(lock_) = 0;
  const char* name_;
  JobTree* tree_;
  Dispatcher* dispatcher_;
  PromiseBase* leaf_ = nullptr;
  JobNode* parent_job_ = nullptr;
  JobNode* previous_sibling_ = nullptr;  // guarded by the parent's lock, as the next one
  JobNode* next_sibling_ = nullptr;
  JobNode* first_child_ TENURE_GUARDED_BY(lock_) = nullptr;
  JobNode* cancel_cursor_ TENURE_GUARDED_BY(lock_) = nullptr;  // the next child that a cancel in progress looks at
  JobNode* next_in_walk_ = nullptr;                            // owned by the one cancel that won this job
  bool taken_by_walk_ = false;
  Atomic<CancelListener*> listeners_{nullptr};
  WaitList joiners_ TENURE_GUARDED_BY(lock_);
  std::exception_ptr error_ TENURE_GUARDED_BY(lock_);
};

/// A counted handle on a node.
class JobRef {
 public:
  JobRef() = default;
  explicit JobRef(JobNode* node) noexcept : node_(node) {
    if (node_ != nullptr) node_->ref();
  }
  /// Takes over a reference that the caller holds.
  static JobRef adopt(JobNode* node) noexcept {
    JobRef handle;
    handle.node_ = node;
    return handle;
  }
  JobRef(const JobRef& other) noexcept : JobRef(other.node_) {}
  JobRef(JobRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  JobRef& operator=(JobRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~JobRef() {
    if (node_ != nullptr) node_->unref();
  }
  [[nodiscard]] JobNode* get() const noexcept { return node_; }
  JobNode* operator->() const noexcept { return node_; }
  explicit operator bool() const noexcept { return node_ != nullptr; }

 private:
  JobNode* node_ = nullptr;
};

}  // namespace detail
}  // namespace tenure
