// Accesses become operands: elements become bytes, tails are decided.
#include <algorithm>

#include "neuroncore/emulator/plan.h"

namespace opentrn::neuroncore::emulator {

namespace {

int64_t size_in(const PatternDimension& dimension, const std::vector<uint8_t>& last) {
  if (dimension.tail_loop < 0 || last[static_cast<size_t>(dimension.tail_loop)] == 0) return dimension.size;
  return dimension.tail;
}

}  // namespace

Operand resolve(const Program& program, const Access& access, const std::vector<uint8_t>& last) {
  const Buffer& buffer = program.buffers[static_cast<size_t>(access.buffer)];
  const int64_t item = size_of(access.dtype);
  const bool on_chip = buffer.space != Space::Hbm;
  const int64_t pitch = buffer.elements * size_of(buffer.dtype);
  Operand operand;
  operand.slot = access.buffer;
  operand.dtype = access.dtype;
  operand.offset = access.offset * item + (on_chip ? access.partition * pitch : 0);
  for (const Term& term : access.terms) {
    const auto counter = static_cast<int32_t>(term.is_register ? program.loops.size() + static_cast<size_t>(term.index)
                                                               : static_cast<size_t>(term.index));
    operand.terms.push_back({counter, term.coefficient * item});
  }
  if (access.pattern.empty()) return operand;
  const PatternDimension& first = access.pattern.front();
  operand.partitions = size_in(first, last);
  operand.partition_step = first.step * (on_chip ? pitch : item);
  operand.partition_advance = operand.partition_step;
  for (size_t i = 1; i < access.pattern.size(); ++i) {
    operand.free.push_back({access.pattern[i].step * item, size_in(access.pattern[i], last)});
  }
  return operand;
}

int64_t touched_elements(const Instruction& instruction) {
  const auto elements = [](const Access& access) {
    int64_t count = 1;
    for (const PatternDimension& dimension : access.pattern) count *= dimension.size;
    return count;
  };
  int64_t most = 0;
  for (const Access& access : instruction.outputs) most = std::max(most, elements(access));
  for (const Access& access : instruction.inputs) most = std::max(most, elements(access));
  // A product touches its moving tile once for every row of the result; counted as vector steps.
  if (instruction.opcode == Opcode::NcMatmul) most *= std::max<int64_t>(1, elements(instruction.inputs[0]) / 1024);
  return most;
}

}  // namespace opentrn::neuroncore::emulator
