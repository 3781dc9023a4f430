// What `opentrn doctor` asks of this build and machine.
#pragma once

#include <string>
#include <vector>

namespace opentrn::runtime {

/// Compiles and runs a small program (matrix product, broadcast add, maximum) on the configured engine and compares
/// every element with the product computed by a plain loop. Raises an Error of kind Internal when one differs.
void engine_self_test();

/// Instruction set extensions of this processor that the engines use, e.g. "avx2".
std::vector<std::string> cpu_features();

}  // namespace opentrn::runtime
