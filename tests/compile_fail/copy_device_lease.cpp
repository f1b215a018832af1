// expect-error: deleted (constructor|function)
// A lease is the right to use a device: it moves, and is never there twice.
#include <tenure/resource/tiers.hpp>

tenure::DeviceLease take(tenure::DeviceLease& lease) {
#if defined(TENURE_CONTROL)
  return std::move(lease);
#else
  return lease;
#endif
}
