#pragma once

#include "ir/graph.h"

namespace opentrn::ir {

/// Checks structure and types of a whole graph: every operand defined before its use, every result type the one that
/// inference gives. Raises an Error of kind Internal that names node and operand.
void verify(const Graph& graph);

}  // namespace opentrn::ir
