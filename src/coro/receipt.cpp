#include <tenure/coro/outcome.hpp>
#include <tenure/coro/receipt.hpp>

namespace tenure::detail {

Task<CancelReceipt> wait_for_receipt(ReceiptPtr receipt) {
  if (receipt == nullptr) {
    throw Error(ErrorCode::kFailedPrecondition, "this end left no native run behind, so there is no receipt of one");
  }
  Pending<CancelReceipt> pending(static_cast<Receipt&>(*receipt.get()));
  co_return co_await pending;
}

}  // namespace tenure::detail
