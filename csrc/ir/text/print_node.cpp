// One node, in the form StableHLO gives to its primitive.
#include <array>

#include "base/error.h"
#include "ir/region.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

struct Context {
  const Graph& graph;
  const Node& node;
  const Names& names;

  const TensorType& operand_type(size_t index) const { return graph.type(node.operands[index]); }
  const TensorType& result_type() const { return graph.type(node.results.front()); }
  const std::string& operand(size_t index) const { return names[static_cast<size_t>(node.operands[index].id)]; }

  /// Without those that regions capture: they are read where they are named.
  std::string operands() const {
    std::string text;
    for (size_t i = 0; i < own_operands(node); ++i) text += (i > 0 ? ", " : "") + operand(i);
    return text;
  }

  std::string signature() const {
    const std::string results = print_types(graph, node.results);
    const std::vector<Value> own(node.operands.begin(),
                                 node.operands.begin() + static_cast<std::ptrdiff_t>(own_operands(node)));
    return " : (" + print_types(graph, own) + ") -> " + (node.results.size() == 1 ? results : "(" + results + ")");
  }

  std::string regions() const {
    std::vector<std::string> captured;
    for (size_t i = own_operands(node); i < node.operands.size(); ++i) captured.push_back(operand(i));
    const std::string first = node.results.empty() ? "%" : names[static_cast<size_t>(node.results.front().id)];
    return print_regions(regions_of(node.attributes), first, captured);
  }

  bool same_types() const {
    for (const Value value : node.operands) {
      if (!(graph.type(value) == result_type())) return false;
    }
    return true;
  }
};

std::string clause(std::string_view key, const Dims& values) { return concat(", ", key, " = ", print_list(values)); }

// The dialects differ: "stablehlo.abs %0 : T", "chlo.erf %0 : T -> T".
std::string print_elementwise(const Context& context) {
  const Op op = context.node.op;
  const std::string start = concat(name(op), " ", context.operands());
  if (name(op).starts_with("chlo.")) {
    return concat(start, " : ", print_types(context.graph, context.node.operands), " -> ",
                  to_string(context.result_type()));
  }
  if (op == Op::Complex) return start + " : " + to_string(context.result_type());
  if (op == Op::Select)
    return concat(start, " : ", to_string(context.operand_type(0)), ", ", to_string(context.result_type()));
  const bool either_part =
      op == Op::Convert && is_bool(context.result_type().dtype) && is_complex(context.operand_type(0).dtype);
  if (either_part) return concat(start, " {", kEitherPart, " = true}", context.signature());
  if (op == Op::Convert || op == Op::BitcastConvert || !context.same_types()) return start + context.signature();
  return start + " : " + to_string(context.result_type());
}

std::string print_compare(const Context& context) {
  return concat("stablehlo.compare ", direction_name(context.node.as<CompareAttributes>().direction), ", ",
                context.operands(), ", ", comparison_type(context.operand_type(0).dtype), context.signature());
}

std::string print_slice(const Context& context) {
  const auto& [start, limit, strides] = context.node.as<SliceAttributes>();
  std::string ranges;
  for (size_t i = 0; i < start.size(); ++i) {
    ranges += concat(i > 0 ? ", " : "", start[i], ":", limit[i]);
    if (strides[i] != 1) ranges += concat(":", strides[i]);
  }
  return concat("stablehlo.slice ", context.operands(), " [", ranges, "]", context.signature());
}

std::string print_pad(const Context& context) {
  const auto& attributes = context.node.as<PadAttributes>();
  return concat("stablehlo.pad ", context.operands(), clause("low", attributes.edge_padding_low),
                clause("high", attributes.edge_padding_high), clause("interior", attributes.interior_padding),
                context.signature());
}

