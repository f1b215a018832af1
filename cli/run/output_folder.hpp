#pragma once

#include <filesystem>
#include <tenure/tensor/tensor.hpp>
#include <vector>

namespace tenure::cli {

/// Where the outputs of a run go, one .npy file for each. What was begun and not kept is taken away again: a failure
/// leaves nothing behind.
///
/// Errors    kInvalidArgument: the folder is a file, or there is no permission. Else as write_npy.
class OutputFolder {
 public:
  /// Looks whether `folder` can be one, and makes nothing yet.
  explicit OutputFolder(std::filesystem::path folder);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  /// Returns the file of each tensor, in their order.
  std::vector<std::filesystem::path> write(const Outputs& outputs);
  void keep() noexcept { is_kept_ = true; }

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> made_;  // folders and files, in the order in which they came
  bool is_kept_ = false;
};

}  // namespace tenure::cli
