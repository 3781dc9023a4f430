// From the IR to NeuronCore programs.
#pragma once

#include <span>

#include "ir/module.h"
#include "ir/view.h"
#include "neuroncore/machine.h"
#include "neuroncore/program.h"

namespace opentrn::compiler {

/// Makes the host code of a library call: one primitive, and how its operands and results lie in memory.
using LibraryMaker = neuroncore::HostFunction (*)(const ir::Node& node, std::span<const ir::View> operands,
                                                  std::span<const ir::View> results);

/// Parameter and result buffers of the program are those of the module, in its order. Effort does not grow with the
/// sizes of tensors.
neuroncore::Program compile(const ir::Module& module, const neuroncore::Machine& machine, LibraryMaker library);

}  // namespace opentrn::compiler
