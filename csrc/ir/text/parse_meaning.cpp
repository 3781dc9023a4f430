// From attributes as they are written to the structs of ir/attributes.h.
#include "base/error.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

CompareAttributes compare_attributes(const Statement& statement, AttributeMap& attributes) {
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

ScatterAttributes scatter_attributes(const Lexer& lexer, Statement& statement, AttributeMap& attributes) {
  AttributeMap numbers = attributes.take_fields("scatter_dimension_numbers");
  ScatterAttributes a;
  a.update_window_dims = numbers.take_list_or("update_window_dims", {});
  a.inserted_window_dims = numbers.take_list_or("inserted_window_dims", {});
  a.input_batching_dims = numbers.take_list_or("input_batching_dims", {});
  a.scatter_indices_batching_dims = numbers.take_list_or("scatter_indices_batching_dims", {});
  a.scatter_dims_to_operand_dims = numbers.take_list_or("scatter_dims_to_operand_dims", {});
  a.index_vector_dim = numbers.has("index_vector_dim") ? numbers.take_integer("index_vector_dim") : 0;
  numbers.expect_empty();
  a.update = function_of_region(lexer, statement, true, a.body);
  a.indices_are_sorted = attributes.take_flag_or("indices_are_sorted", false);
  a.unique_indices = attributes.take_flag_or("unique_indices", false);
  return a;
}

DotAttributes dot_attributes(AttributeMap& attributes) {
  // Products are exact whatever a tool asks for.
  for (const char* key : {"precision", "precision_config", "algorithm"}) attributes.drop(key);
  DotAttributes a;
  if (attributes.has("dot_dimension_numbers")) {
    AttributeMap numbers = attributes.take_fields("dot_dimension_numbers");
    a.lhs_batching_dimensions = numbers.take_list_or("lhs_batching_dimensions", {});
    a.rhs_batching_dimensions = numbers.take_list_or("rhs_batching_dimensions", {});
    a.lhs_contracting_dimensions = numbers.take_list_or("lhs_contracting_dimensions", {});
    a.rhs_contracting_dimensions = numbers.take_list_or("rhs_contracting_dimensions", {});
    numbers.expect_empty();
    return a;
  }
  if (attributes.has("batching_dims")) {
    AttributeValue batching = attributes.take("batching_dims");
    a.lhs_batching_dimensions = std::move(batching.integers);
    a.rhs_batching_dimensions = batching.second_list.value_or(Dims{});
  }
  if (attributes.has("contracting_dims")) {
    AttributeValue contracting = attributes.take("contracting_dims");
    a.lhs_contracting_dimensions = std::move(contracting.integers);
    a.rhs_contracting_dimensions = contracting.second_list.value_or(Dims{});
  }
  return a;
}

ReduceAttributes reduce_attributes(const Lexer& lexer, Statement& statement, AttributeMap& attributes) {
  ReduceAttributes a;
  if (attributes.has("reducer")) {
    const std::string word = attributes.take_word("reducer");
    const std::optional<Op> reducer = op_from_name(word);
    if (!reducer) attributes.fail("unknown reducer", word, "a primitive of the catalogue");
    a.reducer = *reducer;
  } else {
    a.reducer = function_of_region(lexer, statement, false, a.body);
  }
  a.dimensions = attributes.take_list("dimensions");
  return a;
}

ReduceWindowAttributes window_attributes(const Lexer& lexer, Statement& statement, AttributeMap& attributes) {
  ReduceWindowAttributes a;
  a.reducer = function_of_region(lexer, statement, false, a.body);
  a.window_dimensions = attributes.take_list("window_dimensions");
  const size_t rank = a.window_dimensions.size();
  a.window_strides = attributes.take_list_or("window_strides", Dims(rank, 1));
  a.base_dilations = attributes.take_list_or("base_dilations", Dims(rank, 1));
  a.window_dilations = attributes.take_list_or("window_dilations", Dims(rank, 1));
  split_padding(attributes, "padding", rank, a.padding_low, a.padding_high);
  return a;
}

SortAttributes sort_attributes(const Lexer& lexer, Statement& statement, AttributeMap& attributes, int64_t rank) {
  SortAttributes a;
  a.dimension = attributes.take_integer_or("dimension", -1);
  if (a.dimension < 0) a.dimension += rank;
  a.is_stable = attributes.take_flag_or("is_stable", false);
  recognise_order(lexer, statement, a);
  return a;
}

Attributes random_attributes(AttributeMap& attributes) {
  const std::string algorithm = attributes.take_word(attributes.spelling({"rng_algorithm", "algorithm"}));
  if (algorithm != "PHILOX") attributes.fail("unknown algorithm", algorithm, "PHILOX");
  return {};
}

CustomCallAttributes call_attributes(AttributeMap& attributes) {
  CustomCallAttributes a;
  a.target = attributes.take_word("call_target_name");
  a.integers = attributes.take_list_or("opentrn.integers", {});
  if (attributes.has("backend_config")) a.text = attributes.take_word("backend_config");
  for (const char* key : {"api_version", "has_side_effect"}) attributes.drop(key);
  return a;
}

PadAttributes pad_attributes(AttributeMap& attributes) {
  PadAttributes a;
  a.edge_padding_low = list_named(attributes, {"edge_padding_low", "low"});
  a.edge_padding_high = list_named(attributes, {"edge_padding_high", "high"});
  a.interior_padding = list_named(attributes, {"interior_padding", "interior"});
  return a;
}

SliceAttributes slice_attributes(AttributeMap& attributes) {
  SliceAttributes a;
  a.start_indices = attributes.take_list("start_indices");
  a.limit_indices = attributes.take_list("limit_indices");
  a.strides = attributes.take_list("strides");
  return a;
}

ConstantAttributes constant_attributes(const Lexer& lexer, Statement& statement) {
  if (statement.signature.results.size() != 1) lexer.fail(statement.where, "a constant has no type");
  const WrittenType& type = statement.signature.results.front();
  if (statement.attributes.has("value")) {
    AttributeValue value = statement.attributes.take("value");
    if (value.type != type.type) lexer.fail(statement.where, "a constant has another type than its value");
    return {std::move(value.elements)};
  }
  if (!statement.literal) lexer.fail(statement.where, "a constant has no value", "", "dense<...>");
  if (!type.is_static()) lexer.fail(statement.where, "a constant has no shape", to_string(type), "static sizes");
  return {dense_bytes(lexer, statement.where, *statement.literal, type.type)};
}

SelectAndScatterAttributes select_and_scatter_attributes(const Lexer& lexer, Statement& statement,
                                                         AttributeMap& attributes) {
  require_regions(lexer, statement, 2);
  SelectAndScatterAttributes a;
  a.window_dimensions = attributes.take_list("window_dimensions");
  const size_t rank = a.window_dimensions.size();
  a.window_strides = attributes.take_list_or("window_strides", Dims(rank, 1));
  split_padding(attributes, "padding", rank, a.padding_low, a.padding_high);
  a.select = take_region(statement, 0);
  a.scatter = take_region(statement, 1);
  return a;
}

BranchAttributes branch_attributes(Statement& statement) {
  BranchAttributes a;
  for (size_t i = 0; i < statement.regions.size(); ++i) a.branches.push_back(take_region(statement, i));
  return a;
}

MapAttributes map_attributes(const Lexer& lexer, Statement& statement, AttributeMap& attributes) {
  require_regions(lexer, statement, 1);
  return {attributes.take_list("dimensions"), take_region(statement, 0),
          static_cast<int64_t>(statement.captured.size())};
}

WhileAttributes while_attributes(const Lexer& lexer, Statement& statement) {
  require_regions(lexer, statement, 2);
  return {take_region(statement, 0), take_region(statement, 1)};
}

int64_t rank_of_result(const Statement& statement) {
  return statement.signature.results.empty() ? 0 : statement.signature.results.front().type.rank();
}

}  // namespace

