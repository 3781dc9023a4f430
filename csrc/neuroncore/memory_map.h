// Which buffers share memory, and for how long a buffer holds a value.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "neuroncore/machine.h"
#include "neuroncore/program.h"
#include "neuroncore/structure.h"

namespace opentrn::neuroncore {

/// Bytes from one copy of a buffer to the next: per partition for those on the chip. In PSUM a copy never crosses a
/// bank that it fits in, and a larger one begins a bank.
int64_t copy_bytes(const Buffer& buffer);
/// Bytes of all copies.
int64_t buffer_bytes(const Buffer& buffer);

/// The positions at which a buffer holds a value that is still needed, loops that rotate or carry it included.
Interval lifetime(const Program& program, const Structure& structure, int32_t buffer);

/// The most bytes of buffers without an address that are alive at the same time.
int64_t peak_bytes(const Program& program, const Structure& structure, Space space);

/// Gives addresses to the buffers on the chip that have none, reusing memory of buffers that are no longer alive. False
/// when it does not fit; the addresses are then left as they were.
bool allocate(Program& program, const Machine& machine);

/// Pairs of different buffers whose addresses overlap, such that every two accesses to the same bytes are ordered when
/// those of each pair are: buffers within one loop nest against each other, else each against its predecessors.
std::vector<std::pair<int32_t, int32_t>> shared_memory(const Program& program, const Structure& structure);

}  // namespace opentrn::neuroncore
