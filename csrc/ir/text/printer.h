// Private to ir/text: the parts of the printer.
#pragma once

#include <string>

#include "ir/graph.h"

namespace opentrn::ir::text {

/// "%arg0" for parameters, "%0", "%1", ... for the results of nodes, by value id.
using Names = std::vector<std::string>;

/// "dense<[1.0, 2.0]>", exact for every element type: what has no short decimal form is printed as its bits.
std::string print_constant(const TensorType& type, const ConstantAttributes& constant);

/// Marks a conversion of complex numbers to bools as the IR's: true when either part is not 0, where StableHLO looks at
/// the real part alone.
inline constexpr const char* kEitherPart = "opentrn.either_part";

/// One element.
std::string print_element(DType dtype, const std::byte* element);

/// One node, without its result names and without the line's end.
std::string print_node(const Graph& graph, const Node& node, const Names& names);

/// The attributes in which convolution, fft, reduce_precision and triangular_solve are written, and select_and_scatter.
std::string print_convolution(const ConvolutionAttributes& attributes);
std::string print_fft(const FftAttributes& attributes);
std::string print_triangular(const TriangularSolveAttributes& attributes);
std::string print_select_and_scatter(const SelectAndScatterAttributes& attributes);

/// "[[0, 1], [2, 3]]" of pairs.
std::string print_pairs(const Dims& first, const Dims& second);
std::string_view print_flag(bool value);
/// ", key = array<i64: 1, 2>"
std::string array_clause(std::string_view key, const Dims& values);

/// "({...}, {...})": the regions of a node as they are. Values inside are named after `name`, the node's first result;
/// those `captured` keep their names.
std::string print_regions(const std::vector<const Region*>& regions, const std::string& name,
                          const std::vector<std::string>& captured);

/// "^bb0(...): ..." in braces: the region of scatter, reduce, reduce_window and sort, where the IR has a word for it.
std::string print_reducer_region(Op reducer, DType dtype);
std::string print_sort_region(const SortAttributes& sort, const std::vector<DType>& operands);

/// "[1, 2]" and "1, 2"
std::string print_list(const Dims& values);
std::string print_items(const Dims& values);

/// In quotes, escaped as MLIR does.
std::string print_string(std::string_view text);

/// "tensor<2xf32>, tensor<f32>"
std::string print_types(const Graph& graph, const std::vector<Value>& values);

/// "FLOAT", "SIGNED" or "UNSIGNED": what stablehlo.compare calls the order of an element type.
std::string_view comparison_type(DType dtype);

std::string_view direction_name(ComparisonDirection direction);

}  // namespace opentrn::ir::text
