// How long engines work on an instruction. The formulas of NKI's reference and what has been measured; operands and
// limits are in the table of instructions, which names these functions.
#pragma once

#include "neuroncore/machine.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore {

/// Engine cycles of one execution with full tiles, back to back with others. 0 for DMA: see `dma_seconds`.
double cycles(const Program& program, const Instruction& instruction, const Machine& machine);

/// The same in seconds of the instruction's engine.
double engine_seconds(const Program& program, const Instruction& instruction, const Machine& machine);

/// Seconds of one DMA on all DMA engines of a core, without the wait for its start and without other traffic.
double dma_seconds(const Program& program, const Instruction& instruction, const Machine& machine);

namespace cost {

using Function = double(const Program& program, const Instruction& instruction, const Machine& machine);
Function matmul, transpose, two_streams, predicated, fill, activation, activation_reduce, reduce, partition_reduce,
    scan, one_register, library;
Function one_stream;  // in the performance mode of copies
Function plain;       // a stream without performance modes, on any engine

}  // namespace cost

}  // namespace opentrn::neuroncore
