#pragma once

#include <filesystem>
#include <memory>

#include <tenure/engine/engine.hpp>

namespace tenure {

/// Opens LiteRT from `libLiteRt.so` in a folder. Where it isn't there or doesn't fit, the engine comes all the same,
/// and its `devices()` say why nothing can be opened.
///
/// Returns   the engine; never null.
/// Errors    none here. `open_device`: kUnavailable with the reason, kNotFound for a device of an unknown name.
///           `load`: kNotFound, kInvalidArgument (another kind of file, or no permission), kDataLoss (empty, cut short,
///           damaged), kUnimplemented (an element type or an open dimension), kEngine.
/// Cancel    a run on the builtin kernels (InstanceOptions::stoppable) stops between two nodes; one on XNNPACK never.
/// Threads   any; not bound to a thread. Runs of one instance go one at a time, whatever contexts they use.
/// Lifetime  the library is never unloaded.
/// Source    LiteRT 2.1.6, C interface; see engines/litert/README.md.
[[nodiscard]] std::shared_ptr<Engine> open_litert(const std::filesystem::path& library_folder);

}  // namespace tenure
