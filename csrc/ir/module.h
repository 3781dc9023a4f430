// A graph together with the memory it will be called with: what an engine compiles.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace opentrn::ir {

/// How an operand or result lies in memory. Strides count elements and may be 0 (expanded), never negative.
struct Layout {
  TensorType type;
  Dims strides;
};

/// What the caller promises about the memory of result `result` and parameter `parameter`.
struct Overlap {
  int result = 0;
  int parameter = 0;
  bool identical = false;  // same address, shape and strides; otherwise they overlap in some other way
};

/// A graph with the memory layouts it will be called with. One layout per parameter and per result.
struct Module {
  Graph graph;
  std::vector<Layout> parameters;
  std::vector<Layout> results;
  std::vector<Overlap> overlaps;
};

}  // namespace opentrn::ir
