// What the regions of reduce, reduce_window, scatter and sort say, where the IR has a word for it.
#include <utility>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/inference.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

// What a sort's region must be, by the number it sorts by.
Graph expected_order(const std::vector<TensorType>& parameters, bool descending) {
  Builder builder("region");
  std::vector<Value> values;
  for (const TensorType& type : parameters) values.push_back(builder.parameter(type));
  const auto direction = descending ? ComparisonDirection::GT : ComparisonDirection::LT;
  const Value ordered = builder.compare(direction, values[0], values[1]);
  if (!is_float(parameters[0].dtype)) return builder.finish({ordered});
  const Value last = values[descending ? 0 : 1];
  const Value first = values[descending ? 1 : 0];
  const Value nan = builder.compare(ComparisonDirection::NE, last, last);
  const Value number = builder.compare(ComparisonDirection::EQ, first, first);
  const Value beyond = builder.and_(nan, number);
  return builder.finish({builder.or_(ordered, beyond)});
}

// The primitive of its two arguments that a region returns; Select for the second argument itself; nothing for others.
std::optional<Op> single_primitive(const Graph& region, bool may_replace) {
  const bool binary = region.parameters.size() == 2 && region.results.size() == 1;
  if (!binary || region.nodes.size() > 1) return std::nullopt;
  if (region.nodes.empty()) {
    return may_replace && region.results[0] == region.parameters[1] ? std::optional(Op::Select) : std::nullopt;
  }
  const Node& node = region.nodes[0];
  const std::vector<Value> swapped{region.parameters[1], region.parameters[0]};
  const bool of_both = node.operands == region.parameters || node.operands == swapped;
  if (!of_both || node.results != region.results) return std::nullopt;
  const DType dtype = region.type(region.parameters[0]).dtype;
  return is_reducer(node.op, dtype) ? std::optional(node.op) : std::nullopt;
}

}  // namespace

void require_regions(const Lexer& lexer, const Statement& statement, size_t count) {
  if (statement.regions.size() == count) return;
  lexer.fail(statement.where, "an operation has a wrong number of regions", std::to_string(statement.regions.size()),
             std::to_string(count));
}

Region take_region(Statement& statement, size_t index) { return Region(std::move(statement.regions[index])); }

// A reducer the IR has a short word for, or Op::Map with the region itself in `body`.
Op function_of_region(const Lexer& lexer, Statement& statement, bool may_replace, Region& body) {
  require_regions(lexer, statement, 1);
  const size_t most_operands = may_replace ? 3 : 2;
  const bool plain = statement.captured.empty() && statement.operands.size() == most_operands;
  const std::optional<Op> single = plain ? single_primitive(statement.regions[0], may_replace) : std::nullopt;
  if (single) return *single;
  body = take_region(statement, 0);
  return Op::Map;
}

// An order the IR has a flag for, or the comparator itself.
void recognise_order(const Lexer& lexer, Statement& statement, SortAttributes& sort) {
  require_regions(lexer, statement, 1);
  Graph& region = statement.regions[0];
  std::vector<TensorType> parameters;
  for (const Value parameter : region.parameters) parameters.push_back(region.type(parameter));
  const bool usable = statement.captured.empty() && parameters.size() == 2 * statement.operands.size() &&
                      parameters.size() >= 2 && parameters[0] == parameters[1] && !is_complex(parameters[0].dtype);
  Region comparator(std::move(region));
  for (const bool descending : {false, true}) {
    sort.descending = descending;
    if (usable && comparator == Region(expected_order(parameters, descending))) return;
  }
  sort.descending = false;
  sort.comparator = std::move(comparator);
}

}  // namespace opentrn::ir::text
