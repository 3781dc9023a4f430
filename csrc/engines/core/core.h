// The engine `core`: compiles to a NeuronCore program, checks it and lets the emulator execute it.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace opentrn::engines::core {

std::unique_ptr<Executable> compile(const Module& module, const neuroncore::Machine& machine);

}  // namespace opentrn::engines::core
