// The CPU fallback: runs what has no lowering, and never hides it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace opentrn::torch_backend {

/// Runs the operator on the CPU over aliases of device memory. Counts operator, reason, user line, time and the bytes a
/// chip would move; warns once per operator and line, or raises, as the mode says. Raises for tensors on mixed devices.
void run_fallback(const c10::OperatorHandle& handle, torch::jit::Stack* stack, const std::string& reason);

enum class FallbackMode { Warn, Error, Silent };

/// The override of set_fallback_override, else OPENTRN_FALLBACK. Raises an Error of kind Value for an unknown mode.
FallbackMode fallback_mode();

/// Overrides OPENTRN_FALLBACK for the process; an empty string ends the override. Returns the override before.
std::string set_fallback_override(const std::string& mode);

const char* name(FallbackMode mode) noexcept;

}  // namespace opentrn::torch_backend