std::string print_gather(const Context& context) {
  const auto& a = context.node.as<GatherAttributes>();
  return concat("\"stablehlo.gather\"(", context.operands(),
                ") <{dimension_numbers = #stablehlo.gather<offset_dims = ", print_list(a.offset_dims),
                clause("collapsed_slice_dims", a.collapsed_slice_dims),
                clause("operand_batching_dims", a.operand_batching_dims),
                clause("start_indices_batching_dims", a.start_indices_batching_dims),
                clause("start_index_map", a.start_index_map), ", index_vector_dim = ", a.index_vector_dim,
                ">, indices_are_sorted = ", print_flag(a.indices_are_sorted), ", slice_sizes = array<i64",
                a.slice_sizes.empty() ? "" : ": ", print_items(a.slice_sizes), ">}>", context.signature());
}

std::string print_scatter(const Context& context) {
  const auto& a = context.node.as<ScatterAttributes>();
  return concat(
      "\"stablehlo.scatter\"(", context.operands(), ") <{indices_are_sorted = ", print_flag(a.indices_are_sorted),
      ", scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = ", print_list(a.update_window_dims),
      clause("inserted_window_dims", a.inserted_window_dims), clause("input_batching_dims", a.input_batching_dims),
      clause("scatter_indices_batching_dims", a.scatter_indices_batching_dims),
      clause("scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims),
      ", index_vector_dim = ", a.index_vector_dim, ">, unique_indices = ", print_flag(a.unique_indices), "}> ",
      a.body ? context.regions() : print_reducer_region(a.update, context.operand_type(0).dtype), context.signature());
}

// precision: float32 is float32, on hardware whose default is a narrower product too.
std::string print_dot(const Context& context) {
  const auto& a = context.node.as<DotAttributes>();
  std::string text = "stablehlo.dot_general " + context.operands();
  if (!a.lhs_batching_dimensions.empty()) {
    text += clause("batching_dims", a.lhs_batching_dimensions) + " x " + print_list(a.rhs_batching_dimensions);
  }
  text += clause("contracting_dims", a.lhs_contracting_dimensions) + " x " + print_list(a.rhs_contracting_dimensions);
  return text + ", precision = [HIGHEST, HIGHEST]" + context.signature();
}

std::string print_reduce(const Context& context) {
  const auto& a = context.node.as<ReduceAttributes>();
  if (a.body) {
    return concat("\"stablehlo.reduce\"(", context.operands(), ") <{dimensions = array<i64",
                  a.dimensions.empty() ? "" : ": ", print_items(a.dimensions), ">}> ", context.regions(),
                  context.signature());
  }
  return concat("stablehlo.reduce(", context.operand(0), " init: ", context.operand(1), ") applies ", name(a.reducer),
                " across dimensions = ", print_list(a.dimensions), context.signature());
}

std::string print_padding(const Dims& low, const Dims& high) {
  return concat("dense<", low.empty() ? "" : print_pairs(low, high), "> : tensor<", low.size(), "x2xi64>");
}

std::string print_reduce_window(const Context& context) {
  const auto& a = context.node.as<ReduceWindowAttributes>();
  return concat(
      "\"stablehlo.reduce_window\"(", context.operands(),
      ") <{padding = ", print_padding(a.padding_low, a.padding_high), array_clause("base_dilations", a.base_dilations),
      array_clause("window_dilations", a.window_dilations), array_clause("window_dimensions", a.window_dimensions),
      array_clause("window_strides", a.window_strides), "}> ",
      a.body ? context.regions() : print_reducer_region(a.reducer, context.operand_type(0).dtype), context.signature());
}

std::string print_sort(const Context& context) {
  const auto& a = context.node.as<SortAttributes>();
  std::vector<DType> operands;
  for (const Value value : context.node.results) operands.push_back(context.graph.type(value).dtype);
  return concat("\"stablehlo.sort\"(", context.operands(), ") <{dimension = ", a.dimension,
                " : i64, is_stable = ", print_flag(a.is_stable), "}> ",
                a.comparator ? context.regions() : print_sort_region(a, operands), context.signature());
}

std::string print_custom_call(const Context& context) {
  const auto& a = context.node.as<CustomCallAttributes>();
  return concat("stablehlo.custom_call @", a.target, "(", context.operands(),
                ") {backend_config = ", print_string(a.text), ", opentrn.integers = array<i64",
                a.integers.empty() ? "" : ": ", print_items(a.integers), ">}", context.signature());
}

std::string print_with(const Context& context, const std::string& clauses) {
  return concat(name(context.node.op), " ", context.operands(), clauses, context.signature());
}

// Primitives whose regions say all, and those that have other attributes too.
std::string print_generic(const Context& context, const std::string& attributes) {
  const std::string dictionary = attributes.empty() ? "" : "<{" + attributes + "}> ";
  return concat("\"", name(context.node.op), "\"(", context.operands(), ") ", dictionary, context.regions(),
                context.signature());
}

std::string print_map(const Context& context) {
  const Dims& dimensions = context.node.as<MapAttributes>().dimensions;
  return print_generic(context, array_clause("dimensions", dimensions).substr(2));
}

std::string print_numeric(const Context& context) {
  const Node& node = context.node;
  const std::string start = concat(name(node.op), node.op == Op::Convolution ? "(" : " ", context.operands());
  switch (node.op) {
    case Op::Cholesky:
      return concat(start, ", lower = ", print_flag(node.as<CholeskyAttributes>().lower), context.signature());
    case Op::Convolution:
      return concat(start, ") ", print_convolution(node.as<ConvolutionAttributes>()), context.signature());
    case Op::Fft: return concat(start, print_fft(node.as<FftAttributes>()), context.signature());
    default:
      return concat("\"", name(node.op), "\"(", context.operands(), ") ",
                    print_triangular(node.as<TriangularSolveAttributes>()), context.signature());
  }
}

std::string print_reduce_precision(const Context& context) {
  const auto& [exponent_bits, mantissa_bits] = context.node.as<ReducePrecisionAttributes>();
  return concat(name(context.node.op), " ", context.operands(), ", format = e", exponent_bits, "m", mantissa_bits,
                " : ", to_string(context.result_type()));
}

}  // namespace