Attributes make_attributes(const Lexer& lexer, Statement& statement) {
  AttributeMap& attributes = statement.attributes;
  switch (*statement.op) {
    case Op::Compare: return compare_attributes(statement, attributes);
    case Op::BroadcastInDim: return BroadcastAttributes{list_named(attributes, {"broadcast_dimensions", "dims"})};
    case Op::Concatenate: return ConcatenateAttributes{integer_named(attributes, {"dimension", "dim"})};
    case Op::Constant: return constant_attributes(lexer, statement);
    case Op::DynamicSlice: return DynamicSliceAttributes{list_named(attributes, {"slice_sizes", "sizes"})};
    case Op::Gather: return gather_attributes(attributes);
    case Op::Scatter: return scatter_attributes(lexer, statement, attributes);
    case Op::Iota: return IotaAttributes{integer_named(attributes, {"iota_dimension", "dim"})};
    case Op::Pad: return pad_attributes(attributes);
    case Op::Reverse: return ReverseAttributes{list_named(attributes, {"dimensions", "dims"})};
    case Op::Slice: return slice_attributes(attributes);
    case Op::Transpose: return TransposeAttributes{list_named(attributes, {"permutation", "dims"})};
    case Op::ReducePrecision: return precision_attributes(attributes);
    case Op::Case:
    case Op::If: return branch_attributes(statement);
    case Op::Cholesky: return CholeskyAttributes{attributes.take_flag_or("lower", false)};
    case Op::Convolution: return convolution_attributes(attributes);
    case Op::CustomCall: return call_attributes(attributes);
    case Op::DotGeneral: return dot_attributes(attributes);
    case Op::Fft: return fft_attributes(attributes);
    case Op::Map: return map_attributes(lexer, statement, attributes);
    case Op::Reduce: return reduce_attributes(lexer, statement, attributes);
    case Op::ReduceWindow: return window_attributes(lexer, statement, attributes);
    case Op::RngBitGenerator: return random_attributes(attributes);
    case Op::SelectAndScatter: return select_and_scatter_attributes(lexer, statement, attributes);
    case Op::Sort: return sort_attributes(lexer, statement, attributes, rank_of_result(statement));
    case Op::TriangularSolve: return triangular_attributes(attributes);
    case Op::While: return while_attributes(lexer, statement);
    default: break;
  }
  attributes.drop("result_accuracy");  // a hint how exact a function has to be: ours are exact whatever it says
  return {};
}

}  // namespace opentrn::ir::text
