// The type an instruction computes in.
#pragma once

#include <optional>

#include "neuroncore/emulator/instructions/prepare.h"

namespace opentrn::neuroncore::emulator {

/// The type of the arithmetic of an instruction with these operands.
ComputeType compute_type(const Request& request);

/// The type that holds the bit patterns of all inputs.
ComputeType pattern_type(const Request& request);
/// The unsigned type of the same size.
DType unsigned_of(DType dtype);

/// An immediate as an element of `type`.
Immediate converted(const Immediate& value, ComputeType type);

/// The scalar at `position` as an immediate, when it is one.
std::optional<Immediate> immediate_scalar(const Instruction& instruction, size_t position);

/// The affine function of iota and affine_select as an operand without memory: its "addresses" are the function's
/// values.
Operand affine_operand(const Request& request);

}  // namespace opentrn::neuroncore::emulator
