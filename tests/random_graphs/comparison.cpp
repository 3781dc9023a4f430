#include "tests/random_graphs/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/text.h"
#include "neuroncore/machine.h"
#include "passes/passes.h"

namespace opentrn::random_graphs {

namespace {

using conformance::Arrangement;
using conformance::Tensor;
using ir::Value;

constexpr std::string_view kOracle = "reference";
constexpr double kEverythingExact = 0;

Arrangement any_layout(std::mt19937_64& engine) {
  static const std::vector<Arrangement> kLayouts = {Arrangement::RowMajor, Arrangement::RowMajor,
                                                    Arrangement::ColumnMajor, Arrangement::Strided,
                                                    Arrangement::Offset};
  return kLayouts[engine() % kLayouts.size()];
}

Tensor random_tensor(const ir::TensorType& type, std::mt19937_64& engine) {
  Tensor tensor(type.dtype, type.shape, any_layout(engine));
  const bool is_unsigned = category(type.dtype) == Category::Unsigned;
  const int64_t low = is_bool(type.dtype) || is_unsigned ? 0 : -4;
  const int64_t high = is_bool(type.dtype) ? 1 : 4;
  std::uniform_int_distribution<int64_t> numbers(low, high);
  std::vector<double> values;
  for (int64_t i = 0; i < type.elements(); ++i) values.push_back(static_cast<double>(numbers(engine)));
  tensor.fill(values);
  return tensor;
}

// Every third result that can lies in the memory of a parameter, as with in-place operators.
std::optional<size_t> shared_parameter(const Case& tried, Value result, const std::vector<ir::Overlap>& taken,
                                       std::mt19937_64& engine) {
  if (engine() % 3 != 0) return std::nullopt;
  for (size_t p = 0; p < tried.inputs.size(); ++p) {
    const auto is_it = [p](const ir::Overlap& overlap) { return static_cast<size_t>(overlap.parameter) == p; };
    if (std::any_of(taken.begin(), taken.end(), is_it)) continue;
    if (tried.inputs[p].type() == tried.graph.type(result)) return p;
  }
  return std::nullopt;
}

std::vector<Tensor> evaluate(const Case& tried, std::string_view engine_name, uint64_t layout_seed) {
  std::mt19937_64 engine(layout_seed);
  ir::Module module{tried.graph, {}, {}, {}};
  std::vector<const void*> parameters;
  for (const Tensor& input : tried.inputs) {
    module.parameters.push_back(input.layout());
    parameters.push_back(input.data());
  }
  std::vector<Tensor> results;
  results.reserve(tried.graph.results.size());
  for (const Value result : tried.graph.results) {
    const ir::TensorType& type = tried.graph.type(result);
    const Arrangement layout = any_layout(engine);
    if (const auto parameter = shared_parameter(tried, result, module.overlaps, engine)) {
      module.overlaps.push_back({static_cast<int>(results.size()), static_cast<int>(*parameter), true});
      results.push_back(tried.inputs[*parameter]);
      parameters[*parameter] = results.back().data();
    } else {
      results.emplace_back(type.dtype, type.shape, layout);
    }
    module.results.push_back(results.back().layout());
  }
  std::vector<void*> addresses;
  for (Tensor& result : results) addresses.push_back(result.data());
  engines::engine(engine_name).compile(module, neuroncore::machines()[0])->run(parameters, addresses);
  return results;
}

bool agrees(double oracle, double other, double tolerance) {
  if (std::isnan(oracle) || std::isnan(other)) return std::isnan(oracle) && std::isnan(other);
  return oracle == other || std::abs(oracle - other) <= tolerance;
}

std::optional<std::string> compare(const Tensor& oracle, const Tensor& other, double tolerance) {
  if (!other.guards_intact()) return "wrote outside the result";
  if (tolerance == kEverythingExact && oracle.bytes() == other.bytes()) return std::nullopt;
  if (is_integral(oracle.dtype())) {
    if (oracle.bytes() == other.bytes()) return std::nullopt;
  }
  const std::vector<double> expected = oracle.values<double>();
  const std::vector<double> got = other.values<double>();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (agrees(expected[i], got[i], tolerance)) continue;
    return concat("element ", i, " of ", ir::to_string(oracle.type()), " is ", got[i], ", the oracle has ", expected[i],
                  ", tolerance ", tolerance);
  }
  return std::nullopt;
}

Case with_result(const Case& original, Value value, double tolerance) {
  Case result = original;
  result.graph.results = {value};
  result.tolerances = {tolerance};
  return result;
}

// The value becomes a parameter that holds what the oracle computes for it.
Case cut(const Case& original, Value value, uint64_t layout_seed) {
  Case whole = with_result(original, value, 0);
  Case result = original;
  result.inputs.push_back(evaluate(whole, kOracle, layout_seed)[0]);
  const auto makes_value = [&](const ir::Node& node) { return node.results.size() == 1 && node.results[0] == value; };
  std::erase_if(result.graph.nodes, makes_value);
  result.graph.parameters.push_back(value);
  return result;
}

bool differs(const Case& tried, const Runner& runner, uint64_t layout_seed) {
  return difference(tried, runner, layout_seed).has_value();
}

void drop_unused_parameters(Case& tried) {
  std::vector<bool> used(tried.graph.types.size());
  for (const ir::Node& node : tried.graph.nodes) {
    for (const Value operand : node.operands) used[static_cast<size_t>(operand.id)] = true;
  }
  for (const Value result : tried.graph.results) used[static_cast<size_t>(result.id)] = true;
  for (size_t i = tried.graph.parameters.size(); i-- > 0;) {
    if (used[static_cast<size_t>(tried.graph.parameters[i].id)]) continue;
    tried.graph.parameters.erase(tried.graph.parameters.begin() + static_cast<std::ptrdiff_t>(i));
    tried.inputs.erase(tried.inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

Case make_case(const Drawn& drawn, uint64_t seed) {
  std::mt19937_64 engine(seed);
  Case result{drawn.graph, {}, {}};
  for (const Value parameter : drawn.graph.parameters) {
    result.inputs.push_back(random_tensor(drawn.graph.type(parameter), engine));
  }
  // Both engines are off by at most the error.
  for (const Known& known : drawn.known) result.tolerances.push_back(2 * known.error);
  return result;
}

Runner engine_runner(std::string name) {
  return
      [name = std::move(name)](const Case& tried, uint64_t layout_seed) { return evaluate(tried, name, layout_seed); };
}

std::optional<std::string> difference(const Case& tried, const Runner& runner, uint64_t layout_seed) {
  const std::vector<Tensor> oracle = evaluate(tried, kOracle, layout_seed);
  try {
    const std::vector<Tensor> other = runner(tried, layout_seed);
    for (size_t i = 0; i < oracle.size(); ++i) {
      const auto found = compare(oracle[i], other[i], tried.tolerances[i]);
      if (found) return concat("result ", i, ": ", *found);
    }
  } catch (const Error& error) {
    return std::string(error.what());
  }
  return std::nullopt;
}

Case shrink(Case failing, const Runner& runner, uint64_t layout_seed) {
  for (size_t i = 0; i < failing.graph.results.size(); ++i) {
    Case alone = with_result(failing, failing.graph.results[i], failing.tolerances[i]);
    passes::eliminate_dead_code(alone.graph);
    if (!differs(alone, runner, layout_seed)) continue;
    failing = std::move(alone);
    break;
  }
  passes::eliminate_dead_code(failing.graph);
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (size_t i = failing.graph.nodes.size(); i-- > 0;) {
      const ir::Node& node = failing.graph.nodes[i];
      if (node.results.size() != 1) continue;
      const auto& results = failing.graph.results;
      if (std::find(results.begin(), results.end(), node.results[0]) != results.end()) continue;
      Case tried = cut(failing, node.results[0], layout_seed);
      passes::eliminate_dead_code(tried.graph);
      if (tried.graph.nodes.size() >= failing.graph.nodes.size()) continue;
      if (!differs(tried, runner, layout_seed)) continue;
      failing = std::move(tried);
      smaller = true;
      break;
    }
  }
  drop_unused_parameters(failing);
  return failing;
}

std::string reproducer(const Case& failing) {
  ir::Graph graph = failing.graph;
  std::vector<ir::Node> nodes;
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    ir::Node constant;
    constant.op = ir::Op::Constant;
    constant.results = {graph.parameters[i]};
    constant.attributes = ir::ConstantAttributes{failing.inputs[i].bytes()};
    nodes.push_back(std::move(constant));
  }
  nodes.insert(nodes.end(), graph.nodes.begin(), graph.nodes.end());
  graph.nodes = std::move(nodes);
  graph.parameters.clear();
  return ir::print(graph);
}

}  // namespace opentrn::random_graphs
