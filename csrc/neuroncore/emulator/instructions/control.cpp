// register_load and library_call.
#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "neuroncore/emulator/instructions/types.h"

namespace opentrn::neuroncore::emulator {

Kernel prepare_register_load(const Request& request) {
  const Operand in = request.inputs[0];
  if (!is_integral(in.dtype)) refuse(request, "a register takes an integer");
  const LoadKernel load = kernels().load(in.dtype, ComputeType::I64);
  // Registers follow the counters of the loops.
  const auto counter = request.program.loops.size() + static_cast<size_t>(request.instruction.register_index);
  return [in, load, counter](const Frame& frame) {
    load(1, reinterpret_cast<std::byte*>(&frame.counters[counter]), in.at(frame), 0);
  };
}

Kernel prepare_library_call(const Request& request) {
  const LibraryCall& call = request.program.library.at(static_cast<size_t>(request.instruction.library));
  if (!call.function) {
    raise(ErrorKind::Internal, {.where = where(request),
                                .what = "no host code for " + call.name,
                                .action = "run the program that the compiler made, not one read from text"});
  }
  struct Call {
    HostFunction function;
    std::vector<Operand> inputs, outputs;
  };
  const auto work = std::make_shared<const Call>(Call{call.function, request.inputs, request.outputs});
  return [work](const Frame& frame) {
    std::vector<std::byte*> addresses;
    addresses.reserve(work->inputs.size() + work->outputs.size());
    for (const Operand& operand : work->inputs) addresses.push_back(operand.at(frame));
    for (const Operand& operand : work->outputs) addresses.push_back(operand.at(frame));
    work->function(addresses.data(), addresses.data() + work->inputs.size());
  };
}

}  // namespace opentrn::neuroncore::emulator
