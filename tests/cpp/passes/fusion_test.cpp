// Which nodes one pass over the data computes together.
#include "passes/fusion.h"

#include <gtest/gtest.h>

#include "ir/aliases.h"
#include "ir/builder.h"

namespace opentrn::passes {

namespace {

using ir::Builder;
using ir::Op;
using ir::TensorType;
using ir::Value;

// As if every operand lay so that it can be looked at from all sides.
Run run_of(const ir::Graph& graph, size_t first = 0, bool one_stage = false) {
  const auto needed_after = [&](Value value, size_t position) {
    for (const Value result : graph.results) {
      if (result == value) return true;
    }
    for (size_t i = position; i < graph.nodes.size(); ++i) {
      for (const Value operand : graph.nodes[i].operands) {
        if (operand == value) return true;
      }
    }
    return false;
  };
  const auto takes = [](const ir::Node& node) {
    return ir::is_elementwise(node.op) || node.op == Op::Reduce || node.op == Op::Iota || node.op == Op::CustomCall;
  };
  const auto is_view = [](const ir::Node&) { return true; };
  return find_run(graph, first,
                  {.takes = takes, .is_view = is_view, .needed_after = needed_after, .one_stage = one_stage});
}

ir::Graph softmax() {
  Builder b;
  const Value x = b.parameter({DType::F32, {6, 7}});
  const Value low = b.parameter({DType::F32, {}});
  const Value zero = b.parameter({DType::F32, {}});
  const Value most = b.broadcast_in_dim(b.reduce(x, low, Op::Maximum, {1}), {6, 7}, {0});
  const Value powers = b.exponential(b.subtract(x, most));
  const Value sum = b.broadcast_in_dim(b.reduce(powers, zero, Op::Add, {1}), {6, 7}, {0});
  return b.finish({b.divide(powers, sum)});
}

TEST(Fusion, SoftmaxIsOneRun) {
  const ir::Graph graph = softmax();
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, graph.nodes.size());
  EXPECT_EQ(run.space, (Dims{6, 7}));
  EXPECT_EQ(run.reduced, 2u);
}

TEST(Fusion, OneStageEndsBeforeTheDataIsNeededAgain) {
  const ir::Graph graph = softmax();
  const auto first = run_of(graph, 0, true);
  EXPECT_EQ(first.last, 1u);  // the largest element
  const auto second = run_of(graph, 2, true);
  EXPECT_EQ(second.last, 5u);  // difference, power, sum
}

TEST(Fusion, RunsEndWithANodeThatComputes) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 5}});
  const ir::Graph graph = b.finish({b.transpose(b.negate(x), {1, 0})});
  EXPECT_EQ(run_of(graph).last, 1u);
}

TEST(Fusion, SumsOverOtherDimensionsAreAnotherRun) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 5}});
  const Value zero = b.parameter({DType::F32, {}});
  const Value twice = b.add(x, x);
  const ir::Graph graph = b.finish({b.reduce(twice, zero, Op::Add, {0}), b.reduce(twice, zero, Op::Add, {1})});
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, 2u);
  EXPECT_EQ(run.reduced, 1u);
}

TEST(Fusion, SmallOperandsArePreparedInTheRun) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 5}});
  const Value weight = b.parameter({DType::BF16, {5}});
  const Value wide = b.broadcast_in_dim(b.convert(weight, DType::F32), {4, 5}, {1});
  const ir::Graph graph = b.finish({b.multiply(x, wide)});
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, graph.nodes.size());
  EXPECT_EQ(run.space, (Dims{4, 5}));
  ASSERT_NE(run.find(graph.nodes[0].results[0]), nullptr);
  EXPECT_EQ(run.find(graph.nodes[0].results[0])->dimensions, (std::vector<int32_t>{1}));
}

TEST(Fusion, WhatIsNeededLaterHasARunOfItsOwn) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 5}});
  const Value weight = b.parameter({DType::BF16, {5}});
  const Value converted = b.convert(weight, DType::F32);
  const Value product = b.multiply(x, b.broadcast_in_dim(converted, {4, 5}, {1}));
  const ir::Graph graph = b.finish({product, converted});
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, 1u);
  EXPECT_EQ(run.space, (Dims{5}));
}

TEST(Fusion, NumbersOfTheStepAreComputedInTheRun) {
  Builder b;
  const Value x = b.parameter({DType::F32, {100}});
  const Value rate = b.parameter({DType::F32, {}});
  const Value twice = b.multiply(rate, rate);
  const ir::Graph graph = b.finish({b.multiply(x, b.broadcast_in_dim(twice, {100}, {}))});
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, graph.nodes.size());
  EXPECT_TRUE(run.find(twice)->dimensions.empty());
}

TEST(Fusion, TransposedValuesMustAgree) {
  Builder b;
  const Value x = b.parameter({DType::F32, {5, 5}});
  const Value y = b.negate(x);
  const Value turned = b.transpose(y, {1, 0});
  const ir::Graph graph = b.finish({b.add(turned, y)});
  EXPECT_EQ(run_of(graph).last, 1u);  // one element would need two
}

TEST(Fusion, OtherShapesEndTheRun) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 5}});
  const Value y = b.parameter({DType::F32, {6}});
  const ir::Graph graph = b.finish({b.negate(x), b.negate(y)});
  EXPECT_EQ(run_of(graph).last, 1u);
  EXPECT_EQ(run_of(graph, 1).last, 2u);
}

TEST(Fusion, ACheckIsTheLastOfItsRun) {
  Builder b;
  const Value x = b.parameter({DType::I64, {6}});
  const Value index = b.checked_index(b.negate(x), 9, 0, "aten.index");
  const ir::Graph graph = b.finish({b.negate(index)});
  EXPECT_EQ(run_of(graph).last, 2u);
  EXPECT_EQ(run_of(graph, 2).last, 3u);
}

TEST(Fusion, NoCheckStandsBehindAReduction) {
  Builder b;
  const Value x = b.parameter({DType::I64, {6, 5}});
  const Value zero = b.parameter({DType::I64, {}});
  const Value sum = b.reduce(x, zero, Op::Add, {1});
  const ir::Graph graph = b.finish({b.checked_index(sum, 9, 0, "aten.index")});
  EXPECT_EQ(run_of(graph).last, 1u);
  EXPECT_EQ(run_of(graph, 1).last, 2u);
}

TEST(Fusion, ReductionsOfSingleElementsKeepTheSpace) {
  Builder b;
  const Value x = b.parameter({DType::F32, {4, 1}});
  const Value zero = b.parameter({DType::F32, {}});
  const ir::Graph graph = b.finish({b.negate(b.reduce(b.negate(x), zero, Op::Add, {1}))});
  const auto run = run_of(graph);
  EXPECT_EQ(run.last, graph.nodes.size());
  EXPECT_EQ(run.reduced, 0u);
}

}  // namespace

}  // namespace opentrn::passes
