// Regions: the functions that scatter, reduce_window and sort carry. Spelled out, so that other tools read what we
// mean.
#include "base/error.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

std::string scalar(DType dtype) { return to_string(TensorType{dtype, {}}); }

std::string compare(std::string_view direction, std::string_view left, std::string_view right, DType dtype) {
  return concat("stablehlo.compare ", direction, ", ", left, ", ", right, ", ", comparison_type(dtype), " : (",
                scalar(dtype), ", ", scalar(dtype), ") -> tensor<i1>\n");
}

// `before` is true when the first element must come before the second: a NaN is greater than every number.
std::string print_order(DType dtype, bool descending) {
  const std::string_view direction = descending ? "GT" : "LT";
  if (!is_float(dtype)) return "      %before = " + compare(direction, "%lhs0", "%rhs0", dtype);
  const std::string_view last = descending ? "%lhs0" : "%rhs0";
  const std::string_view first = descending ? "%rhs0" : "%lhs0";
  std::string text;
  text += "      %ordered = " + compare(direction, "%lhs0", "%rhs0", dtype);
  text += "      %nan = " + compare("NE", last, last, dtype);
  text += "      %number = " + compare("EQ", first, first, dtype);
  text += "      %beyond = stablehlo.and %nan, %number : tensor<i1>\n";
  text += "      %before = stablehlo.or %ordered, %beyond : tensor<i1>\n";
  return text;
}

std::string join(const std::vector<Value>& values, const Names& names) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + names[static_cast<size_t>(values[i].id)];
  return text;
}

// Names that no surrounding function or region has: "%r" and the name of the node's first result.
Names name_values(const Graph& region, const std::string& name, const std::vector<std::string>& captured) {
  Names names(region.types.size());
  const std::string prefix = "%r" + name.substr(1) + "_";
  int64_t next = 0;
  const size_t own = region.parameters.size() - captured.size();
  for (size_t i = 0; i < region.parameters.size(); ++i) {
    names[static_cast<size_t>(region.parameters[i].id)] = i < own ? prefix + std::to_string(next++) : captured[i - own];
  }
  for (const Node& node : region.nodes) {
    for (const Value result : node.results) names[static_cast<size_t>(result.id)] = prefix + std::to_string(next++);
  }
  return names;
}

std::string print_one(const Graph& region, const std::string& name, const std::vector<std::string>& captured) {
  const Names names = name_values(region, name, captured);
  std::string text = "{\n";
  const size_t own = region.parameters.size() - captured.size();
  if (own > 0) text += "    ^bb0(";
  for (size_t i = 0; i < own; ++i) {
    const Value parameter = region.parameters[i];
    text +=
        concat(i > 0 ? ", " : "", names[static_cast<size_t>(parameter.id)], ": ", to_string(region.type(parameter)));
  }
  if (own > 0) text += "):\n";
  for (const Node& node : region.nodes) {
    const std::string results = node.results.empty() ? "" : join(node.results, names) + " = ";
    text += "      " + results + print_node(region, node, names) + "\n";
  }
  text += "      stablehlo.return";
  if (!region.results.empty()) {
    text += " " + join(region.results, names) + " : " + print_types(region, region.results);
  }
  return text + "\n    }";
}

}  // namespace

std::string print_regions(const std::vector<const Region*>& regions, const std::string& name,
                          const std::vector<std::string>& captured) {
  std::string text = "(";
  for (const Region* region : regions) {
    text += (text.size() > 1 ? ", " : "") + print_one(region->graph(), name, captured);
  }
  return text + ")";
}

std::string print_reducer_region(Op reducer, DType dtype) {
  const std::string type = scalar(dtype);
  std::string text = concat("({\n    ^bb0(%lhs: ", type, ", %rhs: ", type, "):\n");
  const bool replaces = reducer == Op::Select;
  if (!replaces) text += concat("      %both = ", name(reducer), " %lhs, %rhs : ", type, "\n");
  return text + concat("      stablehlo.return ", replaces ? "%rhs" : "%both", " : ", type, "\n    })");
}

std::string print_sort_region(const SortAttributes& sort, const std::vector<DType>& operands) {
  std::string text = "({\n    ^bb0(";
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string type = scalar(operands[i]);
    text += concat(i > 0 ? ", " : "", "%lhs", i, ": ", type, ", %rhs", i, ": ", type);
  }
  text += "):\n" + print_order(operands.front(), sort.descending);
  return text + "      stablehlo.return %before : tensor<i1>\n    })";
}

}  // namespace opentrn::ir::text
