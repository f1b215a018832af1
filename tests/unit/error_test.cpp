#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <tenure/base/check.hpp>
#include <tenure/base/error.hpp>

namespace tenure {
namespace {

template <class E>
std::exception_ptr thrown(E error) {
  return std::make_exception_ptr(std::move(error));
}

TEST(ErrorTest, SaysCodeMessageAndTheEnginesOwnCode) {
  const Error plain(ErrorCode::kNotFound, "no model 'face'");
  EXPECT_STREQ(plain.what(), "not_found: no model 'face'");
  EXPECT_EQ(plain.engine_code(), 0);
  const Error engine(ErrorCode::kEngine, "the run failed", 3);
  EXPECT_STREQ(engine.what(), "engine: the run failed (engine code 3)");
  EXPECT_EQ(engine.engine_code(), 3);
  EXPECT_EQ(engine.message(), "the run failed");
}

TEST(ErrorTest, KnowsWhereItWasMade) {
  const Error error(ErrorCode::kInternal, "here");
  EXPECT_NE(std::string(error.where().file_name()).find("error_test.cpp"), std::string::npos);
}

TEST(ErrorTest, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  const int count = static_cast<int>(ErrorCode::kInternal) + 1;
  for (int code = 0; code < count; ++code) names.emplace(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(names.count("unknown"), 0U);
}

TEST(ErrorTest, DescribeWalksTheChainOfCauses) {
  const std::exception_ptr root = thrown(std::runtime_error("disk gone"));
  const std::exception_ptr middle = thrown(Error(ErrorCode::kDataLoss, "half a file", root));
  const std::exception_ptr top = thrown(Error(ErrorCode::kAborted, "load ended", middle));
  EXPECT_EQ(describe(top), "aborted: load ended: caused by data_loss: half a file: caused by disk gone");
}

TEST(ErrorTest, DescribeTakesForeignExceptionsAndNone) {
  EXPECT_EQ(describe(nullptr), "no error");
  EXPECT_EQ(describe(thrown(std::runtime_error("foreign"))), "foreign");
  EXPECT_EQ(describe(std::make_exception_ptr(7)), "an exception that is no std::exception");
}

TEST(CheckDeathTest, SaysWhatWasBrokenAndAborts) {
  const int three = 3;
  TENURE_CHECK(three == 3, "arithmetic holds");
  EXPECT_DEATH(TENURE_CHECK(three == 4, "a lease is still out"), "a lease is still out .three == 4. at .*error_test");
}

}  // namespace
}  // namespace tenure
