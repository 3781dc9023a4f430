// Finds runs of nodes that one pass over the data can compute: element-wise primitives, broadcasts and reductions that
// share one iteration space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "ir/graph.h"

namespace opentrn::passes {

/// How a value lies in the iteration space: for each of its dimensions the dimension of the space it runs along, or -1
/// where it has one element.
struct SpaceValue {
  ir::Value value;
  std::vector<int32_t> dimensions;
};

/// Nodes [first, last) of a graph. `space` are the sizes of the iteration space, bit d of `reduced` says that the run's
/// reductions go over its dimension d.
struct Run {
  size_t first = 0;
  size_t last = 0;
  Dims space;
  uint64_t reduced = 0;
  std::vector<SpaceValue> made;      // by nodes of the run, views included
  std::vector<SpaceValue> operands;  // of reductions, made elsewhere

  bool empty() const { return first == last; }
  const SpaceValue* find(ir::Value value) const;
  const SpaceValue* find_operand(ir::Value value) const;
};

struct RunRules {
  /// True for nodes that have a form in such a pass; they are element-wise, iota, reduce or custom calls. A custom call
  /// may stop the program: it ends its run, and there are no reductions before it.
  FunctionRef<bool(const ir::Node&)> takes;
  /// True for nodes whose result is another look at an operand that was made before the run.
  FunctionRef<bool(const ir::Node&)> is_view;
  /// True when a node at or after a position reads the value, or it is a result of the graph.
  FunctionRef<bool(ir::Value, size_t)> needed_after;
  /// Nothing in the run but rows (values without the reduced dimensions) may depend on its reductions: the data need
  /// not be kept until they are known.
  bool one_stage = false;
  size_t most_nodes = 64;
};

/// The longest run that starts with node `first`; empty when that has no form in a run. Runs end with a node that
/// computes, not with a view or constant. Every value that is needed after the run spans the whole space, or all of it
/// but the reduced dimensions.
Run find_run(const ir::Graph& graph, size_t first, const RunRules& rules);

/// True for nodes that look at a value of the run from another side: the same elements, perhaps repeated.
bool is_view_in_run(const ir::Node& node);

}  // namespace opentrn::passes
