#include "ir/region.h"
#include "passes/passes.h"

namespace opentrn::passes {

namespace {

std::vector<bool> live_values(const ir::Graph& graph, std::vector<bool>& live_nodes) {
  std::vector<bool> live(graph.types.size(), false);
  const auto mark = [&](const std::vector<ir::Value>& values) {
    for (const ir::Value value : values) live[static_cast<size_t>(value.id)] = true;
  };
  mark(graph.parameters);
  mark(graph.results);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const ir::Node& node = graph.nodes[i];
    bool needed = ir::has_side_effect(node);
    for (const ir::Value result : node.results) needed = needed || live[static_cast<size_t>(result.id)];
    live_nodes[i] = needed;
    if (!needed) continue;
    mark(node.operands);
    mark(node.results);
  }
  return live;
}

}  // namespace

void eliminate_dead_code(ir::Graph& graph) {
  std::vector<bool> live_nodes(graph.nodes.size());
  const std::vector<bool> live = live_values(graph, live_nodes);
  std::vector<ir::Value> renumbered(graph.types.size());
  std::deque<ir::TensorType> types;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    renumbered[i] = ir::Value{static_cast<int32_t>(types.size())};
    types.push_back(std::move(graph.types[i]));
  }
  const auto renumber = [&](std::vector<ir::Value>& values) {
    for (ir::Value& value : values) value = renumbered[static_cast<size_t>(value.id)];
  };
  size_t kept = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!live_nodes[i]) continue;
    if (kept != i) graph.nodes[kept] = std::move(graph.nodes[i]);
    renumber(graph.nodes[kept].operands);
    renumber(graph.nodes[kept].results);
    ++kept;
  }
  graph.nodes.resize(kept);
  graph.types = std::move(types);
  renumber(graph.parameters);
  renumber(graph.results);
}

}  // namespace opentrn::passes
