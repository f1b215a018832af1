// expect-error: no member named 'await_ready'|discards qualifiers
// A run on lent memory is awaited in the expression that makes it, not stored and awaited later.
#include <tenure/session.hpp>

namespace tn = tenure;

tn::Task<void> lend(tn::Session session, std::vector<float>& in, std::vector<float>& out) {
#if defined(TENURE_CONTROL)
  co_await session.run(tn::borrow(in), tn::borrow(out));
#else
  auto stored = session.run(tn::borrow(in), tn::borrow(out));
  co_await stored;
#endif
}
