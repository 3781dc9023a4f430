// Waits exist, and order every two accesses of different queues to the same memory.
#include "neuroncore/checker/instruction_check.h"
#include "neuroncore/dependencies.h"

namespace opentrn::neuroncore::checker {

namespace {

/// What is wrong with a wait, empty when nothing is.
std::string fault(const Program& program, const Structure& structure, int32_t number, const Wait& wait) {
  if (wait.instruction < 0 || static_cast<size_t>(wait.instruction) >= program.instructions.size())
    return "it waits for an instruction that does not exist";
  const int32_t loop = structure.common_loop(structure.loop_of[static_cast<size_t>(number)],
                                             structure.loop_of[static_cast<size_t>(wait.instruction)]);
  const bool later =
      structure.position[static_cast<size_t>(wait.instruction)] >= structure.position[static_cast<size_t>(number)];
  if (wait.iterations < 0) return "it waits for an iteration to come";
  if (loop < 0 && (later || wait.iterations > 0)) return "it waits for an instruction that comes later";
  if (later && wait.iterations == 0) return "it waits for an instruction that comes later in the same iteration";
  return {};
}

}  // namespace

bool check_waits(const Program& program, const Structure& structure, std::vector<Violation>& found) {
  bool whole = true;
  for (const int32_t number : structure.order) {
    for (const Wait& wait : program.instructions[static_cast<size_t>(number)].waits) {
      const std::string what = fault(program, structure, number, wait);
      if (what.empty()) continue;
      whole = false;
      found.push_back({"wait", number,
                       to_string({.where = label(program, number),
                                  .what = what,
                                  .got = concat("#", wait.instruction, ", ", wait.iterations, " iterations ago")})});
    }
  }
  return whole;
}

void check_hazards(const Program& program, const Structure& structure, std::vector<Violation>& found) {
  for (const MissingWait& missing : missing_waits(program, structure)) {
    const std::string memory =
        missing.buffer < 0 ? "a register" : "buffer " + program.buffers[static_cast<size_t>(missing.buffer)].name;
    const std::string when =
        missing.wait.iterations == 0 ? "" : concat(" of ", missing.wait.iterations, " iterations ago");
    const Instruction& waited = program.instructions[static_cast<size_t>(missing.wait.instruction)];
    const std::string_view why = traps(waited.opcode) && waited.outputs.empty()
                                     ? ", which may end the program before it writes a result"
                                     : ", which touches the same memory on another queue";
    found.push_back(
        {"hazard", missing.instruction,
         to_string({.where = label(program, missing.instruction),
                    .what = concat("nothing orders it behind ", label(program, missing.wait.instruction), when, why),
                    .got = memory,
                    .expected = "a wait",
                    .action = "call add_waits"})});
  }
}

}  // namespace opentrn::neuroncore::checker
