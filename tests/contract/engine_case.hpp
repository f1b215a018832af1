#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <tenure/engine/engine.hpp>
#include <tenure/engine/views.hpp>
#include <utility>
#include <vector>

namespace tenure::testing {

/// One engine, in one way of using it, that the contract suite is run on.
struct EngineCase {
  std::string name;
  std::function<std::shared_ptr<Engine>()> open;
  std::function<std::filesystem::path()> model;  ///< a good model file
  InstanceOptions options;
  Stops stops = Stops::kNever;
};

/// For GoogleTest, which else prints the bytes.
inline void PrintTo(const EngineCase& engine_case, std::ostream* out) { *out << engine_case.name; }

/// Where tools/fetch put engines and models.
inline std::filesystem::path cache_folder() {
  const char* chosen = std::getenv("TENURE_CACHE");
  return chosen != nullptr && *chosen != '\0' ? chosen : TENURE_DEFAULT_CACHE_DIR;
}

/// A loaded model with tensors for its runs; released in order by its destructor.
class Loaded {
 public:
  Loaded(Engine& engine, const ModelSource& source, const InstanceOptions& options)
      : device_(engine.open_device("cpu")) {
    StopSignal stop;
    instance_ = device_->load(source, options, stop);
    context_ = instance_->create_context();
    for (const TensorSpec& spec : instance_->signature().inputs) inputs.emplace_back(spec);
    for (const TensorSpec& spec : instance_->signature().outputs) outputs.emplace_back(spec);
    for (Tensor& input : inputs) {
      unsigned next = 1;
      if (input.spec().type != ElementType::kFloat32) continue;
      for (float& value : input.view<float>())
        value = static_cast<float>((next = next * 1103515245U + 12345U) >> 16U) / 65536.0F;
    }
  }

  RunEnd run(StopSignal& stop) { return run_on(*context_, stop); }
  RunEnd run_on(EngineContext& context, StopSignal& stop) {
    std::vector<ConstTensorView> input_views;
    std::vector<TensorView> output_views;
    for (const Tensor& input : inputs) input_views.push_back(view_of(input));
    for (Tensor& output : outputs) output_views.push_back(view_of(output));
    return context.run(input_views, output_views, stop);
  }
  [[nodiscard]] std::vector<std::byte> output_bytes() const {
    std::vector<std::byte> bytes;
    for (const Tensor& output : outputs) bytes.insert(bytes.end(), output.bytes().begin(), output.bytes().end());
    return bytes;
  }
  [[nodiscard]] EngineInstance& instance() { return *instance_; }
  [[nodiscard]] EngineContext& context() { return *context_; }

  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;

 private:
  std::unique_ptr<EngineDevice> device_;
  std::unique_ptr<EngineInstance> instance_;
  std::unique_ptr<EngineContext> context_;
};

}  // namespace tenure::testing
