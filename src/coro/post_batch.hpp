#pragma once

#include <tenure/coro/job_node.hpp>

namespace tenure::detail {

/// Jobs to be posted, collected under locks and posted with none held (I9): runs of one dispatcher go in one call.
class PostBatch {
 public:
  PostBatch() = default;
  PostBatch(const PostBatch&) = delete;
  PostBatch& operator=(const PostBatch&) = delete;
  ~PostBatch() { flush(); }

  void add(JobNode& job) noexcept { items_.push(job); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

  void flush() noexcept {
    WorkQueue run;
    Dispatcher* dispatcher = nullptr;
    while (WorkItem* item = items_.pop()) {
      Dispatcher& wanted = static_cast<JobNode*>(item)->dispatcher();
      if (dispatcher != nullptr && dispatcher != &wanted) dispatcher->post_all(run.take_all());
      dispatcher = &wanted;
      run.push(*item);
    }
    if (dispatcher != nullptr) dispatcher->post_all(run.take_all());
  }

 private:
  WorkQueue items_;
};

}  // namespace tenure::detail
