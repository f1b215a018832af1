#pragma once

#include <memory>

#include <tenure/base/cancel_receipt.hpp>
#include <tenure/coro/completable_deferred.hpp>

namespace tenure::detail {

/// The receipt of one cancel, on its way: whoever has it may wait until all is quiet.
class ReceiptState {
 public:
  void complete(const CancelReceipt& receipt) noexcept { result_.complete(receipt); }
  [[nodiscard]] Pending<CancelReceipt> pending() const noexcept { return result_.pending(); }

 private:
  CompletableDeferred<CancelReceipt> result_;
};

}  // namespace tenure::detail