std::string print_node(const Graph& graph, const Node& node, const Names& names) {
  const Context context{graph, node, names};
  switch (node.op) {
    case Op::Compare: return print_compare(context);
    case Op::BroadcastInDim:
      return print_with(context, clause("dims", node.as<BroadcastAttributes>().broadcast_dimensions));
    case Op::Concatenate: return print_with(context, concat(", dim = ", node.as<ConcatenateAttributes>().dimension));
    case Op::Constant:
      return concat("stablehlo.constant ", print_constant(context.result_type(), node.as<ConstantAttributes>()), " : ",
                    to_string(context.result_type()));
    case Op::DynamicSlice: return print_with(context, clause("sizes", node.as<DynamicSliceAttributes>().slice_sizes));
    case Op::Iota:
      return concat("stablehlo.iota dim = ", node.as<IotaAttributes>().iota_dimension, " : ",
                    to_string(context.result_type()));
    case Op::Reverse:
      return concat("stablehlo.reverse ", context.operands(), clause("dims", node.as<ReverseAttributes>().dimensions),
                    " : ", to_string(context.result_type()));
    case Op::Transpose: return print_with(context, clause("dims", node.as<TransposeAttributes>().permutation));
    case Op::RngBitGenerator: return print_with(context, ", algorithm = PHILOX");
    case Op::DynamicUpdateSlice:
    case Op::Reshape: return print_with(context, "");
    case Op::Slice: return print_slice(context);
    case Op::Pad: return print_pad(context);
    case Op::Gather: return print_gather(context);
    case Op::Scatter: return print_scatter(context);
    case Op::CustomCall: return print_custom_call(context);
    case Op::DotGeneral: return print_dot(context);
    case Op::Reduce: return print_reduce(context);
    case Op::ReduceWindow: return print_reduce_window(context);
    case Op::Sort: return print_sort(context);
    case Op::Cholesky:
    case Op::Convolution:
    case Op::Fft:
    case Op::TriangularSolve: return print_numeric(context);
    case Op::ReducePrecision: return print_reduce_precision(context);
    case Op::Case:
    case Op::If:
    case Op::While: return print_generic(context, "");
    case Op::Map: return print_map(context);
    case Op::SelectAndScatter:
      return print_generic(context, print_select_and_scatter(node.as<SelectAndScatterAttributes>()));
    default: return print_elementwise(context);
  }
}

}  // namespace opentrn::ir::text
