#include "neuroncore/emulator/strips.h"

#include <algorithm>
#include <cstdlib>

#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/sharing.h"

namespace opentrn::neuroncore::emulator {

namespace {

// What the tiles of a block may take: it has to stay in the second cache beside what streams through it.
constexpr int64_t kBlockBytes = 384 * 1024;
// Instructions in one strip at most: each is compared with all others.
constexpr size_t kLongestStrip = 64;

bool by_partition(const Instruction& instruction) {
  return works_by_partition(instruction) && !instruction.outputs[0].pattern.empty();
}

bool same_partition_dimension(const PatternDimension& left, const PatternDimension& right) {
  return left.size == right.size && left.tail_loop == right.tail_loop && left.tail == right.tail;
}

template <typename Function>
void for_each_access(const Instruction& instruction, const Function& function) {
  for (const Access& access : instruction.outputs) function(access, true);
  for (const Access& access : instruction.inputs) function(access, false);
}

int64_t free_bytes(const Access& access) {
  int64_t bytes = size_of(access.dtype);
  for (size_t i = 1; i < access.pattern.size(); ++i) {
    if (access.pattern[i].step != 0) bytes *= access.pattern[i].size;
  }
  return bytes;
}

bool same_terms(const std::vector<Term>& left, const std::vector<Term>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Term& one, const Term& other) {
    return one.index == other.index && one.coefficient == other.coefficient && one.is_register == other.is_register;
  });
}

struct Extent {
  int64_t low, high;  // bytes
};

// Of one partition, from the buffer's start.
Extent extent_of(const Access& access) {
  const int64_t item = size_of(access.dtype);
  Extent extent{access.offset * item, access.offset * item + item};
  for (size_t i = 1; i < access.pattern.size(); ++i) {
    const PatternDimension& dimension = access.pattern[i];
    const int64_t reach = dimension.step * (std::max(dimension.size, dimension.tail) - 1) * item;
    extent.low += std::min<int64_t>(reach, 0);
    extent.high += std::max<int64_t>(reach, 0);
  }
  return extent;
}

// No two partitions touch the same place.
bool has_own_places(const Access& access) {
  const int64_t step = std::abs(access.pattern[0].step) * size_of(access.dtype);
  if (access.pattern[0].size <= 1) return true;
  const Extent extent = extent_of(access);
  if (extent.high - extent.low <= step) return true;
  if (step == 0) return false;
  // Partitions lie next to each other, and the free dimensions step over all of them.
  return std::all_of(access.pattern.begin() + 1, access.pattern.end(), [&](const PatternDimension& dimension) {
    return dimension.size <= 1 || std::abs(dimension.step) * size_of(access.dtype) >=
                                      step * std::max(access.pattern[0].size, access.pattern[0].tail);
  });
}

}  // namespace

bool same_partitions(const Access& left, const Access& right) {
  if (left.pattern.empty() || right.pattern.empty() || !same_terms(left.terms, right.terms)) return false;
  const int64_t step = left.pattern[0].step * size_of(left.dtype);
  if (step != right.pattern[0].step * size_of(right.dtype)) return false;
  const Extent one = extent_of(left);
  const Extent other = extent_of(right);
  const int64_t reach = std::max(one.high, other.high) - std::min(one.low, other.low);
  return reach <= std::abs(step) || (same_places(left, right) && left.dtype == right.dtype && step != 0);
}

bool StripCutter::agree(const Access& left, const Access& right) const {
  const bool on_chip = program_.buffers[static_cast<size_t>(left.buffer)].space != Space::Hbm;
  if (!on_chip) {
    if (!may_share_memory(program_, left.buffer, right.buffer)) return true;
    return same_start(program_, left.buffer, right.buffer) && same_partitions(left, right);
  }
  if (left.buffer != right.buffer) return true;
  return left.partition == right.partition && left.pattern[0].step == right.pattern[0].step;
}

