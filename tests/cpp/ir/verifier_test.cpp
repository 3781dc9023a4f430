#include "ir/verifier.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/cpp/ir/samples.h"

namespace opentrn::ir {
namespace {

Graph two_adds() {
  Builder builder;
  const Value x = builder.parameter({DType::F32, {2}});
  const Value y = builder.add(x, x);
  return builder.finish({builder.multiply(y, x)});
}

void expect_fault(const Graph& graph, const std::string& part) {
  try {
    verify(graph);
    ADD_FAILURE() << "nothing was raised, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Verifier, AcceptsWhatTheBuilderMakes) {
  for (const Graph& graph : sample_graphs()) EXPECT_NO_THROW(verify(graph));
}

TEST(Verifier, EveryResultTypeIsChecked) {
  for (Graph graph : sample_graphs()) {
    for (const Node& node : graph.nodes) {
      // The shape of these is whatever is declared.
      if (node.op == Op::BroadcastInDim || node.op == Op::Constant || node.op == Op::Iota) continue;
      TensorType& type = graph.types[static_cast<size_t>(node.results[0].id)];
      type.shape.push_back(2);
      EXPECT_THROW(verify(graph), Error) << name(node.op);
      type.shape.pop_back();
    }
  }
}

TEST(Verifier, UseBeforeDefinition) {
  Graph graph = two_adds();
  std::swap(graph.nodes[0], graph.nodes[1]);
  expect_fault(graph, "node 0, stablehlo.multiply: operand 0 is used before it is defined");
}

TEST(Verifier, DefinedTwice) {
  Graph graph = two_adds();
  graph.nodes[1].results = graph.nodes[0].results;
  expect_fault(graph, "node 1, stablehlo.multiply: result 0 is defined twice");
}

TEST(Verifier, ValuesOutsideTheGraph) {
  Graph graph = two_adds();
  graph.nodes[0].operands[1] = Value{42};
  expect_fault(graph, "operand 1 is not a value of the graph, got 42");
  graph = two_adds();
  graph.results[0] = Value{};
  expect_fault(graph, "result 0 is not a value of the graph");
}

TEST(Verifier, WrongTypes) {
  Graph graph = two_adds();
  graph.types[1].dtype = DType::F64;
  expect_fault(graph, "result 0 has a wrong type, got tensor<2xf64>, expected tensor<2xf32>");
}

TEST(Verifier, WrongCountsAndAttributes) {
  Graph graph = two_adds();
  graph.nodes[0].operands.pop_back();
  expect_fault(graph, "wrong number of operands, got 1, expected 2");
  graph = two_adds();
  graph.nodes[0].results.clear();
  expect_fault(graph, "there is no result");
  graph = two_adds();
  graph.nodes[0].op = Op::Compare;
  expect_fault(graph, "attributes belong to another primitive");
  graph = two_adds();
  const Value extra = graph.new_value({DType::F32, {2}});
  graph.nodes[1].results.push_back(extra);
  expect_fault(graph, "wrong number of results");
}

}  // namespace
}  // namespace opentrn::ir
