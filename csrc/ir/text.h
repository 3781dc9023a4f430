// StableHLO text. `parse(print(graph))` is the same graph, up to the numbering of values.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace opentrn::ir {

/// A module with one function, in StableHLO's textual form.
std::string print(const Graph& graph);

/// Reads what `print` writes, and the same subset written by other tools. Errors name line and column.
Graph parse(std::string_view text);

}  // namespace opentrn::ir
