#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tenure/engine/engine.hpp>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/tensor.hpp>
#include <vector>

#include "cli/models.hpp"

namespace tenure::cli {

/// Where the inputs of a run come from; what stands in files has been read.
///
/// Returns   `make`: one tensor for each input of the model, in its order.
/// Errors    of the readers: those of read_image and read_npy. `make`: kInvalidArgument, which names the input, what
/// was
///           given and what is expected; kNotFound for an input that the model doesn't have.
class InputSource {
 public:
  [[nodiscard]] static InputSource from_image(const std::filesystem::path& file, const KnownModel* model);
  /// Each is NAME=FILE.npy; NAME= may be left out for a model of one input.
  [[nodiscard]] static InputSource from_arrays(const std::vector<std::string>& named_files);
  [[nodiscard]] static InputSource from_seed(std::uint64_t seed, const KnownModel* model);

  [[nodiscard]] Inputs make(const ModelSignature& signature) const;
  /// "the image photo.png", "random values of seed 1"
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  struct NamedArray {
    std::string name;  // empty where none was given
    std::filesystem::path file;
    Tensor tensor;
  };
  [[nodiscard]] Inputs make_from_image(const ModelSignature& signature) const;
  [[nodiscard]] Inputs make_from_arrays(const ModelSignature& signature) const;
  [[nodiscard]] Inputs make_from_seed(const ModelSignature& signature) const;

  std::string description_;
  ImageRange range_;
  ImageFit fit_ = ImageFit::kLetterbox;
  std::optional<Image> image_;
  std::vector<NamedArray> arrays_;
  std::uint64_t seed_ = 0;
};

}  // namespace tenure::cli
