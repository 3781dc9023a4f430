// From a call to a graph: the generic half of every lowering.
#pragma once

#include <vector>

#include "lowering/rule.h"

namespace opentrn::lowering {

/// One result of the graph and the memory it goes to.
struct Output {
  ir::TensorType type;
  Dims strides;
  int operand = -1;      // the tensor operand whose memory is written; -1: a fresh tensor
  bool returned = true;  // the operator returns it; otherwise it is only written
  bool defined = true;   // false: the operator returns an undefined tensor (None); the graph has no result for it
};

struct Lowered {
  ir::Graph graph;
  std::vector<Output> outputs;  // one per graph result, in that order, and one per undefined tensor returned
  int64_t random_blocks = 0;  // blocks of the generator's stream one run consumes; the state is then the last parameter
  /// When not empty: the `out=` tensors have other shapes; resize them to these and call again. The graph is empty
  /// then.
  std::vector<Dims> resize_destinations;
  std::vector<Dims> resize_strides;  // the strides of fresh results of those shapes
};

/// Runs `rule` on the call, whose parameters `builder` already holds in operand order. Throws Declined, or an Error for
/// bad input.
Lowered lower(const Rule& rule, const Call& call, ir::Builder builder);

}  // namespace opentrn::lowering
