// Loop nests over the operands of one instruction: their patterns are cut alike, dimensions are ordered so that the
// innermost is the densest, and merged where all operands step evenly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "neuroncore/emulator/operand.h"

namespace opentrn::neuroncore::emulator {

inline constexpr size_t kMaxOperands = 8;
inline constexpr size_t kMaxRank = 16;

/// Addresses are integers, because one of the "operands" may be a sequence of integers (iota) instead of memory.
using Addresses = std::array<int64_t, kMaxOperands>;

inline std::byte* pointer(int64_t address) { return reinterpret_cast<std::byte*>(address); }
inline int64_t address(const std::byte* pointer) { return reinterpret_cast<int64_t>(pointer); }

struct NestDimension {
  int64_t size = 1;
  Addresses steps{};
};

/// Dimensions innermost first, two at least. The size of dimension `partition` is `partition_scale` times the frame's
/// count of partitions; -1 when the nest covers all partitions whatever the frame says.
struct Nest {
  std::vector<NestDimension> dimensions;
  int partition = -1;
  int64_t partition_scale = 1;
  int64_t elements = 0;  // with all partitions
};

struct NestOptions {
  bool whole = false;     // all partitions in one go
  bool reorder = true;    // the order of elements does not matter
  bool separate = false;  // the partition dimension is not merged and comes last
  bool repeats = false;   // operand 0 may hold an element several times: those steps are not made innermost
};

/// Nothing when the operands' patterns cannot be cut alike.
std::optional<Nest> make_nest(std::span<const Operand* const> operands, const NestOptions& options);

/// Cuts patterns (innermost first) of equal element counts into common dimensions, also innermost first.
std::optional<std::vector<NestDimension>> common_dimensions(std::span<const std::vector<Dimension>> patterns);

/// Innermost first, without dimensions of size 1, neighbours that step evenly merged.
std::vector<Dimension> merged(const std::vector<Dimension>& outermost_first);

/// True when both are the same elements in the same order.
bool same_elements(const Operand& left, const Operand& right);

/// Merges neighbours of a nest that step evenly in all operands.
void merge_dimensions(Nest& nest, const NestOptions& options);

inline void advance(Addresses& addresses, const Addresses& steps, int64_t count) {
  for (size_t i = 0; i < kMaxOperands; ++i) addresses[i] += steps[i] * count;
}

/// Calls `body(rows, columns, addresses)` for every plane of the nest: its two innermost dimensions.
template <typename Body>
void for_each_plane(const Nest& nest, const Frame& frame, Addresses addresses, const Body& body) {
  const size_t rank = nest.dimensions.size();
  std::array<int64_t, kMaxRank> sizes;
  for (size_t i = 0; i < rank; ++i) sizes[i] = nest.dimensions[i].size;
  if (nest.partition >= 0) sizes[static_cast<size_t>(nest.partition)] = frame.count * nest.partition_scale;
  if (rank == 2) return body(sizes[1], sizes[0], addresses);
  std::array<int64_t, kMaxRank> index{};
  for (;;) {
    body(sizes[1], sizes[0], addresses);
    size_t i = 2;
    for (; i < rank; ++i) {
      const Addresses& steps = nest.dimensions[i].steps;
      advance(addresses, steps, 1);
      if (++index[i] < sizes[i]) break;
      advance(addresses, steps, -sizes[i]);
      index[i] = 0;
    }
    if (i == rank) return;
  }
}

}  // namespace opentrn::neuroncore::emulator
