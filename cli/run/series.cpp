#include "cli/run/series.hpp"

namespace tenure::cli {
namespace {

/// What became of a run whose time was up; one that no lane had seen yet has no receipt, and was dropped.
Task<CancelReceipt> receipt_of(Outcome<Outputs> outcome) {
  Task<CancelReceipt> receipt = outcome.receipt();
  Outcome<CancelReceipt> told = co_await as_outcome(std::move(receipt));
  if (told.code() == ErrorCode::kFailedPrecondition) co_return CancelReceipt{};
  co_return std::move(told).value();
}

Task<void> run_once(Scope scope, Session session, Inputs inputs, std::optional<Duration> limit, Series* series) {
  const TimePoint begin = scope.now();
  Task<Outputs> run = session.run(std::move(inputs));
  if (!limit) {
    series->outputs = co_await std::move(run);
    series->times.push_back(scope.now() - begin);
    co_return;
  }
  Outcome<Outputs> outcome = co_await as_outcome(with_timeout(*limit, std::move(run)));
  const Duration took = scope.now() - begin;
  if (outcome.code() == ErrorCode::kDeadlineExceeded) {
    Task<CancelReceipt> receipt = receipt_of(std::move(outcome));
    series->receipts.push_back(co_await std::move(receipt));
    co_return;
  }
  series->outputs = std::move(outcome).value();
  series->times.push_back(took);
}

std::string device_of(const Ledger& ledger) {
  for (const LedgerEntry& entry : ledger.entries()) {
    if (entry.tier == Tier::kDevice) return entry.name;
  }
  return {};
}

}  // namespace

Task<Series> run_series(Scope scope, SeriesPlan plan, const Ledger* ledger, Progress* progress) {
  Series series;
  const TimePoint begin = scope.now();
  const Session session = co_await scope.load(plan.spec);
  series.load_time = scope.now() - begin;
  series.signature = session.signature();
  series.capabilities = session.capabilities();
  series.device = device_of(*ledger);
  const Inputs inputs = plan.source->make(series.signature);
  for (int done = 0; done < plan.repeat; ++done) {
    progress->show(static_cast<std::size_t>(done));
    Task<void> run = run_once(scope, session, inputs.clone(), plan.limit, &series);
    co_await std::move(run);
  }
  co_return series;
}

}  // namespace tenure::cli
