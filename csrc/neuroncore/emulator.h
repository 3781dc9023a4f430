// Executes programs on the host, tile by tile.
#pragma once

#include <memory>
#include <span>

#include "neuroncore/machine.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore {

struct EmulatorOptions {
  /// Every access is checked against its buffer, every DMA really copies, on-chip memory starts as NaN (integers: a
  /// pattern), and each loop runs in order on one thread.
  bool check = false;
  /// Loop nests may be run by one fused host kernel each; results are those of the plain execution.
  bool macros = true;
};

/// A program made ready to run. `run` may be called from several threads at once.
class Emulator {
 public:
  Emulator(Program program, const Machine& machine, EmulatorOptions options = {});
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  /// Addresses of the first element of every Parameter and Result buffer, by Buffer::index.
  void run(std::span<const void* const> parameters, std::span<void* const> results) const;

  const Program& program() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace opentrn::neuroncore
