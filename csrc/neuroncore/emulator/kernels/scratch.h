// Memory of a thread that lives as long as the thread, for operands that a kernel lays out anew, and the errors kernels
// raise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opentrn::neuroncore::emulator {

enum class ScratchUse : uint8_t { Stationary, Moving, Sums };

/// At least `bytes` bytes, aligned to 64. Valid until the same thread asks again for the same use.
std::byte* scratch(ScratchUse use, int64_t bytes);

/// What integer division and remainder by zero raise.
[[noreturn]] void raise_zero_division();

}  // namespace opentrn::neuroncore::emulator
