// The check mode's bounds: the lowest and highest element of every access against its buffer.
#include <algorithm>

#include "base/error.h"
#include "neuroncore/emulator/plan.h"

namespace opentrn::neuroncore::emulator {

namespace {

struct Range {
  int64_t lowest = 0, highest = 0;
};

void extend(Range& range, int64_t step, int64_t size) {
  const int64_t reach = step * (size - 1);
  range.lowest += std::min<int64_t>(reach, 0);
  range.highest += std::max<int64_t>(reach, 0);
}

[[noreturn]] void leave(const Program& program, int32_t instruction, const Access& access, const char* what, Range got,
                        int64_t limit) {
  const Instruction& row = program.instructions[static_cast<size_t>(instruction)];
  raise(ErrorKind::Internal,
        {.where = concat(info(row.opcode).name, " #", instruction),
         .what = concat("an access leaves ", program.buffers[static_cast<size_t>(access.buffer)].name),
         .got = concat(what, " ", got.lowest, " to ", got.highest),
         .expected = concat("0 to ", limit - 1)});
}

void check_access(const Program& program, int32_t instruction, const Access& access, const int64_t* counters) {
  const Buffer& buffer = program.buffers[static_cast<size_t>(access.buffer)];
  std::vector<uint8_t> last(program.loops.size());
  for (size_t i = 0; i < last.size(); ++i) last[i] = counters[i] == program.loops[i].count - 1 ? 1 : 0;
  const Operand operand = resolve(program, access, last);
  if (operand.partitions == 0 || operand.free_elements() == 0) return;
  const int64_t item = operand.item();
  Range elements{access.offset, access.offset};
  for (const CounterTerm& term : operand.terms) {
    const int64_t moved = counters[term.counter] * (term.bytes / item);
    elements.lowest += moved;
    elements.highest += moved;
  }
  for (const Dimension& dimension : operand.free) extend(elements, dimension.step / item, dimension.size);
  if (access.index_operand >= 0) extend(elements, access.index_step, access.index_limit);
  const bool on_chip = buffer.space != Space::Hbm;
  Range partitions{access.partition, access.partition};
  if (!access.pattern.empty()) extend(on_chip ? partitions : elements, access.pattern[0].step, operand.partitions);
  // The access may have smaller or larger elements than the buffer.
  const int64_t limit = buffer.elements * size_of(buffer.dtype) / item;
  if (elements.lowest < 0 || elements.highest >= limit)
    leave(program, instruction, access, "elements", elements, limit);
  if (on_chip && (partitions.lowest < 0 || partitions.highest >= buffer.partitions))
    leave(program, instruction, access, "partitions", partitions, buffer.partitions);
}

}  // namespace

void check_bounds(const Program& program, int32_t instruction, const int64_t* counters) {
  const Instruction& row = program.instructions[static_cast<size_t>(instruction)];
  if (row.opcode == Opcode::LibraryCall) return;  // its accesses are addresses only
  for (const Access& access : row.outputs) check_access(program, instruction, access, counters);
  for (const Access& access : row.inputs) check_access(program, instruction, access, counters);
}

}  // namespace opentrn::neuroncore::emulator
