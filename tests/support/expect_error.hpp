#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <tenure/base/error.hpp>
#include <utility>

namespace tenure::testing {

/// Calls, and fails the test unless an Error of `code` comes whose message holds each of `parts`.
template <class Call, class... Parts>
void expect_error(ErrorCode code, Call&& call, Parts... parts) {
  try {
    std::forward<Call>(call)();
    ADD_FAILURE() << "nothing was thrown; expected " << to_string(code);
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    for (const std::string_view part : std::initializer_list<std::string_view>{parts...}) {
      EXPECT_NE(error.message().find(part), std::string::npos) << "no '" << part << "' in: " << error.what();
    }
  }
}

}  // namespace tenure::testing
