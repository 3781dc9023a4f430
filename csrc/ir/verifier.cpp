#include "ir/verifier.h"

#include "ir/inference.h"
#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.types.size(), false) {}

  void run() {
    for (size_t i = 0; i < graph_.parameters.size(); ++i) define(graph_.parameters[i], concat("parameter ", i));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) check_node(graph_.nodes[i], concat("node ", i, ", "));
    for (size_t i = 0; i < graph_.results.size(); ++i) require_defined(graph_.results[i], concat("result ", i));
  }

 private:
  [[noreturn]] void fail(std::string what, std::string got = "", std::string expected = "") const {
    raise(ErrorKind::Internal, {.where = "verify " + graph_.name,
                                .what = std::move(what),
                                .got = std::move(got),
                                .expected = std::move(expected)});
  }

  void require_value(Value value, const std::string& role) const {
    if (value.valid() && static_cast<size_t>(value.id) < defined_.size()) return;
    fail(role + " is not a value of the graph", std::to_string(value.id), concat("an id below ", defined_.size()));
  }

  void require_defined(Value value, const std::string& role) const {
    require_value(value, role);
    if (!defined_[static_cast<size_t>(value.id)]) fail(role + " is used before it is defined");
  }

  void define(Value value, const std::string& role) {
    require_value(value, role);
    if (defined_[static_cast<size_t>(value.id)]) fail(role + " is defined twice");
    defined_[static_cast<size_t>(value.id)] = true;
  }

  void check_node(const Node& node, const std::string& place) {
    const std::string where = place + std::string(name(node.op)) + ": ";
    for (size_t i = 0; i < node.operands.size(); ++i) require_defined(node.operands[i], where + operand_name(i));
    for (size_t i = 0; i < node.results.size(); ++i) define(node.results[i], concat(where, "result ", i));
    if (node.results.empty()) fail(where + "there is no result");
    check_types(node, where);
  }

  void check_types(const Node& node, const std::string& where) const {
    std::vector<const TensorType*> operands;
    for (const Value operand : node.operands) operands.push_back(&graph_.type(operand));
    const std::vector<TensorType> types = inferred(node, operands, where);
    if (types.size() != node.results.size()) {
      fail(where + "wrong number of results", std::to_string(node.results.size()), std::to_string(types.size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const TensorType& declared = graph_.type(node.results[i]);
      if (declared == types[i]) continue;
      fail(concat(where, "result ", i, " has a wrong type"), to_string(declared), to_string(types[i]));
    }
  }

  std::vector<TensorType> inferred(const Node& node, std::span<const TensorType* const> operands,
                                   const std::string& where) const {
    // Where the type is declared, it is that of the last result: the new state of rng_bit_generator comes first.
    const TensorType& declared = graph_.type(node.results.back());
    try {
      return infer({node.op, operands, node.attributes, &declared});
    } catch (const Error& error) {
      fail(where + error.what());
    }
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace opentrn::ir
