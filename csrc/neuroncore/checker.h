// The checker refuses what the chip refuses.
#pragma once

#include <string>
#include <vector>

#include "neuroncore/machine.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore {

/// A broken rule: "[nc_matmul #12] the moving tile is too wide, got 600 columns, expected at most 512 on trn2".
struct Violation {
  std::string rule;  // short stable name, e.g. "moving-free-size"
  int32_t instruction = -1;
  std::string message;
};

/// All violations of the program, in program order; empty when the chip would take it. Linear in the program's size.
std::vector<Violation> violations(const Program& program, const Machine& machine);

/// Raises an Error of kind Internal with the first violations, if there are any.
void check(const Program& program, const Machine& machine);

/// What the chip has no unit for, though the emulator executes it exactly: "int64 tensor_tensor", ... Each once.
std::vector<std::string> without_native_unit(const Program& program);

}  // namespace opentrn::neuroncore
