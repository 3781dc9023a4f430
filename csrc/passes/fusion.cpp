#include "passes/fusion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/aliases.h"

namespace opentrn::passes {

namespace {

using ir::Op;
using ir::Value;
using Mapping = std::vector<int32_t>;

constexpr size_t kMostDimensions = 32;
constexpr int64_t kMostRepeatedElements = 1 << 16;  // of values that are computed anew wherever they are broadcast to
constexpr int kMostRepeatedNodes = 4;

// Worth computing again rather than storing and loading.
bool is_cheap(Op op) {
  switch (op) {
    case Op::Convert:
    case Op::Add:
    case Op::Subtract:
    case Op::Multiply:
    case Op::Negate:
    case Op::Abs:
    case Op::Maximum:
    case Op::Minimum:
    case Op::Compare:
    case Op::Select:
    case Op::And:
    case Op::Or:
    case Op::Not: return true;
    default: return false;
  }
}

const SpaceValue* find_in(const std::vector<SpaceValue>& values, Value value) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.value == value; });
  return found == values.end() ? nullptr : &*found;
}

uint64_t all_dimensions(const Dims& space) {
  uint64_t all = 0;
  for (size_t d = 0; d < space.size(); ++d) {
    if (space[d] != 1) all |= uint64_t{1} << d;
  }
  return all;
}

uint64_t spanned(const Mapping& mapping) {
  uint64_t result = 0;
  for (const int32_t d : mapping) {
    if (d >= 0) result |= uint64_t{1} << d;
  }
  return result;
}

class RunFinder {
 public:
  RunFinder(const ir::Graph& graph, size_t first, size_t limit, const RunRules& rules)
      : graph_(graph), rules_(rules), limit_(limit) {
    run_.first = first;
    run_.last = first;
  }

  Run find() {
    for (size_t i = run_.first; i < limit_; ++i) {
      const ir::Node& node = graph_.nodes[i];
      if (node.op == Op::Constant) continue;
      if (is_view_of_made(node)) {
        if (!take_view(node)) break;
        continue;
      }
      if (is_view_of_others(node) && rules_.is_view(node)) continue;
      if (!rules_.takes(node) || !take(node)) break;
      run_.last = i + 1;
      if (++nodes_ == rules_.most_nodes || node.op == Op::CustomCall) break;
    }
    return std::move(run_);
  }

 private:
  struct Stages {
    Value value;
    int stage;
  };

  const Dims& shape(Value value) const { return graph_.type(value).shape; }
  bool is_made(Value value) const { return find_in(run_.made, value) != nullptr; }
  bool is_view_of_made(const ir::Node& node) const { return is_view_in_run(node) && is_made(node.operands[0]); }

  bool is_view_of_others(const ir::Node& node) const {
    return ir::may_alias(node) && !ir::is_check(node) && !is_made(node.operands[0]);
  }

  int stage(Value value) const {
    const auto found =
        std::find_if(stages_.begin(), stages_.end(), [&](const Stages& one) { return one.value == value; });
    return found == stages_.end() ? 0 : found->stage;
  }

  int operand_stage(const ir::Node& node) const {
    int result = 0;
    for (const Value operand : node.operands) result = std::max(result, stage(operand));
    return result;
  }

  static bool covers(const Mapping& mapping, uint64_t dimensions) {
    return std::any_of(mapping.begin(), mapping.end(), [&](int32_t d) { return d >= 0 && (dimensions >> d & 1) != 0; });
  }

  bool add(Value value, Mapping mapping, int stage) {
    if (rules_.one_stage && stage > 0 && covers(mapping, run_.reduced)) return false;
    run_.made.push_back({value, std::move(mapping)});
    if (stage > 0) stages_.push_back({value, stage});
    return true;
  }

  bool take(const ir::Node& node) {
    if (node.op == Op::Reduce) return take_reduce(node);
    if (node.op == Op::CustomCall && run_.reduced != 0) return false;
    const Dims& result = shape(node.results[0]);
    if (result.size() > kMostDimensions) return false;
    Mapping mapping(result.size(), -1);
    for (const Value operand : node.operands) {
      const SpaceValue* made = find_in(run_.made, operand);
      if (made == nullptr || made->dimensions.size() != mapping.size()) continue;
      if (!unite(mapping, made->dimensions)) return false;
    }
    if (!complete(mapping, result)) return false;
    if (!is_cheap(node.op)) ++costly_;
    return add(node.results[0], std::move(mapping), operand_stage(node));
  }

