#include <tenure/coro/timer_queue.hpp>
#include <utility>

namespace tenure {

TimerNode* TimerQueue::meld(TimerNode* a, TimerNode* b) noexcept {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (b->at_ < a->at_) std::swap(a, b);
  b->previous_ = a;
  b->next_ = a->first_child_;
  if (b->next_ != nullptr) b->next_->previous_ = b;
  a->first_child_ = b;
  return a;
}

TimerNode* TimerQueue::meld_siblings(TimerNode* first) noexcept {
  TimerNode* pairs = nullptr;  // pairs, melded left to right, in a list that runs right to left
  while (first != nullptr) {
    TimerNode* a = first;
    TimerNode* b = a->next_;
    first = b == nullptr ? nullptr : b->next_;
    a->next_ = a->previous_ = nullptr;
    if (b != nullptr) b->next_ = b->previous_ = nullptr;
    TimerNode* melded = meld(a, b);
    melded->next_ = pairs;
    pairs = melded;
  }
  TimerNode* root = nullptr;
  while (pairs != nullptr) {
    TimerNode* pair = std::exchange(pairs, pairs->next_);
    pair->next_ = nullptr;
    root = meld(root, pair);
  }
  return root;
}

void TimerQueue::unlink(TimerNode& node) noexcept {
  TimerNode* children = meld_siblings(std::exchange(node.first_child_, nullptr));
  if (&node == root_) {
    root_ = children;
  } else {
    (node.previous_->first_child_ == &node ? node.previous_->first_child_ : node.previous_->next_) = node.next_;
    if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
    root_ = meld(root_, children);
  }
  node.next_ = node.previous_ = nullptr;
  node.queued_ = false;
}

bool TimerQueue::add(TimerNode& node, TimePoint at) noexcept {
  bool is_soonest = false;
  {
    const LockGuard guard(lock_);
    if (!node.arm()) return false;
    node.at_ = at;
    node.queued_ = true;
    root_ = meld(root_, &node);
    is_soonest = root_ == &node;
  }
  if (is_soonest) sooner();
  return true;
}

bool TimerQueue::remove(TimerNode& node) noexcept {
  const LockGuard guard(lock_);
  if (!node.queued_) return false;
  unlink(node);
  return true;
}

void TimerQueue::fire_due(TimePoint now) noexcept {
  while (true) {
    TimerNode* due = nullptr;
    {
      const LockGuard guard(lock_);
      while (root_ != nullptr && root_->at_ <= now) {
        TimerNode& node = *root_;
        unlink(node);
        if (node.claim()) {
          due = &node;
          break;
        }
      }
    }
    if (due == nullptr) return;
    due->fire();  // what it fires may be gone now
  }
}

TimePoint TimerQueue::next_at() noexcept {
  const LockGuard guard(lock_);
  return root_ == nullptr ? kNever : root_->at_;
}

}  // namespace tenure
