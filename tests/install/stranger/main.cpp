// What someone sees who knows Tenure only as an installed package.
#include <tenure/base/error.hpp>

#include <cstdio>

int main() {
  try {
    throw tenure::Error(tenure::ErrorCode::kNotFound, "model 'face' was not found");
  } catch (const tenure::Error& error) {
    std::puts(error.what());
    return error.code() == tenure::ErrorCode::kNotFound ? 0 : 1;
  }
}
