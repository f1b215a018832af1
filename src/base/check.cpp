#include <cstdio>
#include <cstdlib>
#include <tenure/base/check.hpp>

namespace tenure::detail {

void check_failed(const char* condition, const char* message, std::source_location where) noexcept {
  std::fprintf(stderr, "tenure: broken contract: %s (%s) at %s:%u in %s\n", message, condition, where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::fflush(stderr);
  std::abort();
}

}  // namespace tenure::detail
