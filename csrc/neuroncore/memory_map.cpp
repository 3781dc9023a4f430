#include "neuroncore/memory_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace opentrn::neuroncore {

namespace {

using Pairs = std::vector<std::pair<int32_t, int32_t>>;

const Buffer& at(const Program& program, int32_t buffer) { return program.buffers[static_cast<size_t>(buffer)]; }

bool overlap(const Buffer& one, const Buffer& other) {
  return one.address < other.address + buffer_bytes(other) && other.address < one.address + buffer_bytes(one);
}

/// The loop directly inside `home` that holds a loop, -1 when it is `home` itself.
int32_t child_of(const Structure& structure, int32_t home, int32_t loop) {
  int32_t child = -1;
  for (; loop != home && loop >= 0; loop = structure.parent[static_cast<size_t>(loop)]) child = loop;
  return child;
}

bool begins_with_a_write(const Instruction& instruction, int32_t buffer) {
  const auto is_it = [&](const Access& access) { return access.buffer == buffer; };
  const bool keeps =
      instruction.opcode == Opcode::TensorCopyPredicated || instruction.opcode == Opcode::NcStreamShuffle;
  return !instruction.accumulate && !keeps && std::none_of(instruction.inputs.begin(), instruction.inputs.end(), is_it);
}

/// Occupied bytes: start -> (end, buffer).
class Occupants {
 public:
  /// Puts a buffer where others were, which become its predecessors.
  void place(int64_t begin, int64_t end, int32_t buffer, Pairs& pairs) {
    auto found = ranges_.upper_bound(begin);
    if (found != ranges_.begin() && std::prev(found)->second.first > begin) --found;
    while (found != ranges_.end() && found->first < end) {
      const int64_t start = found->first;
      const auto [stop, owner] = found->second;
      pairs.emplace_back(owner, buffer);
      found = ranges_.erase(found);
      if (start < begin) ranges_[start] = {begin, owner};
      if (stop > end) found = ranges_.insert_or_assign(end, std::pair{stop, owner}).first;
    }
    if (begin < end) ranges_[begin] = {end, buffer};
  }

 private:
  std::map<int64_t, std::pair<int64_t, int32_t>> ranges_;
};

}  // namespace

int64_t copy_bytes(const Buffer& buffer) {
  const int64_t bytes = buffer.elements * size_of(buffer.dtype);
  if (buffer.space != Space::Psum) return bytes;
  if (bytes <= kPsumBankBytes) return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
  return (bytes + kPsumBankBytes - 1) / kPsumBankBytes * kPsumBankBytes;
}

int64_t buffer_bytes(const Buffer& buffer) { return copy_bytes(buffer) * buffer.copies; }

Interval lifetime(const Program& program, const Structure& structure, int32_t buffer) {
  const auto b = static_cast<size_t>(buffer);
  const int32_t home = structure.home[b];
  const auto whole = [&](int32_t loop) {
    return Interval{structure.first[static_cast<size_t>(loop)], structure.last[static_cast<size_t>(loop)]};
  };
  const int32_t first = structure.order[static_cast<size_t>(structure.first_use[b])];
  const int32_t last = structure.order[static_cast<size_t>(structure.last_use[b])];
  const bool carried =
      program.buffers[b].copies > 1 || !begins_with_a_write(program.instructions[static_cast<size_t>(first)], buffer);
  if (home >= 0 && carried) return whole(home);
  const int32_t first_child = child_of(structure, home, structure.loop_of[static_cast<size_t>(first)]);
  const int32_t last_child = child_of(structure, home, structure.loop_of[static_cast<size_t>(last)]);
  return {first_child < 0 ? structure.first_use[b] : whole(first_child).low,
          last_child < 0 ? structure.last_use[b] : whole(last_child).high};
}

Pairs shared_memory(const Program& program, const Structure& structure) {
  std::vector<int32_t> placed;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const bool used = structure.last_use[b] >= structure.first_use[b];
    if (used && program.buffers[b].address >= 0) placed.push_back(static_cast<int32_t>(b));
  }
  std::stable_sort(placed.begin(), placed.end(), [&](int32_t one, int32_t other) {
    return structure.first_use[static_cast<size_t>(one)] < structure.first_use[static_cast<size_t>(other)];
  });

  Pairs pairs;
  std::array<Occupants, 3> occupants;
  std::map<int32_t, std::vector<int32_t>> nests;
  for (const int32_t buffer : placed) {
    const Buffer& one = at(program, buffer);
    occupants[static_cast<size_t>(one.space)].place(one.address, one.address + buffer_bytes(one), buffer, pairs);
    if (structure.home[static_cast<size_t>(buffer)] < 0) continue;
    const int32_t first = structure.order[static_cast<size_t>(structure.first_use[static_cast<size_t>(buffer)])];
    std::vector<int32_t>& nest = nests[structure.phase[static_cast<size_t>(first)]];
    for (const int32_t neighbour : nest) {
      const Buffer& other = at(program, neighbour);
      if (one.space == other.space && overlap(one, other)) pairs.emplace_back(neighbour, buffer);
    }
    nest.push_back(buffer);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace opentrn::neuroncore
