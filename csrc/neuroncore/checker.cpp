#include "neuroncore/checker.h"

#include <algorithm>

#include "base/error.h"
#include "neuroncore/checker/instruction_check.h"

namespace opentrn::neuroncore {

namespace {

constexpr size_t kMostShown = 5;

void sort_by_position(const Structure& structure, std::vector<Violation>& found) {
  const auto place = [&](const Violation& violation) {
    return violation.instruction < 0 ? -1 : structure.position[static_cast<size_t>(violation.instruction)];
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Violation& one, const Violation& other) { return place(one) < place(other); });
}

void check_form(const Program& program, const Structure& structure, std::vector<Violation>& found) {
  const bool whole = !structure.malformed && structure.order.size() == program.instructions.size();
  if (!whole)
    found.push_back({"structure", -1,
                     to_string({.where = "program " + program.name,
                                .what = "its bodies do not hold every loop and instruction once"})});
  for (size_t loop = 0; loop < program.loops.size(); ++loop) {
    if (program.loops[loop].count < 1)
      found.push_back({"loop-count", -1,
                       to_string({.where = concat("loop %i", loop),
                                  .what = "the loop has no iterations",
                                  .got = concat(program.loops[loop].count)})});
  }
  if (program.registers > kRegisters)
    found.push_back({"register-limit", -1,
                     to_string({.where = "program " + program.name,
                                .what = "too many registers",
                                .got = concat(program.registers),
                                .expected = concat("at most ", kRegisters)})});
}

}  // namespace

std::vector<Violation> violations(const Program& program, const Machine& machine) {
  std::vector<Violation> found;
  const Structure structure(program);
  check_form(program, structure, found);
  if (!found.empty()) return found;
  bool whole = true;
  for (const int32_t number : structure.order) {
    checker::InstructionCheck check(program, machine, structure, number, found);
    if (checker::check_operands(check)) {
      info(check.instruction().opcode).rules(check);
    } else {
      whole = false;
    }
  }
  checker::check_memory(program, machine, structure, found);
  if (whole && checker::check_waits(program, structure, found)) checker::check_hazards(program, structure, found);
  sort_by_position(structure, found);
  return found;
}

void check(const Program& program, const Machine& machine) {
  const std::vector<Violation> found = violations(program, machine);
  if (found.empty()) return;
  std::string text = concat("program ", program.name, " is not legal on ", machine.name, ":");
  for (size_t i = 0; i < std::min(found.size(), kMostShown); ++i)
    text += concat("\n  ", found[i].rule, ": ", found[i].message);
  if (found.size() > kMostShown) text += concat("\n  and ", found.size() - kMostShown, " more");
  raise(ErrorKind::Internal, {.where = "checker", .what = text});
}

std::vector<std::string> without_native_unit(const Program& program) {
  const Machine& target = machine(program.target);
  std::vector<std::string> found;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.opcode == Opcode::LibraryCall) continue;
    const auto note = [&](const Access& access) {
      if (is_native(target, access.dtype)) return;
      std::string entry = concat(info(access.dtype).torch_name, " ", info(instruction.opcode).name);
      if (std::find(found.begin(), found.end(), entry) == found.end()) found.push_back(std::move(entry));
    };
    for (const Access& access : instruction.outputs) note(access);
    for (const Access& access : instruction.inputs) note(access);
  }
  return found;
}

}  // namespace opentrn::neuroncore
