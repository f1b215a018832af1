#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenure {

template <class Signature>
class UniqueFunction;

/// A callable that is moved, never copied: std::move_only_function, which libstdc++ 12 lacks in C++20.
///
/// Returns   what the callable returns.
/// Errors    calling an empty one is undefined; test with `if (function)`.
/// Cancel    no cancellation point.
/// Threads   as the callable inside.
template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): reads like std::function
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
  UniqueFunction(F&& callable)  // NOLINT(google-explicit-constructor): reads like std::function
      : callable_(std::make_unique<Holder<std::remove_cvref_t<F>>>(std::forward<F>(callable))) {}

  R operator()(Args... args) { return callable_->call(std::forward<Args>(args)...); }
  explicit operator bool() const noexcept { return callable_ != nullptr; }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Base {
    explicit Holder(F&& callable) : held(std::move(callable)) {}
    explicit Holder(const F& callable) : held(callable) {}
    R call(Args... args) override { return held(std::forward<Args>(args)...); }
    F held;
  };
  std::unique_ptr<Base> callable_;
};

}  // namespace tenure
