// Graph to graph. Every pass keeps each result bit for bit (a NaN stays a NaN, whatever its payload), is linear in the
// size of the graph, and runs on every compile.
#pragma once

#include "ir/graph.h"

namespace opentrn::passes {

/// All passes below, in the order that lets each use what the one before it made.
void canonicalise(ir::Graph& graph);

/// Turns what only moves, converts or combines splat constants into constants.
void fold_constants(ir::Graph& graph);

/// Removes what gives back its operand (x * 1, a select of a constant predicate, a reshape to the same shape) and joins
/// chains of reshape, transpose, broadcast_in_dim and lossless convert.
void simplify(ir::Graph& graph);

/// Computes equal nodes once.
void eliminate_common_subexpressions(ir::Graph& graph);

/// Drops nodes whose results nobody reads, custom calls excepted: they may raise errors. Numbers the values anew,
/// without gaps.
void eliminate_dead_code(ir::Graph& graph);

}  // namespace opentrn::passes
