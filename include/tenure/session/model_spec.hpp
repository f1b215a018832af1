#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tenure/base/time.hpp>
#include <tenure/engine/engine.hpp>

namespace tenure {

/// Which model to load, and how its session behaves. A path alone is enough.
struct ModelSpec {
  ModelSpec() = default;
  ModelSpec(std::filesystem::path path) : file(std::move(path)) {}  // NOLINT(google-explicit-constructor)
  ModelSpec(const char* path) : file(path) {}                       // NOLINT(google-explicit-constructor)
  ModelSpec(std::string path) : file(std::move(path)) {}            // NOLINT(google-explicit-constructor)

  std::filesystem::path file;
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< a model in memory; `file` then only names it
  std::string engine;                                   ///< by name; empty: the first that recognises the file
  std::string device = "cpu";
  int threads = 1;         ///< of the engine, within one run
  int lanes = 1;           ///< runs at once, where the engine allows more than one
  bool stoppable = false;  ///< prefer kernels that can be stopped in mid-run, where they cost speed
  std::size_t intake_bound = std::numeric_limits<std::size_t>::max();  ///< how many requests may wait
  Duration hard_limit{0};                                              ///< of one native call, 0: the runtime's (5 s)
};

/// How one request is served.
struct RunOptions {
  int priority = 0;                       ///< higher first
  TimePoint deadline = TimePoint::max();  ///< sooner first, among those of one priority
};

}  // namespace tenure
