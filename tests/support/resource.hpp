#pragma once

#include <atomic>
#include <utility>

namespace tenure::testing {

/// Where resources are counted. Threads: any.
struct ResourceCount {
  std::atomic<long> made{0};
  std::atomic<long> live{0};
};

/// A move-only thing that would be leaked where it is lost, and counts itself. Moved from, it is nothing.
class Resource {
 public:
  explicit Resource(ResourceCount& count, int number = 0) noexcept : count_(&count), number_(number) {
    count_->made.fetch_add(1);
    count_->live.fetch_add(1);
  }
  Resource(Resource&& other) noexcept : count_(std::exchange(other.count_, nullptr)), number_(other.number_) {}
  Resource& operator=(Resource&& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Resource() {
    if (count_ != nullptr) count_->live.fetch_sub(1);
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_here() const noexcept { return count_ != nullptr; }

 private:
  ResourceCount* count_;
  int number_;
};

}  // namespace tenure::testing