  static bool unite(Mapping& mapping, const Mapping& other) {
    for (size_t d = 0; d < mapping.size(); ++d) {
      if (other[d] < 0 || other[d] == mapping[d]) continue;
      if (mapping[d] >= 0) return false;
      mapping[d] = other[d];
    }
    return true;
  }

  // Finds a place in the space for the dimensions that have none yet. Any place of the right size is right, because
  // whoever reads the value has to agree with it.
  bool complete(Mapping& mapping, const Dims& sizes) {
    if (is_complete(mapping, sizes)) return true;
    if (try_aligned(mapping, sizes, 0, false)) return true;
    if (run_.reduced != 0 && try_aligned(mapping, sizes, 0, true)) return true;
    if (sizes.size() < run_.space.size() && try_aligned(mapping, sizes, run_.space.size() - sizes.size(), false)) {
      return true;
    }
    if (element_count(run_.space) != 1 || run_.reduced != 0) return false;
    run_.space = sizes;
    identity(mapping, sizes);
    return true;
  }

  static bool is_complete(const Mapping& mapping, const Dims& sizes) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] != 1 && mapping[d] < 0) return false;
    }
    return true;
  }

  static void identity(Mapping& mapping, const Dims& sizes) {
    for (size_t d = 0; d < sizes.size(); ++d) mapping[d] = sizes[d] == 1 ? -1 : static_cast<int32_t>(d);
  }

  // Dimension d of the value is dimension d + shift of the space, of all of it or of what is not reduced.
  bool try_aligned(Mapping& mapping, const Dims& sizes, size_t shift, bool kept_only) const {
    Mapping tried = mapping;
    size_t target = shift;
    for (size_t d = 0; d < sizes.size(); ++d, ++target) {
      while (kept_only && target < run_.space.size() && (run_.reduced >> target & 1) != 0) ++target;
      if (target >= run_.space.size()) return false;
      if (sizes[d] == 1) continue;
      const auto place = static_cast<int32_t>(target);
      if (sizes[d] != run_.space[target] || (tried[d] >= 0 && tried[d] != place)) return false;
      if (tried[d] < 0 && std::find(mapping.begin(), mapping.end(), place) != mapping.end()) return false;
      tried[d] = place;
    }
    if (kept_only) {
      while (target < run_.space.size() && (run_.reduced >> target & 1) != 0) ++target;
    }
    if (shift == 0 && target != run_.space.size()) return false;
    mapping = std::move(tried);
    return true;
  }

  bool take_reduce(const ir::Node& node) {
    const auto& attributes = node.as<ir::ReduceAttributes>();
    const Value operand = node.operands[0];
    const SpaceValue* made = find_in(run_.made, operand);
    const Dims& sizes = shape(operand);
    if (sizes.size() > kMostDimensions || is_made(node.operands[1])) return false;
    Mapping mapping = made != nullptr ? made->dimensions : Mapping(sizes.size(), -1);
    if (made == nullptr && !complete(mapping, sizes)) return false;
    uint64_t reduced = 0;
    Mapping kept;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const bool goes = std::find(attributes.dimensions.begin(), attributes.dimensions.end(),
                                  static_cast<int64_t>(d)) != attributes.dimensions.end();
      if (!goes) kept.push_back(mapping[d]);
      if (goes && mapping[d] >= 0) reduced |= uint64_t{1} << mapping[d];
    }
    const int before = stage(operand);
    if (reduced == 0) {  // over single elements
      if (made == nullptr) run_.operands.push_back({operand, mapping});
      return add(node.results[0], std::move(kept), before);
    }
    const bool other_rows = run_.reduced != 0 && reduced != run_.reduced;
    if (other_rows || (rules_.one_stage && before > 0) || spanned(mapping) != all_dimensions(run_.space)) return false;
    if (made == nullptr) run_.operands.push_back({operand, mapping});
    run_.reduced = reduced;
    ++costly_;
    return add(node.results[0], std::move(kept), before + 1);
  }

  bool take_view(const ir::Node& node) {
    const SpaceValue& made = *find_in(run_.made, node.operands[0]);
    const Dims& from = shape(node.operands[0]);
    const Dims& to = shape(node.results[0]);
    if (to.size() > kMostDimensions) return false;
    Mapping mapping(to.size(), -1);
    switch (node.op) {
      case Op::BitcastConvert:
        if (size_of(graph_.type(node.operands[0]).dtype) != size_of(graph_.type(node.results[0]).dtype)) return false;
        mapping = made.dimensions;
        break;
      case Op::Transpose: {
        const Dims& permutation = node.as<ir::TransposeAttributes>().permutation;
        for (size_t d = 0; d < to.size(); ++d) mapping[d] = made.dimensions[static_cast<size_t>(permutation[d])];
        break;
      }
      case Op::Reshape:
        if (!reshape(made.dimensions, from, to, mapping)) return false;
        break;
      default: return take_broadcast(node, made, mapping);
    }
    return add(node.results[0], std::move(mapping), stage(node.operands[0]));
  }

  // Only dimensions of one element come and go.
  static bool reshape(const Mapping& before, const Dims& from, const Dims& to, Mapping& mapping) {
    size_t source = 0;
    for (size_t d = 0; d < to.size(); ++d) {
      if (to[d] == 1) continue;
      while (source < from.size() && from[source] == 1) ++source;
      if (source == from.size() || from[source] != to[d]) return false;
      mapping[d] = before[source++];
    }
    while (source < from.size() && from[source] == 1) ++source;
    return source == from.size();
  }

  bool take_broadcast(const ir::Node& node, const SpaceValue& made, Mapping mapping) {
    const Dims& places = node.as<ir::BroadcastAttributes>().broadcast_dimensions;
    const Dims& from = shape(node.operands[0]);
    const Dims& to = shape(node.results[0]);
    for (size_t d = 0; d < places.size(); ++d) {
      if (from[d] == to[static_cast<size_t>(places[d])]) mapping[static_cast<size_t>(places[d])] = made.dimensions[d];
    }
    const int before = stage(node.operands[0]);
    if (complete(mapping, to)) return add(node.results[0], std::move(mapping), before);
    if (!extend(made, places, from, to)) return false;
    identity(mapping, to);
    return add(node.results[0], std::move(mapping), before);
  }

  // The space grows to that of a broadcast; what has been computed so far is then computed wherever it is needed.
  bool extend(const SpaceValue& made, const Dims& places, const Dims& from, const Dims& to) {
    const bool worth_it = run_.reduced == 0 && costly_ == 0 && nodes_ <= kMostRepeatedNodes &&
                          element_count(from) <= kMostRepeatedElements && element_count(from) < element_count(to);
    if (!worth_it) return false;
    Mapping moved(run_.space.size(), -1);
    for (size_t d = 0; d < places.size(); ++d) {
      if (made.dimensions[d] < 0) continue;
      if (from[d] != to[static_cast<size_t>(places[d])]) return false;
      moved[static_cast<size_t>(made.dimensions[d])] = static_cast<int32_t>(places[d]);
    }
    for (size_t d = 0; d < moved.size(); ++d) {
      if (run_.space[d] != 1 && moved[d] < 0) return false;
    }
    for (std::vector<SpaceValue>* values : {&run_.made, &run_.operands}) {
      for (SpaceValue& value : *values) {
        for (int32_t& d : value.dimensions) d = d < 0 ? d : moved[static_cast<size_t>(d)];
      }
    }
    run_.space = to;
    return true;
  }

  const ir::Graph& graph_;
  const RunRules& rules_;
  size_t limit_;
  Run run_;
  std::vector<Stages> stages_;
  size_t nodes_ = 0;
  int costly_ = 0;
};

