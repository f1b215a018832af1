#pragma once

#include <span>
#include <vector>

#include <tenure/engine/engine.hpp>

namespace tenure {

/// The view of an owned tensor that an engine takes. The tensor must outlive it.
[[nodiscard]] inline ConstTensorView view_of(const Tensor& tensor) noexcept { return {&tensor.spec(), tensor.bytes()}; }
[[nodiscard]] inline TensorView view_of(Tensor& tensor) noexcept { return {&tensor.spec(), tensor.bytes()}; }

/// Checks what is handed to a run against what the model takes and gives: number, element type, shape and bytes.
///
/// Returns   nothing.
/// Errors    kInvalidArgument: names the tensor, its type and shape, and the type and shape expected.
/// Cancel    no cancellation point.
/// Threads   any.
/// Shapes    an open dimension of the model (-1) takes any extent.
void require_views(const ModelSignature& signature, std::span<const ConstTensorView> inputs,
                   std::span<const TensorView> outputs);

}  // namespace tenure
