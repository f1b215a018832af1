#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tenure/session.hpp>
#include <tenure/testing/fake_engine.hpp>
#include <thread>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif
#endif

namespace tenure::testing {

/// Tells the leak checker that what this runtime is made of will be kept on purpose: a call of it never comes back.
inline void will_be_kept([[maybe_unused]] const Runtime& runtime) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  __lsan_ignore_object(&runtime.ledger());
#endif
#endif
}

using Log = std::vector<std::string>;

/// The input of the fake engine's default signature.
inline Inputs some_inputs(float first = 1.0F) {
  Tensor x(TensorSpec{"x", ElementType::kFloat32, {1, 4}});
  x.view<float>()[0] = first;
  Inputs inputs;
  inputs.add(std::move(x));
  return inputs;
}

/// One run on given tensors; the default fake doubles what it gets.
inline Task<float> run_once(Session session, float value, RunOptions options = {}) {
  Inputs inputs = some_inputs(value);
  Outputs outputs = co_await session.run(std::move(inputs), options);
  co_return outputs["y"].view<float>()[0];
}

/// The same, begun in `scope`.
inline Deferred<float> begin_run(const Scope& scope, Session session, float value = 1.0F, RunOptions options = {}) {
  return scope.async(run_once, std::move(session), value, options);
}

/// One run on lent tensors.
inline Task<void> run_borrowed(Session session, std::vector<float>& in, std::vector<float>& out) {
  co_await session.run(borrow(in), borrow(out));
}

inline Task<void> close_session(Session session) { co_await session.close(); }
inline Task<void> close_within(Session session, Duration limit) {
  Task<void> closing = session.close();
  co_await with_timeout(limit, std::move(closing));
}
template <class T>
Task<T> await_deferred(Deferred<T> deferred) {
  co_return co_await deferred;
}

/// "value", "cancelled", or the code of the error: what a test compares.
template <class T>
std::string end_of(const Outcome<T>& outcome) {
  if (outcome.has_value()) return "value";
  if (outcome.is_cancelled()) return "cancelled";
  const auto code = outcome.code();
  return code ? std::string(to_string(*code)) : describe(outcome.error());
}

/// How a deferred result ended.
template <class World, class T>
std::string end_of(World& world, Deferred<T> deferred) {
  return end_of(world.run(await_deferred<T>, std::move(deferred)));
}

/// The states that a session has moved through, by the ledger.
inline Log moves_of(const Ledger& ledger, std::string_view session) {
  Log moves;
  for (const LedgerEvent& event : ledger.events()) {
    if (std::string_view(event.subject.data()) != session) continue;
    for (int state = 0; state <= static_cast<int>(SessionState::kQuarantined); ++state) {
      if (event.what == to_string(static_cast<SessionState>(state))) moves.emplace_back(event.what);
    }
  }
  return moves;
}

inline void expect_clean(const FakeEngine& engine) {
  const FakeReport report = engine.report();
  EXPECT_EQ(engine.native_counts(), NativeCounts{});
  EXPECT_EQ(report.runs_begun, report.runs_ended);
  EXPECT_EQ(report.out_of_order, 0U);
  EXPECT_EQ(report.thread_violations, 0U);
  EXPECT_EQ(report.overlapping_runs, 0U);
  EXPECT_EQ(report.touches_after_free, 0U);
}

inline void expect_empty(const Ledger& ledger) {
  const LedgerTotals totals = ledger.totals();
  EXPECT_EQ(totals.live, (std::array<std::int64_t, 3>{}));
  EXPECT_EQ(totals.bytes, 0U);
  EXPECT_EQ(totals.quarantined, 0);
  EXPECT_EQ(totals.out_of_order, 0U);
}

/// What every request that native code has seen came to: the ledger's account against the engine's.
inline void expect_runs_accounted(const Ledger& ledger, const FakeEngine& engine) {
  const RunTotals runs = ledger.runs();
  const auto cancelled = [&](CancelEffect effect) { return runs.cancelled[static_cast<std::size_t>(effect)]; };
  EXPECT_EQ(engine.report().runs_begun, runs.done + runs.failed + cancelled(CancelEffect::kStopped) +
                                            cancelled(CancelEffect::kDiscarded) +
                                            cancelled(CancelEffect::kQuarantined));
}

/// A thread that is no worker of a runtime, does one thing at a time, and is told when to begin.
class Accomplice {
 public:
  Accomplice()
      : thread_([this] {
          std::unique_lock lock(mutex_);
          while (true) {
            changed_.wait(lock, [&] { return work_ != nullptr || is_over_; });
            if (work_ == nullptr) return;
            const std::function<void()> work = std::exchange(work_, nullptr);
            lock.unlock();
            work();
            lock.lock();
            is_busy_ = false;
            changed_.notify_all();
          }
        }) {}
  ~Accomplice() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Accomplice(const Accomplice&) = delete;
  Accomplice& operator=(const Accomplice&) = delete;

  void begin(std::function<void()> work) {
    wait();
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    is_busy_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_busy_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool is_busy_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

/// A session handed from one thread to others.
class SharedSession {
 public:
  void put(Session session) {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  [[nodiscard]] Session take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(session_, Session());
  }
  [[nodiscard]] Session get() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }

 private:
  mutable std::mutex mutex_;
  Session session_;
};

}  // namespace tenure::testing