// The first node whose value is needed later although it spans only a part of the space: it belongs to a run of its
// own.
std::optional<size_t> misfit(const ir::Graph& graph, const Run& run, const RunRules& rules) {
  const uint64_t all = all_dimensions(run.space);
  for (size_t i = run.first; i < run.last; ++i) {
    for (const Value result : graph.nodes[i].results) {
      const SpaceValue* value = run.find(result);
      if (value == nullptr || !rules.needed_after(result, run.last)) continue;
      const uint64_t dimensions = spanned(value->dimensions);
      if (dimensions != all && dimensions != (all & ~run.reduced)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

const SpaceValue* Run::find(ir::Value value) const { return find_in(made, value); }
const SpaceValue* Run::find_operand(ir::Value value) const { return find_in(operands, value); }

bool is_view_in_run(const ir::Node& node) {
  return node.op == Op::BroadcastInDim || node.op == Op::Transpose || node.op == Op::Reshape ||
         node.op == Op::BitcastConvert;
}

Run find_run(const ir::Graph& graph, size_t first, const RunRules& rules) {
  size_t limit = graph.nodes.size();
  while (true) {
    Run run = RunFinder(graph, first, limit, rules).find();
    const std::optional<size_t> cut = misfit(graph, run, rules);
    if (!cut) return run;
    limit = std::max(*cut, first + 1);
  }
}

}  // namespace opentrn::passes
