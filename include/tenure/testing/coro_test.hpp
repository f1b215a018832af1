#pragma once

#include <gtest/gtest.h>

#include <tenure/testing/coro_world.hpp>

/// A test whose body is a coroutine. It runs in a CoroWorld, `world`, as a child of its root with `scope`, to its end;
/// an error that it throws, a cancellation and a hang are failures. Use ASSERT_* only in plain functions.
#define CORO_TEST(suite, name)                                                                                   \
  static ::tenure::Task<void> suite##_##name##_body(::tenure::Scope scope, ::tenure::testing::CoroWorld& world); \
  TEST(suite, name) {                                                                                            \
    ::tenure::testing::CoroWorld world;                                                                          \
    SCOPED_TRACE("TENURE_SEED=" + std::to_string(world.dispatcher().seed()));                                    \
    auto outcome = world.run(&suite##_##name##_body, std::ref(world));                                           \
    if (outcome.is_error()) ADD_FAILURE() << ::tenure::describe(outcome.error());                                \
    EXPECT_FALSE(outcome.is_cancelled());                                                                        \
  }                                                                                                              \
  static ::tenure::Task<void> suite##_##name##_body([[maybe_unused]] ::tenure::Scope scope,                      \
                                                    [[maybe_unused]] ::tenure::testing::CoroWorld& world)
