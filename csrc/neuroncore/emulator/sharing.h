// Which buffers may be the same memory, and which accesses the same places in it.
#pragma once

#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

/// True when the two HBM buffers may be the same memory.
bool may_share_memory(const Program& program, int32_t left, int32_t right);

/// True when buffers that may be the same memory begin at the same place in it.
bool same_start(const Program& program, int32_t left, int32_t right);

/// True when element for element both accesses are the same places, provided that their buffers begin at one address.
bool same_places(const Access& left, const Access& right);

}  // namespace opentrn::neuroncore::emulator
