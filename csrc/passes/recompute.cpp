#include "passes/recompute.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/aliases.h"
#include "passes/passes.h"

namespace opentrn::passes {

namespace {

using ir::Op;
using ir::Value;

constexpr int kMostSteps = 3;

bool is_cheap(Op op) {
  switch (op) {
    case Op::Convert:
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::Negate:
    case Op::Abs:
    case Op::Maximum:
    case Op::Minimum: return true;
    default: return false;
  }
}

class Recomputer {
 public:
  Recomputer(ir::Graph& graph, FunctionRef<bool(const ir::Node&)> ends_pass)
      : graph_(graph), ends_pass_(ends_pass), facts_(graph.types.size()) {
    find_facts();
  }

  bool run() {
    const std::vector<ir::Node> nodes = std::exchange(graph_.nodes, {});
    for (ir::Node node : nodes) {
      if (ir::is_elementwise(node.op)) repeat_operands(node, nodes);
      graph_.nodes.push_back(std::move(node));
    }
    return any_;
  }

 private:
  struct Fact {
    int64_t maker = -1;   // node; -1: a parameter
    int pass = 0;         // reductions that end one on the way to the value
    bool stored = false;  // whatever happens
  };

  const Fact& fact(Value value) const { return facts_[static_cast<size_t>(value.id)]; }
  Fact& fact(Value value) { return facts_[static_cast<size_t>(value.id)]; }
  const ir::TensorType& type(Value value) const { return graph_.type(value); }

  void find_facts() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ir::Node& node = graph_.nodes[i];
      int pass = 0;
      for (const Value operand : node.operands) {
        pass = std::max(pass, fact(operand).pass);
        if (!ir::is_elementwise(node.op) && node.op != Op::Reduce) fact(operand).stored = true;
      }
      if (node.op == Op::Reduce && ends_pass_(node)) ++pass;
      for (const Value result : node.results) fact(result) = {static_cast<int64_t>(i), pass, false};
    }
    for (const Value result : graph_.results) fact(result).stored = true;
  }

  // Numbers of the row, and what is the same for all of them, are no data to store.
  bool is_data(Value value, const std::vector<ir::Node>& nodes) const {
    while (fact(value).maker >= 0) {
      const ir::Node& maker = nodes[static_cast<size_t>(fact(value).maker)];
      if (maker.op == Op::Constant) return false;
      if (maker.op != Op::BroadcastInDim && maker.op != Op::Reshape && maker.op != Op::Transpose) return true;
      const Value source = maker.operands[0];
      if (type(source).elements() < type(value).elements()) return false;
      value = source;
    }
    return true;
  }

  bool is_parameter(Value value, const std::vector<ir::Node>& nodes) const {
    while (fact(value).maker >= 0) {
      const ir::Node& maker = nodes[static_cast<size_t>(fact(value).maker)];
      if (!ir::may_alias(maker)) return false;
      value = maker.operands[0];
    }
    return true;
  }

  /// What it takes to compute a value anew.
  struct Cost {
    int steps = 0;
    int64_t bytes = 0;  // of parameters
  };

  // False when it follows from more than parameters and rows, or takes too long.
  bool add_cost(Value value, const std::vector<ir::Node>& nodes, Cost& cost) const {
    if (!is_data(value, nodes)) return true;
    if (is_parameter(value, nodes)) {
      cost.bytes += type(value).elements() * size_of(type(value).dtype);
      return true;
    }
    const ir::Node& maker = nodes[static_cast<size_t>(fact(value).maker)];
    if (!is_cheap(maker.op) || fact(value).stored || ++cost.steps > kMostSteps) return false;
    return std::all_of(maker.operands.begin(), maker.operands.end(),
                       [&](Value operand) { return add_cost(operand, nodes, cost); });
  }

  bool is_worth_repeating(Value value, const std::vector<ir::Node>& nodes) const {
    if (fact(value).maker < 0 || !is_data(value, nodes) || is_parameter(value, nodes)) return false;
    Cost cost;
    return add_cost(value, nodes, cost) && cost.bytes <= type(value).elements() * size_of(type(value).dtype);
  }

  void repeat_operands(ir::Node& node, const std::vector<ir::Node>& nodes) {
    int pass = 0;
    for (const Value operand : node.operands) pass = std::max(pass, fact(operand).pass);
    for (Value& operand : node.operands) {
      if (fact(operand).pass < pass && is_worth_repeating(operand, nodes)) operand = repeated(operand, pass, nodes);
    }
  }

  Value repeated(Value value, int pass, const std::vector<ir::Node>& nodes) {
    if (!is_data(value, nodes) || is_parameter(value, nodes)) return value;
    const auto known = repeated_.find({value.id, pass});
    if (known != repeated_.end()) return known->second;
    ir::Node copy = nodes[static_cast<size_t>(fact(value).maker)];
    for (Value& operand : copy.operands) operand = repeated(operand, pass, nodes);
    const Value result = graph_.new_value(type(value));
    copy.results = {result};
    graph_.nodes.push_back(std::move(copy));
    repeated_.emplace(std::pair{value.id, pass}, result);
    any_ = true;
    return result;
  }

  ir::Graph& graph_;
  FunctionRef<bool(const ir::Node&)> ends_pass_;
  std::vector<Fact> facts_;  // by value
  std::map<std::pair<int32_t, int>, Value> repeated_;
  bool any_ = false;
};

}  // namespace

bool recompute_between_passes(ir::Graph& graph, FunctionRef<bool(const ir::Node&)> ends_pass) {
  const bool any = Recomputer(graph, ends_pass).run();
  if (any) eliminate_dead_code(graph);
  return any;
}

}  // namespace opentrn::passes
