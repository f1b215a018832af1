#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <tenure/session.hpp>

namespace tenure::cli {

/// The storm as it is usually written, over the bare engine: a thread pool, a flag for "cancelled" that native code never
/// sees, and a destructor that frees the interpreter at once. It is meant to die; where it does not, it says how many
/// pages it got through.
std::uint64_t run_naive_storm(const std::vector<ModelSpec>& models, Engine& engine, std::uint64_t pages,
                              std::uint64_t seed, const std::function<void(double)>& progress);

}  // namespace tenure::cli
