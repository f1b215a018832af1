// expect-error: deleted
#include <tenure/coro.hpp>

namespace {

[[maybe_unused]] void copy(tenure::Owner& owner) {
#ifdef TENURE_CONTROL
  const tenure::Owner other = std::move(owner);
#else
  const tenure::Owner other = owner;
#endif
}

}  // namespace
