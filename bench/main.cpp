#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "bench/benchmarks.hpp"

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "--help") {
    std::puts("tenure_bench [CACHE] [ROUNDS]: what sessions cost over the bare engine, as ratios within one run");
    return 0;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string cache = count > 1 ? arguments[1] : ".cache";
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 100;
  try {
    tenure::bench::session_overhead(cache, rounds);
    tenure::bench::owner_cancel(rounds * 4);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenure_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
