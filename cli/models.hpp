#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engines/litert/known_models.hpp"

namespace tenure::cli {

/// A model that the command line can name.
struct ModelFile {
  std::string name;
  std::filesystem::path file;
  const KnownModel* known = nullptr;  ///< null for one that only its file tells of
  bool is_there = false;
  std::uintmax_t bytes = 0;
};

/// The known models, then what else the cache has, by name.
[[nodiscard]] std::vector<ModelFile> list_models(const std::filesystem::path& cache);

/// The model of a short name, which may be missing in the cache, or of a path. Errors: kNotFound, which says what names
/// exist; kInvalidArgument where the path leads to something else.
[[nodiscard]] ModelFile find_model(const std::filesystem::path& cache, const std::string& name_or_path);

}  // namespace tenure::cli
