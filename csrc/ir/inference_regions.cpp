// Primitives that carry regions: what the regions take and give.
#include <algorithm>

#include "ir/graph.h"
#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

using Types = std::vector<TensorType>;

std::string to_string(const Types& types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) text += (i > 0 ? ", " : "") + opentrn::ir::to_string(types[i]);
  return text + ")";
}

Types types_of(const Graph& graph, const std::vector<Value>& values) {
  Types types;
  for (const Value value : values) types.push_back(graph.type(value));
  return types;
}

Types operand_types(const InferenceQuery& query, size_t begin, size_t end) {
  Types types;
  for (size_t i = begin; i < end; ++i) types.push_back(*query.operands[i]);
  return types;
}

TensorType element_of(const TensorType& type) { return {type.dtype, {}}; }

size_t result_count(const InferenceQuery& query, const Region& region) {
  if (!region) refuse(query.op, "a region is missing", "", "");
  return region.graph().results.size();
}

void require_operands(const InferenceQuery& query, size_t least) {
  if (query.operands.size() >= least) return;
  refuse(query.op, "wrong number of operands", std::to_string(query.operands.size()), concat("at least ", least));
}

// `own` are the types of the region's own parameters; those of the operands from `captured` on follow.
void require_region(const InferenceQuery& query, std::string_view which, const Region& region, Types own,
                    size_t captured, const Types& results) {
  result_count(query, region);
  const Graph& graph = region.graph();
  for (size_t i = captured; i < query.operands.size(); ++i) own.push_back(*query.operands[i]);
  if (const Types taken = types_of(graph, graph.parameters); taken != own) {
    refuse(query.op, concat(which, " takes wrong types"), to_string(taken), to_string(own));
  }
  if (const Types given = types_of(graph, graph.results); given != results) {
    refuse(query.op, concat(which, " returns wrong types"), to_string(given), to_string(results));
  }
}

// Inputs of one shape, then as many initial values: what reduce and reduce_window have in common.
size_t require_reduction(const InferenceQuery& query, const Region& body) {
  const size_t inputs = result_count(query, body);
  require_operands(query, 2 * inputs);
  if (inputs == 0) refuse(query.op, "there are no operands", "", "at least one operand");
  Types elements;
  for (size_t i = 0; i < inputs; ++i) {
    if (query.operands[i]->shape != query.operands[0]->shape) {
      refuse(query.op, operand_name(i) + " has another shape than operand 0",
             opentrn::ir::to_string(*query.operands[i]),
             concat("shape ", opentrn::to_string(query.operands[0]->shape)));
    }
    require_scalar(query.op, inputs + i, *query.operands[inputs + i], query.operands[i]->dtype);
    elements.push_back(element_of(*query.operands[i]));
  }
  Types both = elements;
  both.insert(both.end(), elements.begin(), elements.end());
  require_region(query, "the body", body, both, 2 * inputs, elements);
  return inputs;
}

Types with_shape(const InferenceQuery& query, size_t inputs, const Dims& shape) {
  Types results;
  for (size_t i = 0; i < inputs; ++i) results.push_back({query.operands[i]->dtype, shape});
  return results;
}

Types infer_reduce(const InferenceQuery& query) {
  const auto& attributes = attributes_of<ReduceAttributes>(query);
  const size_t inputs = require_reduction(query, attributes.body);
  const TensorType& first = *query.operands[0];
  require_dimensions(query.op, "dimensions", attributes.dimensions, first.rank());
  Dims shape;
  for (int64_t i = 0; i < first.rank(); ++i) {
    if (!contains(attributes.dimensions, i)) shape.push_back(at(first.shape, i));
  }
  return with_shape(query, inputs, shape);
}

Types infer_reduce_window(const InferenceQuery& query) {
  const auto& attributes = attributes_of<ReduceWindowAttributes>(query);
  const size_t inputs = require_reduction(query, attributes.body);
  return with_shape(query, inputs, windowed_shape(query.op, query.operands[0]->shape, attributes));
}

Types infer_scatter(const InferenceQuery& query) {
  const auto& attributes = attributes_of<ScatterAttributes>(query);
  const size_t inputs = result_count(query, attributes.body);
  require_operands(query, 2 * inputs + 1);
  if (inputs == 0) refuse(query.op, "there are no operands", "", "at least one operand");
  Types elements, results;
  for (size_t i = 0; i < inputs; ++i) {
    const TensorType& input = *query.operands[i];
    if (input.shape != query.operands[0]->shape) {
      refuse(query.op, operand_name(i) + " has another shape than operand 0", opentrn::ir::to_string(input),
             concat("shape ", opentrn::to_string(query.operands[0]->shape)));
    }
    require_scatter(query, i, inputs);
    elements.push_back(element_of(input));
    results.push_back(input);
  }
  Types both = elements;
  both.insert(both.end(), elements.begin(), elements.end());
  require_region(query, "the body", attributes.body, both, 2 * inputs + 1, elements);
  return results;
}

