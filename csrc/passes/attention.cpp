// The pattern is matched backwards from the product with the values: along that way every value has one maker.
#include "passes/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/convert.h"

namespace opentrn::passes {

namespace {

using ir::Node;
using ir::Op;
using ir::Value;

bool counts_up(const Dims& dims, size_t length) {
  Dims expected(length);
  std::iota(expected.begin(), expected.end(), 0);
  return dims == expected;
}

class Matcher {
 public:
  explicit Matcher(const ir::Graph& graph) : graph_(graph), makers_(graph.types.size(), -1) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const Value result : graph.nodes[i].results) makers_[index(result)] = static_cast<int64_t>(i);
    }
  }

  std::optional<Attention> match(size_t value_product) {
    found_ = {};
    found_.value_product = value_product;
    const Node& product = node(value_product);
    const auto& dot = product.as<ir::DotAttributes>();
    take(value_product);
    Value probabilities = product.operands[0];
    const auto batches = shape(probabilities).size() - 2;
    if (shape(probabilities).size() < 2 || !counts_up(dot.lhs_batching_dimensions, batches)) return std::nullopt;
    if (dot.lhs_contracting_dimensions != Dims{static_cast<int64_t>(batches) + 1}) return std::nullopt;
    if (shape(product.operands[1]).size() != batches + 2) return std::nullopt;
    if (!match_softmax(skip_moves(probabilities))) return std::nullopt;
    found_.result = product.results[0];
    include_conversion();
    std::sort(found_.nodes.begin(), found_.nodes.end());
    if (!is_closed()) return std::nullopt;
    return found_;
  }

 private:
  static size_t index(Value value) { return static_cast<size_t>(value.id); }
  const Node& node(size_t i) const { return graph_.nodes[i]; }
  const Dims& shape(Value value) const { return graph_.type(value).shape; }
  bool has_float(Value value) const { return is_float(graph_.type(value).dtype); }

  const Node* maker(Value value, Op op) const {
    const int64_t i = makers_[index(value)];
    return i >= 0 && node(static_cast<size_t>(i)).op == op ? &node(static_cast<size_t>(i)) : nullptr;
  }

  void take(size_t i) {
    if (std::find(found_.nodes.begin(), found_.nodes.end(), i) == found_.nodes.end()) found_.nodes.push_back(i);
  }
  void take(Value value) { take(static_cast<size_t>(makers_[index(value)])); }

  bool keeps_rows(const Node& move) const {
    const Dims& from = shape(move.operands[0]);
    const Dims& to = shape(move.results[0]);
    return from.size() >= 2 && to.size() >= 2 && std::equal(from.end() - 2, from.end(), to.end() - 2);
  }

  /// A node that hands its elements on: a conversion between floats, or a reshape that leaves the last two dimensions.
  bool hands_on(const Node& move) const {
    switch (move.op) {
      case Op::Convert: return has_float(move.operands[0]) && has_float(move.results[0]);
      case Op::Reshape: return keeps_rows(move);
      case Op::BroadcastInDim:
        return shape(move.operands[0]) == shape(move.results[0]) &&
               counts_up(move.as<ir::BroadcastAttributes>().broadcast_dimensions, shape(move.results[0]).size());
      default: return false;
    }
  }

  Value skip_moves(Value value) {
    while (makers_[index(value)] >= 0) {
      const Node& move = node(static_cast<size_t>(makers_[index(value)]));
      if (!hands_on(move)) break;
      take(value);
      value = move.operands[0];
    }
    return value;
  }

  /// The operand of a reduction over the last dimension whose result `value` spreads over that dimension again.
  std::optional<Value> match_row_value(Value value, Op reducer, const Dims& scores) {
    const Node* spread = maker(value, Op::BroadcastInDim);
    if (spread == nullptr || shape(value) != scores) return std::nullopt;
    take(value);
    const Dims& dims = spread->as<ir::BroadcastAttributes>().broadcast_dimensions;
    Value row = spread->operands[0];
    if (shape(row).size() == scores.size()) {
      const Node* keep = maker(row, Op::Reshape);
      if (keep == nullptr || shape(row).back() != 1 || !counts_up(dims, scores.size())) return std::nullopt;
      take(row);
      row = keep->operands[0];
      if (shape(row).size() + 1 != scores.size()) return std::nullopt;
    } else if (!counts_up(dims, scores.size() - 1)) {
      return std::nullopt;
    }
    const Node* reduce = maker(row, Op::Reduce);
    if (reduce == nullptr || reduce->operands.size() != 2) return std::nullopt;
    const auto& attributes = reduce->as<ir::ReduceAttributes>();
    if (attributes.reducer != reducer || attributes.dimensions != Dims{static_cast<int64_t>(scores.size()) - 1}) {
      return std::nullopt;
    }
    if (!is_neutral(reduce->operands[1], reducer)) return std::nullopt;
    take(row);
    return reduce->operands[0];
  }

  bool is_neutral(Value initial, Op reducer) const {
    const Node* constant = maker(initial, Op::Constant);
    if (constant == nullptr) return false;
    double number = 0;
    visit_dtype(graph_.type(initial).dtype, [&]<typename T>() {
      T element;
      std::memcpy(&element, constant->as<ir::ConstantAttributes>().data.data(), sizeof(T));
      number = convert_element<double>(element);
    });
    return reducer == Op::Add ? number == 0 : std::isinf(number) && number < 0;
  }

  bool match_softmax(Value probabilities) {
    const Node* quotient = maker(probabilities, Op::Divide);
    if (quotient == nullptr || !has_float(probabilities)) return false;
    take(probabilities);
    found_.score_shape = shape(probabilities);
    const Value powers = quotient->operands[0];
    const std::optional<Value> summed = match_row_value(quotient->operands[1], Op::Add, found_.score_shape);
    if (!summed || *summed != powers) return false;
    const Node* exponential = maker(powers, Op::Exponential);
    if (exponential == nullptr) return false;
    take(powers);
    const Node* difference = maker(exponential->operands[0], Op::Subtract);
    if (difference == nullptr) return false;
    take(exponential->operands[0]);
    const Value scores = difference->operands[0];
    const std::optional<Value> largest = match_row_value(difference->operands[1], Op::Maximum, found_.score_shape);
    if (!largest || *largest != scores) return false;
    if (!match_scores(scores, false)) return false;
    std::reverse(found_.steps.begin(), found_.steps.end());
    return true;
  }

  /// `reshaped`: the scores have another shape from here on, so that other operands no longer fit.
  bool match_scores(Value scores, bool reshaped) {
    if (makers_[index(scores)] < 0) return false;
    const Node& made = node(static_cast<size_t>(makers_[index(scores)]));
    if (made.op == Op::DotGeneral) return match_key_product(scores);
    if (hands_on(made)) {
      take(scores);
      return match_scores(made.operands[0], reshaped || made.op == Op::Reshape);
    }
    switch (made.op) {
      case Op::Add:
      case Op::Multiply: return match_step(scores, made, 0, 1, reshaped) || match_step(scores, made, 1, 0, reshaped);
      case Op::Subtract:
      case Op::Divide: return match_step(scores, made, 0, 1, reshaped);
      case Op::Select: return match_step(scores, made, 1, 2, reshaped) || match_step(scores, made, 2, 1, reshaped);
      default: return false;
    }
  }

  bool match_step(Value result, const Node& made, size_t scores, size_t other, bool reshaped) {
    if (reshaped || made.operands[scores] == made.operands[other]) return false;
    ScoreStep step{made.op, made.operands[other], {}, true};
    if (made.op == Op::Select) {
      step.predicate = made.operands[0];
      step.keeps_true = scores == 1;
      if (shape(step.predicate) != shape(result)) return false;
    }
    const Attention before = found_;
    take(result);
    found_.steps.push_back(step);
    if (match_scores(made.operands[scores], reshaped)) return true;
    found_ = before;
    return false;
  }

  bool match_key_product(Value scores) {
    const auto product = static_cast<size_t>(makers_[index(scores)]);
    const auto& dot = node(product).as<ir::DotAttributes>();
    const auto one_row = [&](size_t operand, const Dims& batching, const Dims& contracting) {
      return shape(node(product).operands[operand]).size() == batching.size() + contracting.size() + 1;
    };
    if (dot.lhs_contracting_dimensions.size() != 1) return false;
    if (!one_row(0, dot.lhs_batching_dimensions, dot.lhs_contracting_dimensions)) return false;
    if (!one_row(1, dot.rhs_batching_dimensions, dot.rhs_contracting_dimensions)) return false;
    if (shape(scores).back() != found_.score_shape.back()) return false;
    take(product);
    found_.key_product = product;
    return true;
  }

  // The result right after, rounded: another float type, read by nobody before.
  void include_conversion() {
    const size_t next = found_.value_product + 1;
    if (next >= graph_.nodes.size()) return;
    const Node& conversion = node(next);
    if (conversion.op != Op::Convert || conversion.operands[0] != found_.result || !hands_on(conversion)) return;
    if (count_uses(found_.result) != 1) return;
    take(next);
    found_.result = conversion.results[0];
  }

  int64_t count_uses(Value value) const {
    int64_t uses = std::count(graph_.results.begin(), graph_.results.end(), value);
    for (const Node& each : graph_.nodes) uses += std::count(each.operands.begin(), each.operands.end(), value);
    return uses;
  }

  // Nothing outside reads a value from inside, except the result.
  bool is_closed() const {
    std::vector<bool> inside(graph_.types.size(), false);
    std::vector<bool> taken(graph_.nodes.size(), false);
    for (const size_t i : found_.nodes) {
      taken[i] = true;
      for (const Value result : node(i).results) inside[index(result)] = result != found_.result;
    }
    for (const Value result : graph_.results) {
      if (inside[index(result)]) return false;
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (taken[i]) continue;
      for (const Value operand : node(i).operands) {
        if (inside[index(operand)]) return false;
      }
    }
    return true;
  }

  const ir::Graph& graph_;
  std::vector<int64_t> makers_;  // by value
  Attention found_;
};

