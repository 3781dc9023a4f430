#include "ir/verifier.h"

#include "base/function_ref.h"
#include "ir/inference.h"
#include "ir/inference_rules.h"
#include "ir/region.h"

namespace opentrn::ir {

namespace {

// Makes the words of a complaint, and only when there is one: verifying must cost little.
using Role = FunctionRef<std::string()>;

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.types.size(), false) {}

  void run() {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) {
      define(graph_.parameters[i], [i] { return concat("parameter ", i); });
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) check_node(i);
    for (size_t i = 0; i < graph_.results.size(); ++i) {
      require_defined(graph_.results[i], [i] { return concat("result ", i); });
    }
  }

 private:
  [[noreturn]] void fail(std::string what, std::string got = "", std::string expected = "") const {
    raise(ErrorKind::Internal, {.where = "verify " + graph_.name,
                                .what = std::move(what),
                                .got = std::move(got),
                                .expected = std::move(expected)});
  }

  // "node 3, stablehlo.add: "
  std::string place(size_t index) const { return concat("node ", index, ", ", name(graph_.nodes[index].op), ": "); }

  void require_value(Value value, Role role) const {
    if (value.valid() && static_cast<size_t>(value.id) < defined_.size()) return;
    fail(role() + " is not a value of the graph", std::to_string(value.id), concat("an id below ", defined_.size()));
  }

  void require_defined(Value value, Role role) const {
    require_value(value, role);
    if (!defined_[static_cast<size_t>(value.id)]) fail(role() + " is used before it is defined");
  }

  void define(Value value, Role role) {
    require_value(value, role);
    if (defined_[static_cast<size_t>(value.id)]) fail(role() + " is defined twice");
    defined_[static_cast<size_t>(value.id)] = true;
  }

  void check_node(size_t index) {
    const Node& node = graph_.nodes[index];
    if (node.results.empty() && !has_side_effect(node)) fail(place(index) + "there is no result");
    for (const Region* region : regions_of(node.attributes)) check_region(index, region->graph());
    for (size_t i = 0; i < node.operands.size(); ++i) {
      require_defined(node.operands[i], [&] { return place(index) + operand_name(i); });
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      define(node.results[i], [&] { return concat(place(index), "result ", i); });
    }
    check_types(index);
  }

  void check_region(size_t index, const Graph& region) const {
    try {
      verify(region);
    } catch (const Error& error) {
      fail(place(index) + error.what());
    }
  }

  void check_types(size_t index) const {
    const Node& node = graph_.nodes[index];
    const std::vector<TensorType> types = inferred(index);
    if (types.size() != node.results.size()) {
      fail(place(index) + "wrong number of results", std::to_string(node.results.size()), std::to_string(types.size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const TensorType& declared = graph_.type(node.results[i]);
      if (declared == types[i]) continue;
      fail(concat(place(index), "result ", i, " has a wrong type"), to_string(declared), to_string(types[i]));
    }
  }

  std::vector<TensorType> inferred(size_t index) const {
    const Node& node = graph_.nodes[index];
    std::vector<const TensorType*> operands;
    operands.reserve(node.operands.size());
    for (const Value operand : node.operands) operands.push_back(&graph_.type(operand));
    // Where the type is declared, it is that of the last result: the new state of rng_bit_generator comes first.
    const TensorType* declared = node.results.empty() ? nullptr : &graph_.type(node.results.back());
    try {
      return infer({node.op, operands, node.attributes, declared});
    } catch (const Error& error) {
      fail(place(index) + error.what());
    }
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace opentrn::ir
