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

}  // namespace

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
