#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <tenure/engine/engine.hpp>

#ifdef TENURE_HAS_LITERT
#include "engines/litert/known_models.hpp"
#include "engines/litert/litert_engine.hpp"
#endif

namespace tenure::testing {

inline std::filesystem::path engine_cache() {
  const char* chosen = std::getenv("TENURE_CACHE");
  return chosen != nullptr && *chosen != '\0' ? chosen : TENURE_DEFAULT_CACHE_DIR;
}

/// LiteRT, or null and a failed test: cases on a real engine are not skipped by accident. TENURE_ALLOW_NO_LITERT=1
/// says that its absence is meant.
inline std::shared_ptr<Engine> require_litert() {
  std::string reason = "this build has no LiteRT engine: its headers were not in the cache";
#ifdef TENURE_HAS_LITERT
  std::shared_ptr<Engine> engine = open_litert(engine_cache() / "engines" / "litert");
  if (engine->devices().front().available) return engine;
  reason = engine->devices().front().reason;
#endif
  if (std::getenv("TENURE_ALLOW_NO_LITERT") == nullptr) {
    ADD_FAILURE() << "LiteRT is not here: " << reason << ". Run tools/fetch/fetch, or set TENURE_ALLOW_NO_LITERT=1";
  }
  return nullptr;
}

/// The file of a model that tools/fetch brings, by its short name.
inline std::filesystem::path known_model([[maybe_unused]] std::string_view name) {
#ifdef TENURE_HAS_LITERT
  return engine_cache() / "models" / find_known_model(name)->file;
#else
  return {};
#endif
}

}  // namespace tenure::testing
