#include "ir/builder.h"

#include "ir/inference.h"
#include "ir/inference_rules.h"

namespace opentrn::ir {

Value Builder::parameter(TensorType type) {
  for (const int64_t size : type.shape) {
    if (size >= 0) continue;
    raise(ErrorKind::Runtime, {.where = graph_.name,
                               .what = concat("parameter ", graph_.parameters.size(), " has a negative size"),
                               .got = to_string(type),
                               .expected = "sizes of at least 0"});
  }
  const Value value = graph_.new_value(std::move(type));
  graph_.parameters.push_back(value);
  return value;
}

Graph Builder::finish(std::vector<Value> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].valid() && static_cast<size_t>(results[i].id) < graph_.types.size()) continue;
    raise(ErrorKind::Internal, {.where = graph_.name, .what = concat("result ", i, " is not a value of this graph")});
  }
  graph_.results = std::move(results);
  return std::exchange(graph_, Graph{});
}

std::vector<Value> Builder::append_all(Op op, std::vector<Value> operands, Attributes attributes,
                                       const TensorType* declared) {
  std::vector<const TensorType*> operand_types;
  operand_types.reserve(operands.size());
  for (const Value operand : operands) {
    if (!operand.valid() || static_cast<size_t>(operand.id) >= graph_.types.size()) {
      raise(ErrorKind::Internal, {.where = std::string(name(op)),
                                  .what = operand_name(operand_types.size()) + " is not a value of this graph"});
    }
    operand_types.push_back(&graph_.type(operand));
  }
  std::vector<TensorType> types = infer({op, operand_types, attributes, declared});
  std::vector<Value> results;
  results.reserve(types.size());
  for (TensorType& type : types) results.push_back(graph_.new_value(std::move(type)));
  graph_.nodes.push_back(Node{op, std::move(operands), results, std::move(attributes)});
  return results;
}

Value Builder::append(Op op, std::vector<Value> operands, Attributes attributes, const TensorType* declared) {
  return append_all(op, std::move(operands), std::move(attributes), declared).front();
}

}  // namespace opentrn::ir
