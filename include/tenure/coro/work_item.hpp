#pragma once

#include <cstddef>
#include <utility>

namespace tenure {

/// Something a dispatcher runs once for each time that it is posted. Intrusive: posting allocates nothing.
///
/// Returns   `run()` nothing; it may destroy the item.
/// Errors    `run()` lets none out.
/// Cancel    an item that `is_unwinding()` runs no user code but destructors.
/// Threads   posted by one thread at a time; run by the dispatcher's.
/// Lifetime  lives until `run()`; it is in one queue at most.
class WorkItem {
 public:
  virtual void run() noexcept = 0;
  [[nodiscard]] virtual bool is_unwinding() const noexcept { return false; }
  /// Whether it unwinds `job`, or a job below that one.
  [[nodiscard]] virtual bool is_unwinding_under(const WorkItem&) const noexcept { return false; }
  /// The dispatcher has ceased to take work and hands the item to its fallback.
  virtual void refused() noexcept {}

 protected:
  WorkItem() = default;
  ~WorkItem() = default;
  WorkItem(const WorkItem&) = delete;
  WorkItem& operator=(const WorkItem&) = delete;

 private:
  friend class WorkQueue;
  WorkItem* next_in_queue_ = nullptr;
};

/// A first-in first-out queue of work items, linked through them.
class WorkQueue {
 public:
  WorkQueue() = default;
  WorkQueue(WorkQueue&& other) noexcept { append(other); }
  WorkQueue& operator=(WorkQueue&&) = delete;

  void push(WorkItem& item) noexcept {
    item.next_in_queue_ = nullptr;
    *(tail_ == nullptr ? &head_ : &tail_->next_in_queue_) = &item;
    tail_ = &item;
    ++size_;
  }
  void push_front(WorkItem& item) noexcept {
    item.next_in_queue_ = head_;
    head_ = &item;
    if (tail_ == nullptr) tail_ = &item;
    ++size_;
  }
  WorkItem* pop() noexcept {
    WorkItem* item = head_;
    if (item == nullptr) return nullptr;
    head_ = item->next_in_queue_;
    if (head_ == nullptr) tail_ = nullptr;
    --size_;
    return item;
  }
  /// Moves all of `other` to the end.
  void append(WorkQueue& other) noexcept {
    if (other.head_ == nullptr) return;
    *(tail_ == nullptr ? &head_ : &tail_->next_in_queue_) = other.head_;
    tail_ = other.tail_;
    size_ += std::exchange(other.size_, 0);
    other.head_ = nullptr;
    other.tail_ = nullptr;
  }
  /// Gives up all that it holds.
  [[nodiscard]] WorkQueue take_all() noexcept { return WorkQueue(std::move(*this)); }
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  WorkItem* head_ = nullptr;
  WorkItem* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tenure
