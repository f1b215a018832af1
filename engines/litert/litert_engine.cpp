#include "engines/litert/litert_engine.hpp"

#include <tenure/base/error.hpp>
#include <tenure/base/file.hpp>

#include "engines/litert/litert_device.hpp"

namespace tenure {
namespace {

constexpr std::string_view kName = "litert";
constexpr std::string_view kGpuReason = "Tenure drives LiteRT on the CPU only; the GPU accelerator is not wired up yet";

bool looks_like_tflite(const ModelSource& source) {
  if (source.file.extension() == ".tflite") return true;
  try {
    const std::vector<std::byte> start =
        source.bytes != nullptr
            ? std::vector<std::byte>(
                  source.bytes->begin(),
                  source.bytes->begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(16, source.bytes->size())))
            : read_file_start(source.file, 16);
    return kind_of_file(start) == "a TFLite model";
  } catch (const Error&) {
    return false;
  }
}

class LiteRtEngine final : public Engine {
 public:
  explicit LiteRtEngine(const std::filesystem::path& folder) {
    try {
      library_ = litert::LiteRtLibrary::open(folder);
    } catch (const Error& error) {
      reason_ = error.message();
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return kName; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override {
    return {{.device = "cpu", .available = library_ != nullptr, .reason = reason_},
            {.device = "gpu", .available = false, .reason = library_ != nullptr ? std::string(kGpuReason) : reason_}};
  }
  [[nodiscard]] bool recognises(const ModelSource& source) const override { return looks_like_tflite(source); }
  std::unique_ptr<EngineDevice> open_device(std::string_view device) override {
    if (device != "cpu" && device != "gpu") {
      throw Error(ErrorCode::kNotFound, "LiteRT has no device '" + std::string(device) + "'; there are cpu, gpu");
    }
    if (library_ == nullptr) throw Error(ErrorCode::kUnavailable, "LiteRT is not here: " + reason_);
    if (device == "gpu") throw Error(ErrorCode::kUnavailable, std::string(kGpuReason));
    return std::make_unique<litert::LiteRtDevice>(library_);
  }
  [[nodiscard]] NativeCounts native_counts() const noexcept override {
    if (library_ == nullptr) return {};
    return {.devices = library_->environments.load(),
            .instances = library_->compiled_models.load(),
            .contexts = library_->buffer_sets.load()};
  }

 private:
  std::shared_ptr<litert::LiteRtLibrary> library_;
  std::string reason_;
};

}  // namespace

std::shared_ptr<Engine> open_litert(const std::filesystem::path& library_folder) {
  return std::make_shared<LiteRtEngine>(library_folder);
}

}  // namespace tenure
