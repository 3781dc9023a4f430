// What is asked of nodes that carry regions.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace opentrn::ir {

/// The regions of a node, in the order StableHLO writes them; none for most nodes.
std::vector<const Region*> regions_of(const Attributes& attributes);

/// How many of the node's operands are its own; those after them are values that its regions capture.
size_t own_operands(const Node& node);

/// True when a node does more than compute its results: it, or a node inside it, may refuse a value.
bool has_side_effect(const Node& node);

/// The nodes of the graph and of all regions in it that satisfy `predicate`.
template <typename Predicate>
int64_t count_nodes(const Graph& graph, const Predicate& predicate) {
  int64_t count = 0;
  for (const Node& node : graph.nodes) {
    if (predicate(node)) ++count;
    for (const Region* region : regions_of(node.attributes)) count += count_nodes(region->graph(), predicate);
  }
  return count;
}

}  // namespace opentrn::ir
