// Order between the queues of a core. Five engines and their DMA queues run on their own; where two of them touch the
// same memory and one writes, a wait (a semaphore) has to order them.
#pragma once

#include <cstdint>
#include <vector>

#include "neuroncore/program.h"
#include "neuroncore/structure.h"

namespace opentrn::neuroncore {

/// Replaces all waits of a program by those it needs: read after write, write after read, write after write, also from
/// one iteration of a loop to a later one. A wait that others imply is left out. Call it when addresses are assigned:
/// buffers that share memory are ordered too.
void add_waits(Program& program);

/// An order that the waits of a program do not bring about: `instruction` needs `wait`, because of `buffer` (which is
/// -1 for a register).
struct MissingWait {
  int32_t instruction = -1;
  Wait wait;
  int32_t buffer = -1;
};

/// In program order. The program must be well-formed (buffers, loops and waits that exist).
std::vector<MissingWait> missing_waits(const Program& program, const Structure& structure);

}  // namespace opentrn::neuroncore