Types infer_sort(const InferenceQuery& query) {
  const auto& attributes = attributes_of<SortAttributes>(query);
  const size_t parameters = attributes.comparator.graph().parameters.size();
  const size_t inputs = parameters - std::min(parameters, query.operands.size());
  if (inputs == 0 || inputs > query.operands.size()) {
    refuse(query.op, "the comparator takes a wrong number of elements", std::to_string(parameters),
           "two for each operand");
  }
  const TensorType& first = *query.operands[0];
  require_dimensions(query.op, "dimension", {attributes.dimension}, first.rank());
  Types pairs, results;
  for (size_t i = 0; i < inputs; ++i) {
    const TensorType& operand = *query.operands[i];
    if (operand.shape != first.shape) {
      refuse(query.op, operand_name(i) + " has another shape than operand 0", opentrn::ir::to_string(operand),
             concat("shape ", opentrn::to_string(first.shape)));
    }
    pairs.insert(pairs.end(), 2, element_of(operand));
    results.push_back(operand);
  }
  require_region(query, "the comparator", attributes.comparator, pairs, inputs, {TensorType{DType::Bool, {}}});
  return results;
}

Types infer_map(const InferenceQuery& query) {
  const auto& attributes = attributes_of<MapAttributes>(query);
  if (result_count(query, attributes.computation) != 1) {
    refuse(query.op, "the computation has a wrong number of results",
           std::to_string(attributes.computation.graph().results.size()), "1");
  }
  const Graph& computation = attributes.computation.graph();
  const size_t captured = query.operands.size() - static_cast<size_t>(attributes.captured);
  if (attributes.captured < 0 || captured > query.operands.size() || captured == 0) {
    refuse(query.op, "there are no operands", std::to_string(query.operands.size()), "at least one operand");
  }
  const TensorType& first = *query.operands[0];
  Types elements;
  for (size_t i = 0; i < captured; ++i) {
    elements.push_back(element_of(*query.operands[i]));
    if (query.operands[i]->shape == first.shape) continue;
    refuse(query.op, operand_name(i) + " has another shape than operand 0", opentrn::ir::to_string(*query.operands[i]),
           concat("shape ", opentrn::to_string(first.shape)));
  }
  const TensorType result = computation.type(computation.results[0]);
  require_length(query.op, "dimensions", attributes.dimensions, first.shape.size());
  require_region(query, "the computation", attributes.computation, elements, captured, {element_of(result)});
  return {{result.dtype, first.shape}};
}

Types infer_while(const InferenceQuery& query) {
  const auto& attributes = attributes_of<WhileAttributes>(query);
  const size_t carried = result_count(query, attributes.body);
  require_operands(query, carried);
  const Types types = operand_types(query, 0, carried);
  require_region(query, "the condition", attributes.condition, types, carried, {TensorType{DType::Bool, {}}});
  require_region(query, "the body", attributes.body, types, carried, types);
  return types;
}

Types infer_branches(const InferenceQuery& query) {
  const auto& branches = attributes_of<BranchAttributes>(query).branches;
  require_operands(query, 1);
  const bool is_if = query.op == Op::If;
  require_scalar(query.op, 0, *query.operands[0], is_if ? DType::Bool : DType::I32);
  if (is_if ? branches.size() != 2 : branches.empty()) {
    refuse(query.op, "wrong number of branches", std::to_string(branches.size()), is_if ? "2" : "at least 1");
  }
  result_count(query, branches[0]);
  const Types results = types_of(branches[0].graph(), branches[0].graph().results);
  for (size_t i = 0; i < branches.size(); ++i) {
    require_region(query, concat("branch ", i), branches[i], {}, 1, results);
  }
  return results;
}

Types infer_select_and_scatter(const InferenceQuery& query) {
  const auto& a = attributes_of<SelectAndScatterAttributes>(query);
  require_operands(query, 3);
  const TensorType& operand = *query.operands[0];
  const TensorType& source = *query.operands[1];
  const Dims ones(operand.shape.size(), 1);
  const Dims shape =
      windowed_shape(query.op, operand.shape,
                     {Op::Map, a.window_dimensions, a.window_strides, ones, ones, a.padding_low, a.padding_high});
  if (source != TensorType{operand.dtype, shape}) {
    refuse(query.op, "operand 1 does not fit the windows of operand 0", opentrn::ir::to_string(source),
           opentrn::ir::to_string(TensorType{operand.dtype, shape}));
  }
  require_scalar(query.op, 2, *query.operands[2], operand.dtype);
  const TensorType element = element_of(operand);
  require_region(query, "the select function", a.select, {element, element}, 3, {TensorType{DType::Bool, {}}});
  require_region(query, "the scatter function", a.scatter, {element, element}, 3, {element});
  return {operand};
}

}  // namespace

std::vector<TensorType> infer_with_regions(const InferenceQuery& query) {
  switch (query.op) {
    case Op::Reduce: return infer_reduce(query);
    case Op::ReduceWindow: return infer_reduce_window(query);
    case Op::Scatter: return infer_scatter(query);
    case Op::Sort: return infer_sort(query);
    case Op::Map: return infer_map(query);
    case Op::While: return infer_while(query);
    case Op::SelectAndScatter: return infer_select_and_scatter(query);
    default: return infer_branches(query);
  }
}

}  // namespace opentrn::ir
