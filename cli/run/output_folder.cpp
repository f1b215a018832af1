#include "cli/run/output_folder.hpp"

#include <algorithm>
#include <system_error>
#include <tenure/base/error.hpp>
#include <tenure/tensor/npy.hpp>

namespace tenure::cli {
namespace {

namespace fs = std::filesystem;

/// A model chooses its tensors' names, so they must not choose where a file goes.
std::string file_stem_of(const std::string& name, std::size_t index) {
  std::string stem = name;
  for (char& letter : stem) {
    const bool is_harmless = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                             (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
    if (!is_harmless) letter = '_';
  }
  constexpr std::size_t kLongest = 100;
  stem.resize(std::min(stem.size(), kLongest));
  if (stem.empty() || stem.front() == '.') stem = "output_" + std::to_string(index) + stem;
  return stem;
}

}  // namespace

OutputFolder::OutputFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code ignored;
  if (fs::exists(folder_, ignored) && !fs::is_directory(folder_, ignored)) {
    throw Error(ErrorCode::kInvalidArgument, "'" + folder_.string() + "' is a file; --output expects a folder");
  }
}

OutputFolder::~OutputFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) fs::remove(*path, ignored);
}

std::vector<fs::path> OutputFolder::write(const Outputs& outputs) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path path = fs::absolute(folder_).lexically_normal(); !path.empty() && !fs::exists(path, ignored);
       path = path.parent_path()) {
    missing.push_back(path);
  }
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    std::error_code error;
    fs::create_directory(*path, error);
    if (error) {
      throw Error(ErrorCode::kInvalidArgument, "the folder '" + path->string() + "' could not be made: " +
                                                   error.message() + "; expected a place that this user may write to");
    }
    made_.push_back(*path);
  }
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs.at(i);
    const std::string stem = file_stem_of(output.name(), i);
    fs::path file = folder_ / (stem + ".npy");
    if (std::ranges::find(files, file) != files.end()) file = folder_ / (stem + "_" + std::to_string(i) + ".npy");
    const bool is_new = !fs::exists(file, ignored);
    write_npy(file, output);
    if (is_new) made_.push_back(file);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace tenure::cli
