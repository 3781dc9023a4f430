// From attributes as they are written to the structs of ir/attributes.h.
#include <array>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

CompareAttributes compare_attributes(const Statement& statement, AttributeMap& attributes) {
  attributes.drop("compare_type");
  const std::string word = attributes.take_word("comparison_direction");
  for (const auto direction : {ComparisonDirection::EQ, ComparisonDirection::NE, ComparisonDirection::GE,
                               ComparisonDirection::GT, ComparisonDirection::LE, ComparisonDirection::LT}) {
    if (direction_name(direction) == word) return {direction};
  }
  statement.attributes.fail("unknown comparison direction", word, "EQ, NE, GE, GT, LE or LT");
}

GatherAttributes gather_attributes(AttributeMap& attributes) {
  AttributeMap numbers = attributes.take_fields("dimension_numbers");
  GatherAttributes a;
  a.offset_dims = numbers.take_list_or("offset_dims", {});
  a.collapsed_slice_dims = numbers.take_list_or("collapsed_slice_dims", {});
  a.operand_batching_dims = numbers.take_list_or("operand_batching_dims", {});
  a.start_indices_batching_dims = numbers.take_list_or("start_indices_batching_dims", {});
  a.start_index_map = numbers.take_list_or("start_index_map", {});
  a.index_vector_dim = numbers.has("index_vector_dim") ? numbers.take_integer("index_vector_dim") : 0;
  numbers.expect_empty();
  a.slice_sizes = attributes.take_list("slice_sizes");
  a.indices_are_sorted = attributes.take_flag_or("indices_are_sorted", false);
  return a;
}

ScatterAttributes scatter_attributes(const Lexer& lexer, const Statement& statement, AttributeMap& attributes) {
  AttributeMap numbers = attributes.take_fields("scatter_dimension_numbers");
  ScatterAttributes a;
  a.update_window_dims = numbers.take_list_or("update_window_dims", {});
  a.inserted_window_dims = numbers.take_list_or("inserted_window_dims", {});
  a.input_batching_dims = numbers.take_list_or("input_batching_dims", {});
  a.scatter_indices_batching_dims = numbers.take_list_or("scatter_indices_batching_dims", {});
  a.scatter_dims_to_operand_dims = numbers.take_list_or("scatter_dims_to_operand_dims", {});
  a.index_vector_dim = numbers.has("index_vector_dim") ? numbers.take_integer("index_vector_dim") : 0;
  numbers.expect_empty();
  a.update = reducer_of_region(lexer, statement, true);
  a.indices_are_sorted = attributes.take_flag_or("indices_are_sorted", false);
  a.unique_indices = attributes.take_flag_or("unique_indices", false);
  return a;
}

DotAttributes dot_attributes(AttributeMap& attributes) {
  attributes.drop("precision");  // products are exact whatever a tool asks for
  DotAttributes a;
  if (attributes.has("batching_dims")) {
    AttributeValue batching = attributes.take("batching_dims");
    a.lhs_batching_dimensions = std::move(batching.integers);
    a.rhs_batching_dimensions = batching.second_list.value_or(Dims{});
  }
  AttributeValue contracting = attributes.take("contracting_dims");
  a.lhs_contracting_dimensions = std::move(contracting.integers);
  a.rhs_contracting_dimensions = contracting.second_list.value_or(Dims{});
  return a;
}

ReduceAttributes reduce_attributes(AttributeMap& attributes) {
  const std::string word = attributes.take_word("reducer");
  const std::optional<Op> reducer = op_from_name(word);
  if (!reducer) attributes.fail("unknown reducer", word, "a primitive of the catalogue");
  return {*reducer, attributes.take_list("dimensions")};
}

ReduceWindowAttributes window_attributes(const Lexer& lexer, const Statement& statement, AttributeMap& attributes) {
  ReduceWindowAttributes a;
  a.reducer = reducer_of_region(lexer, statement, false);
  a.window_dimensions = attributes.take_list("window_dimensions");
  const size_t rank = a.window_dimensions.size();
  a.window_strides = attributes.take_list_or("window_strides", Dims(rank, 1));
  a.base_dilations = attributes.take_list_or("base_dilations", Dims(rank, 1));
  a.window_dilations = attributes.take_list_or("window_dilations", Dims(rank, 1));
  const Dims padding = attributes.take_list_or("padding", Dims(2 * rank, 0));
  if (padding.size() != 2 * rank)
    attributes.fail("'padding' has a wrong length", to_string(padding), "two a dimension");
  for (size_t i = 0; i < rank; ++i) {
    a.padding_low.push_back(padding[2 * i]);
    a.padding_high.push_back(padding[2 * i + 1]);
  }
  return a;
}

SortAttributes sort_attributes(const Lexer& lexer, const Statement& statement, AttributeMap& attributes) {
  SortAttributes a;
  a.dimension = attributes.has("dimension") ? attributes.take_integer("dimension") : -1;
  a.is_stable = attributes.take_flag_or("is_stable", false);
  a.descending = region_is_descending(lexer, statement);
  return a;
}

