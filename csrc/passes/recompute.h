// Long rows take a pass over the data for each reduction on the way to a result. What lies between the passes would be
// stored and loaded again; where it follows from a parameter in a few cheap steps, each pass computes it anew.
#pragma once

#include "base/function_ref.h"
#include "ir/graph.h"

namespace opentrn::passes {

/// Repeats such steps in front of their users behind a reduction for which `ends_pass` holds. Returns whether there are
/// any; every result stays the same, bit for bit.
bool recompute_between_passes(ir::Graph& graph, FunctionRef<bool(const ir::Node&)> ends_pass);

}  // namespace opentrn::passes