bool StripCutter::fits(const std::vector<int32_t>& strip, int32_t next) const {
  const Instruction& added = program_.instructions[static_cast<size_t>(next)];
  if (!by_partition(added) || strip.size() >= kLongestStrip) return false;
  const Instruction& first = program_.instructions[static_cast<size_t>(strip.front())];
  if (!same_partition_dimension(first.outputs[0].pattern[0], added.outputs[0].pattern[0])) return false;
  bool fits = true;
  for (const int32_t number : strip) {
    const Instruction& earlier = program_.instructions[static_cast<size_t>(number)];
    for_each_access(added, [&](const Access& access, bool written) {
      for_each_access(earlier, [&](const Access& other, bool other_written) {
        const bool on_chip = program_.buffers[static_cast<size_t>(access.buffer)].space != Space::Hbm;
        const bool other_on_chip = program_.buffers[static_cast<size_t>(other.buffer)].space != Space::Hbm;
        if ((written || other_written) && on_chip == other_on_chip) fits = fits && agree(access, other);
      });
    });
    if (!fits) return false;
  }
  return true;
}

void StripCutter::finish(StripShape& strip) const {
  for (const int32_t number : strip.instructions) {
    for_each_access(program_.instructions[static_cast<size_t>(number)],
                    [&](const Access& access, bool) { strip.used_buffers.push_back(access.buffer); });
  }
  std::sort(strip.used_buffers.begin(), strip.used_buffers.end());
  const auto repeated = std::unique(strip.used_buffers.begin(), strip.used_buffers.end());
  strip.used_buffers.erase(repeated, strip.used_buffers.end());
  const Instruction& first = program_.instructions[static_cast<size_t>(strip.instructions.front())];
  const bool has_partitions = !first.outputs.empty() && !first.outputs[0].pattern.empty();
  strip.partitions = has_partitions ? first.outputs[0].pattern[0].size : 1;
  strip.block = strip.partitions;
  if (!by_partition(first)) return;
  strip.by_partition = true;
  for (const int32_t number : strip.instructions) {
    for_each_access(program_.instructions[static_cast<size_t>(number)], [&](const Access& access, bool written) {
      const bool on_chip = program_.buffers[static_cast<size_t>(access.buffer)].space != Space::Hbm;
      if (written && !on_chip) strip.by_partition = strip.by_partition && has_own_places(access);
    });
  }
  if (strip.instructions.size() < 2) return;
  std::vector<std::pair<int32_t, int32_t>> tiles;  // buffer, operands
  std::vector<int32_t> hbm;
  int64_t bytes = 0;
  for (const int32_t number : strip.instructions) {
    for_each_access(program_.instructions[static_cast<size_t>(number)], [&](const Access& access, bool) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(access.buffer)];
      if (buffer.space == Space::Hbm) {
        if (std::find(hbm.begin(), hbm.end(), access.buffer) != hbm.end()) return;
        hbm.push_back(access.buffer);
        bytes += free_bytes(access);
        return;
      }
      const auto is_it = [&](const auto& tile) { return tile.first == access.buffer; };
      const auto known = std::find_if(tiles.begin(), tiles.end(), is_it);
      if (known != tiles.end()) {
        ++known->second;
        return;
      }
      tiles.emplace_back(access.buffer, 1);
      bytes += free_bytes(access);
    });
  }
  for (const auto& [buffer, operands] : tiles) {
    if (operands == uses_[static_cast<size_t>(buffer)]) strip.local_buffers.push_back(buffer);
  }
  const int64_t block = std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(bytes, 1), 1, strip.partitions);
  const int64_t blocks = (strip.partitions + block - 1) / block;
  strip.block = (strip.partitions + blocks - 1) / blocks;
}

std::vector<StripShape> StripCutter::cut(std::span<const int32_t> run) const {
  std::vector<StripShape> strips;
  for (const int32_t number : run) {
    const bool may_join =
        !strips.empty() && by_partition(program_.instructions[static_cast<size_t>(strips.back().instructions[0])]);
    if (may_join && fits(strips.back().instructions, number)) {
      strips.back().instructions.push_back(number);
      continue;
    }
    strips.emplace_back().instructions.push_back(number);
  }
  for (StripShape& strip : strips) finish(strip);
  return strips;
}

}  // namespace opentrn::neuroncore::emulator
