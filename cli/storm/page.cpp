#include "cli/storm/page.hpp"

#include <random>

namespace tenure::cli {
namespace {

Inputs random_inputs(const ModelSignature& signature, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Inputs inputs;
  for (const TensorSpec& spec : signature.inputs) {
    Tensor tensor(spec);
    if (spec.type == ElementType::kFloat32) {
      std::uniform_real_distribution<float> values(0.0F, 1.0F);
      for (float& value : tensor.view<float>()) value = values(random);
    } else {
      for (std::byte& value : tensor.bytes()) value = static_cast<std::byte>(random());
    }
    inputs.add(std::move(tensor));
  }
  return inputs;
}

}  // namespace

Task<void> Page::live(Scope scope) {
  Task<Session> load = load_session(scope, plan_.model);
  Outcome<Session> loaded = co_await as_outcome(std::move(load));
  if (!loaded.has_value()) {
    has_failed_ = true;
    ++counts_.failed;
    if (counts_.first_failure.empty() && loaded.is_error()) counts_.first_failure = describe(loaded.error());
    co_return;
  }
  session_ = std::move(loaded).value();
  for (int i = 0; i < plan_.in_flight; ++i) scope.launch(&Page::keep_running, this);
}

Task<void> Page::keep_running() {
  // In this frame, so that it goes with it: what the caller is released from.
  struct Released {
    Page& page;
    ~Released() {
      if (page.left_at_) page.counts_.caller_release.add(std::chrono::steady_clock::now() - *page.left_at_);
    }
  } released{*this};
  Inputs& inputs = counts_.inputs[session_->name()];
  if (inputs.empty()) inputs = random_inputs(session_->signature(), plan_.seed);
  for (bool is_hasty = plan_.is_hasty;; is_hasty = false) {
    Inputs copy = inputs.clone();
    ++submitted_;
    Task<Outcome<Outputs>> run = run_once(std::move(copy), is_hasty);
    Outcome<Outputs> outcome = co_await std::move(run);
    ++delivered_;
    if (is_hasty && outcome.code() == ErrorCode::kDeadlineExceeded) continue;  // the next run must not feel it
    note_end(outcome);
    if (!outcome.has_value()) co_return;
    if (plan_.dwell > Duration{0}) co_await delay(plan_.dwell);
  }
}

Task<Outcome<Outputs>> Page::run_once(Inputs inputs, bool is_hasty) {
  constexpr Duration kHaste = std::chrono::microseconds(300);
  Task<Outputs> run = session_->run(std::move(inputs));
  if (is_hasty) co_return co_await as_outcome(with_timeout(kHaste, std::move(run)));
  co_return co_await as_outcome(std::move(run));
}

void Page::note_end(const Outcome<Outputs>& outcome) {
  if (outcome.has_value()) return;
  const std::optional<ErrorCode> code = outcome.code();
  if (code == ErrorCode::kResourceExhausted) {
    ++counts_.refused;
  } else if (code != ErrorCode::kClosed || !has_asked_to_close_) {
    has_failed_ = true;
    ++counts_.failed;
    if (counts_.first_failure.empty() && outcome.is_error()) counts_.first_failure = describe(outcome.error());
  }
}

Task<void> Page::await_the_moment() {
  if (plan_.wanted == LeftIn::kLoading) {
    co_await delay(plan_.moment);
    co_return;
  }
  while (delivered_ < 1 && !has_failed_) co_await delay(std::chrono::microseconds(200));
  if (!session_) co_return;
  switch (plan_.wanted) {
    case LeftIn::kDelivery:
      // Turn by turn, so that the turn in which a result waits to be delivered behind this one is not missed.
      for (int turn = 0; turn < 20'000 && !is_delivering(); ++turn) co_await yield_now();
      break;
    case LeftIn::kClosing:
      co_await delay(plan_.moment);
      has_asked_to_close_ = true;
      session_->request_close();
      break;
    default:
      co_await delay(plan_.moment);
      for (int turn = 0; turn < 2'000 && doing() != plan_.wanted; ++turn) co_await yield_now();
  }
}

bool Page::is_delivering() const noexcept {
  return submitted_ - delivered_ > session_->waiting() + session_->running();
}

LeftIn Page::doing() const noexcept {
  if (!session_) return LeftIn::kLoading;
  const SessionState state = session_->state();
  if (state == SessionState::kClosing || state == SessionState::kClosed) return LeftIn::kClosing;
  if (is_delivering()) return LeftIn::kDelivery;
  return session_->waiting() > 0 ? LeftIn::kQueued : LeftIn::kRunning;
}

void Page::note_left() noexcept {
  ++counts_.left_in[static_cast<std::size_t>(doing())];
  left_at_ = std::chrono::steady_clock::now();
}

}  // namespace tenure::cli
