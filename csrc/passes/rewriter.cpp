#include "passes/rewriter.h"

namespace opentrn::passes {

Rewriter::Rewriter(ir::Graph& graph) : graph_(graph), producer_(graph.types.size(), -1) {
  replacement_.reserve(graph.types.size());
  for (size_t i = 0; i < graph.types.size(); ++i) replacement_.push_back(ir::Value{static_cast<int32_t>(i)});
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ir::Value result : graph.nodes[i].results)
      producer_[static_cast<size_t>(result.id)] = static_cast<int32_t>(i);
  }
}

const ir::Node* Rewriter::producer(ir::Value value) const {
  const int32_t index = producer_[static_cast<size_t>(value.id)];
  return index < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(index)];
}

const ir::Node* Rewriter::producer(ir::Value value, ir::Op op) const {
  const ir::Node* node = producer(value);
  return node != nullptr && node->op == op ? node : nullptr;
}

const std::vector<std::byte>* Rewriter::splat(ir::Value value) const {
  const ir::Node* constant = producer(value, ir::Op::Constant);
  if (constant == nullptr) return nullptr;
  const auto& data = constant->as<ir::ConstantAttributes>().data;
  return static_cast<int64_t>(data.size()) == size_of(type(value).dtype) ? &data : nullptr;
}

}  // namespace opentrn::passes
