#include "cli/models.hpp"

#include <algorithm>
#include <system_error>
#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>

namespace tenure::cli {
namespace {

namespace fs = std::filesystem;

const KnownModel* known_by_file(const std::string& file) noexcept {
  for (const KnownModel& model : kKnownModels) {
    if (model.file == file) return &model;
  }
  return nullptr;
}

ModelFile look_at(std::string name, fs::path file, const KnownModel* known) {
  ModelFile model{.name = std::move(name), .file = std::move(file), .known = known};
  std::error_code error;
  // One that this user may not look at is there too; who opens it is told so.
  model.is_there = fs::status(model.file, error).type() != fs::file_type::not_found;
  const std::uintmax_t bytes = fs::file_size(model.file, error);
  if (!error) model.bytes = bytes;
  return model;
}

bool looks_like_a_path(const std::string& text) {
  std::error_code ignored;
  return text.find('/') != std::string::npos || fs::path(text).has_extension() || fs::exists(text, ignored);
}

/// What ends in .tflite is for the engine to verify; of anything else we say what it is.
void require_kind(const fs::path& file) {
  const std::vector<std::byte> start = read_file_start(file, 64);
  const std::string_view kind = kind_of_file(start);
  if (file.extension() == ".tflite" || kind == "a TFLite model") return;
  throw Error(ErrorCode::kInvalidArgument, "'" + file.string() + "' is " +
                                               (start.empty()  ? "empty"
                                                : kind.empty() ? "no model"
                                                               : std::string(kind)) +
                                               "; expected a TFLite model");
}

std::string names_of(const std::vector<ModelFile>& models) {
  std::string names;
  for (const ModelFile& model : models) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace

std::vector<ModelFile> list_models(const fs::path& cache) {
  const fs::path folder = cache / "models";
  std::vector<ModelFile> models;
  models.reserve(kKnownModels.size());
  for (const KnownModel& known : kKnownModels) {
    models.push_back(look_at(std::string(known.name), folder / known.file, &known));
  }
  std::vector<ModelFile> others;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (file.extension() != ".tflite" || known_by_file(file.filename().string()) != nullptr) continue;
    others.push_back(look_at(file.stem().string(), file, nullptr));
  }
  std::ranges::sort(others, {}, &ModelFile::name);
  models.insert(models.end(), others.begin(), others.end());
  return models;
}

ModelFile find_model(const fs::path& cache, const std::string& name_or_path) {
  const std::vector<ModelFile> models = list_models(cache);
  const auto found = std::ranges::find(models, name_or_path, &ModelFile::name);
  if (found != models.end()) return *found;
  if (looks_like_a_path(name_or_path)) {
    const fs::path file = name_or_path;
    ModelFile model = look_at(file.stem().string(), file, known_by_file(file.filename().string()));
    if (model.is_there) {
      require_kind(file);
      return model;
    }
    throw Error(ErrorCode::kNotFound, "there is no model file '" + name_or_path +
                                          "'; expected a .tflite file, or one of the names " + names_of(models));
  }
  throw Error(ErrorCode::kNotFound,
              "there is no model '" + name_or_path + "'; expected a path, or one of the names " + names_of(models));
}

}  // namespace tenure::cli
