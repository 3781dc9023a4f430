#include "engines/core/core.h"

#include <utility>

#include "compiler/compiler.h"
#include "engines/reference/kernel.h"
#include "neuroncore/checker.h"
#include "neuroncore/emulator.h"
#include "neuroncore/text.h"

namespace opentrn::engines::core {

namespace {

class CoreExecutable final : public Executable {
 public:
  explicit CoreExecutable(neuroncore::Emulator emulator) : emulator_(std::move(emulator)) {}

  void run(std::span<const void* const> parameters, std::span<void* const> results) const override {
    emulator_.run(parameters, results);
  }

  ProgramFacts facts() const override {
    const neuroncore::Program& program = emulator_.program();
    ProgramFacts facts{{}, neuroncore::without_native_unit(program)};
    for (const neuroncore::LibraryCall& call : program.library) facts.library_calls.push_back(call.name);
    return facts;
  }

  std::string program_text() const override { return neuroncore::print(emulator_.program()); }

 private:
  neuroncore::Emulator emulator_;
};

// The host code of library calls is the reference engine's.
neuroncore::HostFunction library(const ir::Node& node, std::span<const ir::View> operands,
                                 std::span<const ir::View> results) {
  return reference::make_kernel({node, operands, results});
}

}  // namespace

std::unique_ptr<Executable> compile(const Module& module, const neuroncore::Machine& machine) {
  neuroncore::Program program = compiler::compile(module, machine, library);
  neuroncore::check(program, machine);
  return std::make_unique<CoreExecutable>(neuroncore::Emulator(std::move(program), machine));
}

}  // namespace opentrn::engines::core
