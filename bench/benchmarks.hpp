#pragma once

#include <string>

namespace tenure::bench {

/// Each prints its own lines. `rounds` is how many pairs, or samples, it takes.
void session_overhead(const std::string& cache, int rounds);
void owner_cancel(int rounds);

}  // namespace tenure::bench
