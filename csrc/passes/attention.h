// Finds attention in a graph: softmax(query x key^T, scaled and masked) x value, spelled with primitives.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace opentrn::passes {

/// One step between the products of queries and keys and the softmax, or from its probabilities on.
struct ScoreStep {
  ir::Op op = ir::Op::Add;  // Add, Subtract, Multiply, Divide: score op other; Select
  ir::Value other;          // of the shape of the scores; for Select what replaces a score
  ir::Value predicate;      // Select only
  bool keeps_true = true;   // Select: the score stays where the predicate is true
};

/// The parts of one attention. The last dimension of the scores counts keys, the one before it queries.
struct Attention {
  std::vector<size_t> nodes;     // ascending; the first is the product with the keys, the last makes `result`
  size_t key_product = 0;        // dot_general(query, key)
  size_t value_product = 0;      // dot_general(probabilities, value)
  std::vector<ScoreStep> steps;  // in order
  Dims score_shape;
  ir::Value result;
};

/// The attention whose product with the values is node `value_product`, when that is what the node belongs to and
/// nothing else reads the values in between.
std::optional<Attention> find_attention(const ir::Graph& graph, size_t value_product);

/// A quick look: without two products and an exponential there is no attention.
bool may_have_attention(const ir::Graph& graph);

/// Moves the nodes of each attention next to each other, behind everything else they need. Returns whether there is
/// one.
bool group_attention(ir::Graph& graph);

}  // namespace opentrn::passes
