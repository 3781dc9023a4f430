// Addresses for what a program keeps for itself.
#pragma once

#include "neuroncore/machine.h"
#include "neuroncore/program.h"

namespace opentrn::compiler {

/// Gives every internal buffer its address: those in HBM in one block, those on the chip in its memories. Buffers that
/// are not needed in the same statements of the program's body share memory. Raises an internal error when the tiles of
/// a statement do not fit on the chip.
void allocate(neuroncore::Program& program, const neuroncore::Machine& machine);

}  // namespace opentrn::compiler
