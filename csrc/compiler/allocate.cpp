#include "compiler/allocate.h"

#include <algorithm>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "neuroncore/memory_map.h"

namespace opentrn::compiler {

namespace {

constexpr int64_t kAlignment = 64;  // bytes: a line of the host's caches, and more than any element needs

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Which statements of the program's body need a buffer.
struct Life {
  int32_t buffer = -1;
  int32_t first = 0;
  int32_t last = 0;
};

bool is_internal(const neuroncore::Buffer& buffer) {
  return buffer.space == neuroncore::Space::Hbm && buffer.role == neuroncore::Role::Internal;
}

// From the first to the last statement that needs a buffer. A tile that is loaded from it or stored to it may stand for
// it, so that it needs its memory for as long as the tile lives.
std::vector<Life> lives(const neuroncore::Program& program, const neuroncore::Structure& structure) {
  const auto phase = [&](int32_t position) {
    return structure.phase[static_cast<size_t>(structure.order[static_cast<size_t>(position)])];
  };
  const size_t count = program.buffers.size();
  std::vector<Life> all(count);
  for (size_t b = 0; b < count; ++b) {
    if (structure.last_use[b] < structure.first_use[b]) continue;
    all[b] = {static_cast<int32_t>(b), phase(structure.first_use[b]), phase(structure.last_use[b])};
  }
  for (const neuroncore::Instruction& instruction : program.instructions) {
    if (instruction.opcode != neuroncore::Opcode::DmaCopy) continue;
    const auto from = static_cast<size_t>(instruction.inputs[0].buffer);
    const auto to = static_cast<size_t>(instruction.outputs[0].buffer);
    const bool from_chip = program.buffers[from].space != neuroncore::Space::Hbm;
    const bool to_chip = program.buffers[to].space != neuroncore::Space::Hbm;
    if (to_chip && is_internal(program.buffers[from])) all[from].last = std::max(all[from].last, all[to].last);
    if (from_chip && is_internal(program.buffers[to])) all[to].first = std::min(all[to].first, all[from].first);
  }
  std::erase_if(all, [&](const Life& life) {
    return life.buffer < 0 || !is_internal(program.buffers[static_cast<size_t>(life.buffer)]);
  });
  return all;
}

int64_t size_of(const neuroncore::Buffer& buffer) {
  return aligned(std::max<int64_t>(1, buffer.elements) * opentrn::size_of(buffer.dtype));
}

void allocate_hbm(neuroncore::Program& program, std::vector<Life> coming) {
  std::stable_sort(coming.begin(), coming.end(), [](const Life& a, const Life& b) { return a.first < b.first; });
  const auto later = [](const Life& a, const Life& b) { return a.last > b.last; };
  std::vector<Life> alive;  // a heap, the first to go on top
  Arena arena;
  for (const Life& life : coming) {
    while (!alive.empty() && alive.front().last < life.first) {
      const neuroncore::Buffer& gone = program.buffers[static_cast<size_t>(alive.front().buffer)];
      arena.give_back(gone.address, size_of(gone));
      std::pop_heap(alive.begin(), alive.end(), later);
      alive.pop_back();
    }
    neuroncore::Buffer& buffer = program.buffers[static_cast<size_t>(life.buffer)];
    buffer.address = arena.take(size_of(buffer));
    alive.push_back(life);
    std::push_heap(alive.begin(), alive.end(), later);
  }
}

}  // namespace

void allocate(neuroncore::Program& program, const neuroncore::Machine& machine) {
  const bool any = std::any_of(program.buffers.begin(), program.buffers.end(), is_internal);
  if (any) allocate_hbm(program, lives(program, neuroncore::Structure(program)));
  if (neuroncore::allocate(program, machine)) return;
  raise(ErrorKind::Internal, {.where = "core engine",
                              .what = "the tiles of a statement do not fit on the chip",
                              .got = "program " + program.name,
                              .expected = concat("tiles within the memories of ", machine.name)});
}

}  // namespace opentrn::compiler