Attributes random_attributes(AttributeMap& attributes) {
  const std::string algorithm = attributes.take_word("algorithm");
  if (algorithm != "PHILOX") attributes.fail("unknown algorithm", algorithm, "PHILOX");
  return {};
}

CustomCallAttributes call_attributes(AttributeMap& attributes) {
  CustomCallAttributes a;
  a.target = attributes.take_word("call_target_name");
  a.integers = attributes.take_list_or("opentrn.integers", {});
  if (attributes.has("backend_config")) a.text = attributes.take_word("backend_config");
  for (const std::string key : {"api_version", "has_side_effect"}) attributes.drop(key);
  return a;
}

PadAttributes pad_attributes(AttributeMap& attributes) {
  PadAttributes a;
  a.edge_padding_low = attributes.take_list("low");
  a.edge_padding_high = attributes.take_list("high");
  a.interior_padding = attributes.take_list("interior");
  return a;
}

SliceAttributes slice_attributes(AttributeMap& attributes) {
  SliceAttributes a;
  a.start_indices = attributes.take_list("start_indices");
  a.limit_indices = attributes.take_list("limit_indices");
  a.strides = attributes.take_list("strides");
  return a;
}

ConstantAttributes constant_attributes(const Lexer& lexer, const Statement& statement) {
  if (!statement.literal) lexer.fail(statement.where, "a constant has no value", "", "dense<...>");
  return {dense_bytes(lexer, statement.where, *statement.literal, statement.signature.results.front())};
}

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

bool same_function(const Graph& left, const Graph& right) {
  const auto same_node = [](const Node& a, const Node& b) {
    return a.op == b.op && a.operands == b.operands && a.results == b.results && a.attributes == b.attributes;
  };
  return left.types == right.types && left.results == right.results && left.nodes.size() == right.nodes.size() &&
         std::equal(left.nodes.begin(), left.nodes.end(), right.nodes.begin(), same_node);
}

const Graph& region_of(const Lexer& lexer, const Statement& statement) {
  if (!statement.region) lexer.fail(statement.where, "an operation has no region", "", "({...}) after its attributes");
  return *statement.region;
}

}  // namespace

Op reducer_of_region(const Lexer& lexer, const Statement& statement, bool may_replace) {
  const Graph& region = region_of(lexer, statement);
  const bool binary = region.parameters.size() == 2 && region.results.size() == 1;
  if (binary && region.nodes.empty() && may_replace && region.results[0] == region.parameters[1]) return Op::Select;
  if (binary && region.nodes.size() == 1 && region.nodes[0].results == region.results) {
    const std::vector<Value>& operands = region.nodes[0].operands;
    const std::vector<Value> swapped{region.parameters[1], region.parameters[0]};
    if (operands == region.parameters || operands == swapped) return region.nodes[0].op;
  }
  lexer.fail(statement.where, "the region is no known combination", concat(region.nodes.size(), " operations"),
             "one primitive of the two arguments, its result returned");
}

bool region_is_descending(const Lexer& lexer, const Statement& statement) {
  const Graph& region = region_of(lexer, statement);
  std::vector<TensorType> parameters;
  for (const Value parameter : region.parameters) parameters.push_back(region.type(parameter));
  const bool usable = parameters.size() == 2 * statement.operands.size() && parameters.size() >= 2 &&
                      parameters[0] == parameters[1] && !is_complex(parameters[0].dtype);
  if (usable && same_function(region, expected_order(parameters, false))) return false;
  if (usable && same_function(region, expected_order(parameters, true))) return true;
  lexer.fail(statement.where, "the region is no known order", concat(region.nodes.size(), " operations"),
             "the first two arguments compared, NaN greater than every number");
}

Attributes make_attributes(const Lexer& lexer, Statement& statement) {
  AttributeMap& attributes = statement.attributes;
  switch (statement.op) {
    case Op::Compare: return compare_attributes(statement, attributes);
    case Op::BroadcastInDim: return BroadcastAttributes{attributes.take_list("dims")};
    case Op::Concatenate: return ConcatenateAttributes{attributes.take_integer("dim")};
    case Op::Constant: return constant_attributes(lexer, statement);
    case Op::DynamicSlice: return DynamicSliceAttributes{attributes.take_list("sizes")};
    case Op::Gather: return gather_attributes(attributes);
    case Op::Scatter: return scatter_attributes(lexer, statement, attributes);
    case Op::Iota: return IotaAttributes{attributes.take_integer("dim")};
    case Op::Pad: return pad_attributes(attributes);
    case Op::Reverse: return ReverseAttributes{attributes.take_list("dims")};
    case Op::Slice: return slice_attributes(attributes);
    case Op::Transpose: return TransposeAttributes{attributes.take_list("dims")};
    case Op::CustomCall: return call_attributes(attributes);
    case Op::DotGeneral: return dot_attributes(attributes);
    case Op::Reduce: return reduce_attributes(attributes);
    case Op::ReduceWindow: return window_attributes(lexer, statement, attributes);
    case Op::RngBitGenerator: return random_attributes(attributes);
    case Op::Sort: return sort_attributes(lexer, statement, attributes);
    default: return {};
  }
}

}  // namespace opentrn::ir::text
