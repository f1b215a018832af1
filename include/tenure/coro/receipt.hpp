#pragma once

#include <tenure/base/cancel_receipt.hpp>
#include <tenure/coro/completable_deferred.hpp>

namespace tenure::detail {

/// The receipt of one cancel, on its way: whoever has it may wait until all is quiet.
class Receipt final : public PromiseState<CancelReceipt>, public ReceiptState {
 public:
  void ref() noexcept override { PromiseStateBase::ref(); }
  void unref() noexcept override { PromiseStateBase::unref(); }
};

}  // namespace tenure::detail
