// A compiled graph: steps in order, each a kernel and the places of its operands and results.
#pragma once

#include <span>
#include <vector>

#include "engines/engine.h"
#include "engines/reference/buffer.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

/// The memory an address is relative to: the temporaries, the constants, then the parameters, then the results.
enum Base : int32_t { kScratchBase = 0, kConstantBase = 1, kFirstParameterBase = 2 };

struct Argument {
  int32_t base = 0;
  int64_t offset = 0;  // bytes
};

struct Step {
  Kernel kernel;
  std::vector<Argument> arguments;  // operands, then results
  size_t operands = 0;
};

struct Program {
  std::vector<Step> steps;
  int64_t scratch_bytes = 0;
  Buffer constants;
  size_t parameters = 0;
  size_t results = 0;
  size_t most_arguments = 0;
};

/// Resolves everything that does not depend on addresses and values.
Program compile_program(const Module& module);

void run_program(const Program& program, std::span<const void* const> parameters, std::span<void* const> results);

/// The engine's compile function.
std::unique_ptr<Executable> compile(const Module& module, const neuroncore::Machine& machine);

}  // namespace opentrn::engines::reference