bool may_be_value_product(const ir::Graph& graph, size_t i) {
  const Node& node = graph.nodes[i];
  return node.op == Op::DotGeneral && is_float(graph.type(node.results[0]).dtype);
}

int64_t count_products(const ir::Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == Op::DotGeneral; });
}

bool has_exponential(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == Op::Exponential; });
}

// Nodes between the first and the last of the attention that do not belong to it go before it: none of them reads
// anything of it.
void move_together(ir::Graph& graph, const std::vector<size_t>& nodes) {
  const auto first = static_cast<std::ptrdiff_t>(nodes.front());
  const auto last = static_cast<std::ptrdiff_t>(nodes.back());
  std::vector<bool> inside(static_cast<size_t>(last - first) + 1, false);
  for (const size_t i : nodes) inside[i - nodes.front()] = true;
  std::vector<Node> others, own;
  for (std::ptrdiff_t i = first; i <= last; ++i) {
    auto& to = inside[static_cast<size_t>(i - first)] ? own : others;
    to.push_back(std::move(graph.nodes[static_cast<size_t>(i)]));
  }
  const auto middle = std::move(others.begin(), others.end(), graph.nodes.begin() + first);
  std::move(own.begin(), own.end(), middle);
}

}  // namespace

std::optional<Attention> find_attention(const ir::Graph& graph, size_t value_product) {
  if (!may_be_value_product(graph, value_product)) return std::nullopt;
  return Matcher(graph).match(value_product);
}

bool may_have_attention(const ir::Graph& graph) { return count_products(graph) >= 2 && has_exponential(graph); }

bool group_attention(ir::Graph& graph) {
  if (!may_have_attention(graph)) return false;
  bool any = false;
  std::optional<Matcher> matcher(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!may_be_value_product(graph, i)) continue;
    const std::optional<Attention> attention = matcher->match(i);
    if (!attention) continue;
    move_together(graph, attention->nodes);
    matcher.emplace(graph);
    any = true;
  }
  return any;
}

}  // namespace opentrn::passes
