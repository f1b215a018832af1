#include "cli/context.hpp"

#include <cstdlib>
#include <system_error>
#include <tenure/base/error.hpp>

#ifdef TENURE_HAS_LITERT
#include "engines/litert/litert_engine.hpp"
#endif

namespace tenure::cli {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

#ifndef TENURE_HAS_LITERT
/// Stands for LiteRT in a build that was configured without its headers.
class AbsentEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "litert"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override {
    return {{.device = "cpu", .available = false, .reason = "this program was built without LiteRT's headers"}};
  }
  [[nodiscard]] bool recognises(const ModelSource&) const override { return true; }
  std::unique_ptr<EngineDevice> open_device(std::string_view) override {
    throw Error(ErrorCode::kUnavailable, devices().front().reason);
  }
  [[nodiscard]] NativeCounts native_counts() const noexcept override { return {}; }
};
#endif

}  // namespace

fs::path executable() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error(ErrorCode::kFailedPrecondition, "this program can't find its own file: " + error.message());
  return file;
}

fs::path Context::cache() const {
  if (!chosen_cache.empty()) return chosen_cache;
  const char* named = std::getenv("TENURE_CACHE");
  if (named != nullptr && *named != '\0') return named;
  fs::path built_with = TENURE_DEFAULT_CACHE_DIR;
  if (is_folder(built_with)) return built_with;
  const fs::path here = executable().parent_path();
  for (const fs::path& folder : {here / ".cache", here.parent_path() / "share" / "tenure"}) {
    if (is_folder(folder)) return folder;
  }
  return built_with;
}

const std::shared_ptr<Engine>& Context::engine() const {
  if (engine_ != nullptr) return engine_;
#ifdef TENURE_HAS_LITERT
  engine_ = open_litert(cache() / "engines" / "litert");
#else
  engine_ = std::make_shared<AbsentEngine>();
#endif
  return engine_;
}

void Context::require_engine() const {
  std::string reasons;
  for (const DeviceInfo& device : engine()->devices()) {
    if (device.available) return;
    if (reasons.find(device.reason) == std::string::npos) reasons += (reasons.empty() ? "" : "; ") + device.reason;
  }
  throw Error(ErrorCode::kUnavailable, "no engine can be used: " + reasons);
}

std::unique_ptr<Runtime> Context::make_runtime(RuntimeOptions options) const {
  require_engine();
  auto runtime = std::make_unique<Runtime>(std::move(options));
  runtime->add_engine(engine());
  return runtime;
}

ModelFile Context::model(const std::string& name_or_path) const {
  ModelFile model = find_model(cache(), name_or_path);
  if (model.is_there) return model;
  require_engine();  // nothing was fetched at all, then, and that is what to say
  throw Error(ErrorCode::kNotFound, "the model '" + name_or_path + "' is not in the cache: there is no '" +
                                        model.file.string() + "'; run tools/fetch/fetch, or name another cache with " +
                                        "--cache DIR or TENURE_CACHE");
}

}  // namespace tenure::cli
