// The iteration space of a run as a nest of dimensions, and how it is cut into tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/rows.h"

namespace opentrn::compiler::rows {

/// How an access to HBM (or the numbers of an iota) runs through the dimensions of a nest: elements per step.
struct Line {
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

enum class Role { Loop, Partition, Free };

struct NestDimension {
  int64_t size = 1;
  bool reduced = false;
  uint64_t sources = 0;  // dimensions of the space that it stands for
  Role role = Role::Loop;
  int64_t tile = 1;  // steps in one tile

  int64_t tiles() const { return (size + tile - 1) / tile; }
  int64_t tail() const { return size % tile; }
};

/// Outermost dimension first.
struct Nest {
  std::vector<NestDimension> dimensions;
  std::vector<Line> lines;

  int64_t kept() const;     // elements that are not reduced
  int64_t reduced() const;  // and that are reduced to one
  /// The dimensions of the nest that stand for dimensions of the space.
  uint64_t mask(uint64_t space_dimensions) const;
};

/// Orders dimensions by the strides of the lines, the first line first, and joins those that act as one.
void normalise(Nest& nest);

/// Cuts dimension `d` into steps of `size`: it becomes two, the outer one counting the steps. What is left over (fewer
/// than `size`) is `remainder`.
Nest folded(const Nest& nest, size_t d, int64_t size);
Nest remainder(const Nest& nest, size_t d, int64_t size);

/// What limits tiles.
struct TileLimits {
  int64_t partitions = 0;
  int64_t most_elements = 2048;  // per partition
  size_t most_free_dimensions = 3;
};

/// Gives every dimension its role and tile size. Nests after the first are what folding has left over. The last
/// dimension of a nest that was folded for the partitions of a reduction counts as kept.
std::vector<Nest> cut(Nest nest, const TileLimits& limits);

/// True when some reduced dimension takes more than one tile.
bool is_chunked(const Nest& nest);

}  // namespace opentrn::compiler::rows
