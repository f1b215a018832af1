#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engines/fake/fake_engine.hpp"

namespace tenure::testing {

/// Memory that its owner may free under a writer. It only counts that, so that the fault is seen and does no harm.
struct Buffer {
  std::atomic<bool> is_freed{false};
  std::atomic<int> writes_after_free{0};
  std::vector<float> in = std::vector<float>(4, 1.0F);
  std::vector<float> out = std::vector<float>(4);
  void write() {
    if (is_freed) ++writes_after_free;
  }
};

/// A call's answer: once, and from any thread. "none" for as long as there is none.
class Answer {
 public:
  void give(std::string end) {
    const std::lock_guard lock(mutex_);
    if (end_.empty()) end_ = std::move(end);
    changed_.notify_all();
  }
  [[nodiscard]] std::string within(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return !end_.empty(); });
    return end_.empty() ? "none" : end_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string end_;
};

/// The usual Kotlin recipe, line by line: an actor over a channel, in a scope of `parentContext + SupervisorJob()`, with a
/// "cancelled" flag and a `release()` that joins the actor. Its faults are kept; only its destructor, which the recipe
/// does not have, cleans up so that a test can go on.
class RecipeSession {
 public:
  struct Call {
    std::shared_ptr<Answer> answer = std::make_shared<Answer>();
    std::shared_ptr<Buffer> buffer = std::make_shared<Buffer>();
  };

  // `parentContext + SupervisorJob()`: the new job replaces the parent's, so the owner does not know of this child.
  RecipeSession(FakeEngine& engine, const std::vector<std::function<void()>>& /*children_of_owner*/)
      : device_(engine.open_device("cpu")) {
    ModelSource source;
    source.file = "model.fake";
    StopSignal stop;
    instance_ = device_->load(source, {}, stop);
    context_ = instance_->create_context();
    actor_ = std::thread([this] { act(); });
  }
  RecipeSession(const RecipeSession&) = delete;
  RecipeSession& operator=(const RecipeSession&) = delete;
  ~RecipeSession() {
    {
      const std::lock_guard lock(mutex_);
      is_test_over_ = true;
    }
    changed_.notify_all();
    actor_.join();
  }

  /// suspend fun run(input): intake.send(Request(input)); return request.answer.await()
  Call run() {
    Call call;
    const std::lock_guard lock(mutex_);
    intake_.push_back(call);
    changed_.notify_all();
    return call;
  }
  /// What a cancel of the caller does: its await throws, and its buffer is its own again. The actor is not told.
  static void cancel_caller(const Call& call) {
    call.answer->give("cancelled");
    call.buffer->is_freed = true;
  }
  /// @Volatile var cancelled = false; fun cancel() { cancelled = true }
  void cancel() { is_cancelled_ = true; }
  /// suspend fun release() { actorJob.join(); … }: the intake is not closed, so the actor's loop never ends.
  [[nodiscard]] bool release_within(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return is_actor_over_; });
  }
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return intake_.size();
  }

 private:
  // for (request in intake) request.answer.complete(engine.run(request.input))
  void act() {
    try {
      while (const std::optional<Call> call = receive()) {
        run_native(*call);
        call->answer->give(is_cancelled_ ? "cancelled" : "value");
      }
    } catch (const Error&) {  // the actor's job has failed; nobody answers the callers
    }
    const std::lock_guard lock(mutex_);
    is_actor_over_ = true;
    changed_.notify_all();
  }
  std::optional<Call> receive() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_test_over_ || !intake_.empty(); });
    if (is_test_over_) return std::nullopt;
    Call call = intake_.front();
    intake_.pop_front();
    return call;
  }
  void run_native(const Call& call) {
    StopSignal nobody_raises_this;
    const TensorSpec x{"x", ElementType::kFloat32, {1, 4}};
    const TensorSpec y{"y", ElementType::kFloat32, {1, 4}};
    const std::vector<ConstTensorView> inputs{{&x, std::as_bytes(std::span<const float>(call.buffer->in))}};
    const std::vector<TensorView> outputs{{&y, std::as_writable_bytes(std::span<float>(call.buffer->out))}};
    context_->run(inputs, outputs, nobody_raises_this);
    call.buffer->write();  // the fake writes late: at the end of its run
  }

  std::unique_ptr<EngineDevice> device_;
  std::unique_ptr<EngineInstance> instance_;
  std::unique_ptr<EngineContext> context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> intake_;
  std::atomic<bool> is_cancelled_{false};
  bool is_actor_over_ = false;
  bool is_test_over_ = false;
  std::thread actor_;
};

}  // namespace tenure::testing
