#include "ir/region.h"

#include <algorithm>
#include <utility>

namespace opentrn::ir {

namespace {

bool same_node(const Node& left, const Node& right) {
  return left.op == right.op && left.operands == right.operands && left.results == right.results &&
         left.attributes == right.attributes;
}

bool same_function(const Graph& left, const Graph& right) {
  return left.types == right.types && left.parameters == right.parameters && left.results == right.results &&
         std::equal(left.nodes.begin(), left.nodes.end(), right.nodes.begin(), right.nodes.end(), same_node);
}

// Parameters first, then results in the order of the nodes, so that the same function has the same numbers however it
// was built.
Graph renumbered(Graph graph) {
  std::vector<Value> number(graph.types.size());
  std::deque<TensorType> types;
  const auto define = [&](std::vector<Value>& values) {
    for (Value& value : values) {
      types.push_back(graph.type(value));
      value = number[static_cast<size_t>(value.id)] = Value{static_cast<int32_t>(types.size()) - 1};
    }
  };
  const auto use = [&](std::vector<Value>& values) {
    for (Value& value : values) value = number[static_cast<size_t>(value.id)];
  };
  define(graph.parameters);
  for (Node& node : graph.nodes) {
    use(node.operands);
    define(node.results);
  }
  use(graph.results);
  graph.types = std::move(types);
  return graph;
}

void append(std::vector<const Region*>& regions, const Region& region) {
  if (region) regions.push_back(&region);
}

/// Each kind of attributes that may carry regions; all others have none.
struct Collector {
  std::vector<const Region*>& regions;

  void operator()(const ReduceAttributes& a) const { append(regions, a.body); }
  void operator()(const ReduceWindowAttributes& a) const { append(regions, a.body); }
  void operator()(const ScatterAttributes& a) const { append(regions, a.body); }
  void operator()(const SortAttributes& a) const { append(regions, a.comparator); }
  void operator()(const MapAttributes& a) const { append(regions, a.computation); }
  void operator()(const WhileAttributes& a) const {
    append(regions, a.condition);
    append(regions, a.body);
  }
  void operator()(const BranchAttributes& a) const {
    for (const Region& branch : a.branches) append(regions, branch);
  }
  void operator()(const SelectAndScatterAttributes& a) const {
    append(regions, a.select);
    append(regions, a.scatter);
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

}  // namespace

Region::Region(Graph graph) : graph_(std::make_shared<const Graph>(renumbered(std::move(graph)))) {}

bool Region::operator==(const Region& other) const {
  if (graph_ == other.graph_) return true;
  if (graph_ == nullptr || other.graph_ == nullptr) return false;
  return same_function(*graph_, *other.graph_);
}

std::vector<const Region*> regions_of(const Attributes& attributes) {
  std::vector<const Region*> regions;
  std::visit(Collector{regions}, attributes);
  return regions;
}

size_t own_operands(const Node& node) {
  const std::vector<const Region*> regions = regions_of(node.attributes);
  if (regions.empty()) return node.operands.size();
  const Graph& last = regions.back()->graph();
  switch (node.op) {
    case Op::Case:
    case Op::If: return 1;
    case Op::SelectAndScatter: return 3;
    case Op::Map: return node.operands.size() - static_cast<size_t>(node.as<MapAttributes>().captured);
    case Op::Reduce:
    case Op::ReduceWindow: return 2 * last.results.size();
    case Op::Scatter: return 2 * last.results.size() + 1;
    case Op::Sort: return node.results.size();
    default: return last.results.size();  // while
  }
}

bool has_side_effect(const Node& node) {
  if (node.op == Op::CustomCall) return true;
  const std::vector<const Region*> regions = regions_of(node.attributes);
  return std::any_of(regions.begin(), regions.end(), [](const Region* region) {
    const std::vector<Node>& nodes = region->graph().nodes;
    return std::any_of(nodes.begin(), nodes.end(), has_side_effect);
  });
}

}  // namespace opentrn::ir
