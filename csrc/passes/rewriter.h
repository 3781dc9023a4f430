// Private to passes: a walk over a graph in which values are replaced by earlier ones.
#pragma once

#include "ir/graph.h"

namespace opentrn::passes {

class Rewriter {
 public:
  explicit Rewriter(ir::Graph& graph);

  ir::Graph& graph() { return graph_; }
  const ir::TensorType& type(ir::Value value) const { return graph_.type(value); }

  /// The node that defines `value`, or null for a parameter.
  const ir::Node* producer(ir::Value value) const;
  /// The same, when it is a node of this primitive.
  const ir::Node* producer(ir::Value value, ir::Op op) const;
  /// The one element of a constant all of whose elements are equal, or null.
  const std::vector<std::byte>* splat(ir::Value value) const;

  /// From here on, users of `value` read `by`.
  void replace(ir::Value value, ir::Value by) { replacement_[static_cast<size_t>(value.id)] = by; }

  /// Calls `visit(node)` for every node in order, with its operands replaced already, and replaces the results at the
  /// end.
  template <typename Visit>
  void walk(Visit&& visit) {
    for (ir::Node& node : graph_.nodes) {
      for (ir::Value& operand : node.operands) operand = replacement_[static_cast<size_t>(operand.id)];
      visit(node);
    }
    for (ir::Value& result : graph_.results) result = replacement_[static_cast<size_t>(result.id)];
  }

 private:
  ir::Graph& graph_;
  std::vector<ir::Value> replacement_;  // by value id
  std::vector<int32_t> producer_;       // index of a node by value id; -1 for parameters
};

}  // namespace opentrn::passes
