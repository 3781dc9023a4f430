// What each pass over long rows computes anew.
#include "passes/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/verifier.h"

namespace opentrn::passes {

namespace {

using ir::Builder;
using ir::Graph;
using ir::Op;
using ir::Value;

const Dims kShape{4, 100};

int64_t number_of(const Graph& graph, Op op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [op](const ir::Node& node) { return node.op == op; });
}

bool recomputed(Graph& graph) {
  const bool any = recompute_between_passes(graph, [](const ir::Node& node) { return node.op == Op::Reduce; });
  ir::verify(graph);
  return any;
}

Value total(Builder& b, Value x) {
  return b.broadcast_in_dim(b.reduce(x, b.scalar(b.dtype(x), 0), Op::Add, {1}), kShape, {0});
}

TEST(Recompute, CheapStepsFromAParameter) {
  Builder b;
  const Value wide = b.convert(b.parameter({DType::BF16, kShape}), DType::F32);
  const Value centred = b.subtract(wide, total(b, wide));
  Graph graph = b.finish({b.divide(centred, total(b, centred))});
  EXPECT_TRUE(recomputed(graph));
  EXPECT_EQ(number_of(graph, Op::Convert), 3);  // for the first sum, for the second, and for the result
  EXPECT_EQ(number_of(graph, Op::Subtract), 2);
  EXPECT_EQ(number_of(graph, Op::Reduce), 2);
}

TEST(Recompute, WhatTheLastPassAloneNeedsIsNotComputedBefore) {
  Builder b;
  const Value x = b.parameter({DType::F32, kShape});
  const Value negative = b.negate(x);
  Graph graph = b.finish({b.multiply(negative, total(b, x))});
  EXPECT_TRUE(recomputed(graph));
  EXPECT_EQ(number_of(graph, Op::Negate), 1);
  const auto first = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [](const ir::Node& node) { return node.op == Op::Reduce || node.op == Op::Negate; });
  EXPECT_EQ(first->op, Op::Reduce);
}

TEST(Recompute, SharedByTheUsersInOnePass) {
  Builder b;
  const Value wide = b.convert(b.parameter({DType::BF16, kShape}), DType::F32);
  const Value sum = total(b, wide);
  Graph graph = b.finish({b.multiply(wide, sum), b.add(wide, sum)});
  EXPECT_TRUE(recomputed(graph));
  EXPECT_EQ(number_of(graph, Op::Convert), 2);
}

TEST(Recompute, CostlyStepsAreStored) {
  Builder b;
  const Value powers = b.exponential(b.parameter({DType::F32, kShape}));
  Graph graph = b.finish({b.divide(powers, total(b, powers))});
  EXPECT_FALSE(recomputed(graph));
}

TEST(Recompute, MoreToLoadThanToStore) {
  Builder b;
  const Value product = b.multiply(b.parameter({DType::F32, kShape}), b.parameter({DType::F32, kShape}));
  Graph graph = b.finish({b.divide(product, total(b, product))});
  EXPECT_FALSE(recomputed(graph));
}

TEST(Recompute, ResultsAreStoredAnyway) {
  Builder b;
  const Value wide = b.convert(b.parameter({DType::BF16, kShape}), DType::F32);
  Graph graph = b.finish({wide, b.divide(wide, total(b, wide))});
  EXPECT_FALSE(recomputed(graph));
}

TEST(Recompute, ShortRowsTakeOnePass) {
  Builder b;
  const Value wide = b.convert(b.parameter({DType::BF16, kShape}), DType::F32);
  Graph graph = b.finish({b.divide(wide, total(b, wide))});
  EXPECT_FALSE(recompute_between_passes(graph, [](const ir::Node&) { return false; }));
}

}  // namespace

}  // namespace opentrn::passes
