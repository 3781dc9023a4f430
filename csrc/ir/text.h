// StableHLO text. `parse(print(graph))` is the same graph, up to the numbering of values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace opentrn::ir {

/// A module with one function, in StableHLO's textual form.
std::string print(const Graph& graph);

/// "dense<[1.0, 2.0]> : tensor<2xf32>"; data as in ConstantAttributes.
std::string print_elements(const TensorType& type, const std::vector<std::byte>& data);

struct ParseOptions {
  /// What every "?" in the types of the module's parameters stands for, and the value of 0-dimensional integer
  /// parameters before the first such type: that is how JAX hands over the sizes a module is exported with. Nothing:
  /// such modules are refused.
  std::optional<int64_t> dynamic_size = {};
};

/// Reads what `print` writes, and modules written by other tools: the graph of the function "main", or of the only
/// function that is not private. Calls are spelled out. Errors name line and column.
Graph parse(std::string_view text, const ParseOptions& options = {});

/// The modules of a file that holds several, with "// -----" lines between them.
std::vector<std::string> split_modules(std::string_view text);

}  // namespace opentrn::ir
