// expect-error: the callable must return a Task
// A run on lent memory can't be launched: the frame that lends it would not wait (I16).
#include <tenure/session.hpp>

namespace tn = tenure;

tn::Task<void> lend(tn::Session session, std::vector<float>& in, std::vector<float>& out) {
  co_await session.run(tn::borrow(in), tn::borrow(out));
}

void use(const tn::Scope& scope, const tn::Session& session, std::vector<float>& in, std::vector<float>& out) {
#if defined(TENURE_CONTROL)
  scope.launch(lend, session, std::ref(in), std::ref(out));
#else
  scope.launch(session.run(tn::borrow(in), tn::borrow(out)));
#endif
}
