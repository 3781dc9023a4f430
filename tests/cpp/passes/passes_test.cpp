#include "passes/passes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/cpp/ir/samples.h"

namespace opentrn::passes {
namespace {

using ir::Builder;
using ir::Graph;
using ir::Op;
using ir::TensorType;
using ir::Value;

// Operations of the graph after the passes, and its results if they are parameters.
std::vector<Op> operations(Graph& graph) {
  canonicalise(graph);
  ir::verify(graph);
  std::vector<Op> ops;
  for (const ir::Node& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

class Passes : public testing::Test {
 protected:
  Value of(DType dtype, Dims shape = {2, 3}) { return builder.parameter({dtype, std::move(shape)}); }
  std::vector<Op> after(std::vector<Value> results) {
    graph = builder.finish(std::move(results));
    return operations(graph);
  }
  // True when the only result is the first parameter.
  bool is_parameter() const { return graph.nodes.empty() && graph.results[0] == graph.parameters[0]; }

  // Nodes without the builder's own shortcuts.
  static Value append(Graph& into, Op op, std::vector<Value> operands, TensorType type,
                      ir::Attributes attributes = {}) {
    const Value result = into.new_value(std::move(type));
    into.nodes.push_back({op, std::move(operands), {result}, std::move(attributes)});
    return result;
  }

  Builder builder;
  Graph graph;
};

TEST_F(Passes, EverySampleStaysValidAndIsAFixedPoint) {
  for (Graph sample : ir::sample_graphs()) {
    const size_t nodes = sample.nodes.size();
    canonicalise(sample);
    ir::verify(sample);
    EXPECT_LE(sample.nodes.size(), nodes);
    const std::string once = ir::print(sample);
    canonicalise(sample);
    EXPECT_EQ(ir::print(sample), once);
  }
}

TEST_F(Passes, DeadCodeGoesAndValuesAreRenumbered) {
  const Value x = of(DType::F32);
  const Value unused = of(DType::F32);
  builder.exponential(builder.tanh(unused));
  EXPECT_EQ(after({builder.negate(x)}), std::vector{Op::Negate});
  EXPECT_EQ(graph.types.size(), 3u);
  EXPECT_EQ(graph.parameters.size(), 2u);
}

TEST_F(Passes, ChecksAreNeverDead) {
  const Value index = of(DType::I64);
  builder.checked_index(index, 5, 0, "aten.index");
  builder.checked_index(index, 5, 0, "aten.index");
  builder.checked_index(index, 6, 0, "aten.index");
  EXPECT_EQ(after({index}), (std::vector{Op::CustomCall, Op::CustomCall}));
}

TEST_F(Passes, EqualNodesAreComputedOnce) {
  const Value x = of(DType::F32);
  const Value y = of(DType::F32);
  const Value left = builder.exponential(builder.subtract(x, y));
  const Value right = builder.exponential(builder.subtract(x, y));
  EXPECT_EQ(after({builder.add(left, right)}), (std::vector{Op::Subtract, Op::Exponential, Op::Add}));
}

TEST_F(Passes, DifferentAttributesTypesOrOperandsAreNotEqual) {
  const Value x = of(DType::F32, {4, 4});
  const Value y = of(DType::F32, {4, 4});
  std::vector<Value> results;
  results.push_back(builder.slice(x, {0, 0}, {2, 4}, {1, 1}));
  results.push_back(builder.slice(x, {2, 0}, {4, 4}, {1, 1}));
  results.push_back(builder.convert(x, DType::BF16));
  results.push_back(builder.convert(x, DType::F16));
  results.push_back(builder.subtract(x, y));
  results.push_back(builder.subtract(y, x));
  results.push_back(builder.compare(ir::ComparisonDirection::LT, x, y));
  results.push_back(builder.compare(ir::ComparisonDirection::LE, x, y));
  results.push_back(builder.splat({DType::F32, {2}}, 0.0));
  results.push_back(builder.splat({DType::F32, {2}}, -0.0));
  EXPECT_EQ(after(results).size(), 10u);
}

TEST_F(Passes, MultiResultNodesAreJoinedResultByResult) {
  const std::vector<Value> operands{of(DType::F32, {4}), of(DType::I64, {4})};
  const std::vector<Value> first = builder.sort(operands, {});
  const std::vector<Value> second = builder.sort(operands, {});
  EXPECT_EQ(after({first[0], second[1]}), std::vector{Op::Sort});
  EXPECT_EQ(graph.results, graph.nodes[0].results);
}

TEST_F(Passes, NeutralOperandsGo) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I64, DType::U8}) {
    const auto one_sided = [&](Op op, double neutral) {
      const Value x = of(dtype);
      after({builder.binary(op, x, builder.splat_like(x, neutral))});
      EXPECT_TRUE(is_parameter()) << name(op) << " " << name(dtype);
    };
    const auto left = [&](Op op, double neutral) {
      const Value x = of(dtype);
      after({builder.binary(op, builder.splat_like(x, neutral), x)});
      return is_parameter();
    };
    one_sided(Op::Multiply, 1);
    one_sided(Op::Divide, 1);
    one_sided(Op::Subtract, 0);
    EXPECT_TRUE(left(Op::Multiply, 1));
    EXPECT_FALSE(left(Op::Divide, 1));
    EXPECT_FALSE(left(Op::Subtract, 0));
    if (is_float(dtype)) one_sided(Op::Add, -0.0);
    if (is_integer(dtype)) one_sided(Op::Add, 0);
  }
}

TEST_F(Passes, OnlyWhatIsExactGoes) {
  const Value x = of(DType::F32);
  EXPECT_EQ(after({builder.add(x, builder.splat_like(x, 0.0))}), (std::vector{Op::Constant, Op::Add}));
  const Value y = of(DType::F32);
  EXPECT_EQ(after({builder.subtract(y, builder.splat_like(y, -0.0))}), (std::vector{Op::Constant, Op::Subtract}));
  const Value z = of(DType::F32);
  EXPECT_EQ(after({builder.multiply(z, builder.splat_like(z, 0))}), (std::vector{Op::Constant, Op::Multiply}));
  const Value c = of(DType::C64);
  EXPECT_EQ(after({builder.multiply(c, builder.splat_like(c, 1))}), (std::vector{Op::Constant, Op::Multiply}));
  const Value e = of(DType::F8E8M0FNU);
  EXPECT_EQ(after({builder.subtract(e, builder.splat_like(e, 0))}), (std::vector{Op::Constant, Op::Subtract}));
}

TEST_F(Passes, BroadcastScalarsCountAsSplats) {
  const Value x = of(DType::F32);
  after({builder.multiply(x, builder.broadcast_in_dim(builder.scalar(DType::F32, 1), {2, 3}, {}))});
  EXPECT_TRUE(is_parameter());
}

TEST_F(Passes, ChainsBecomeOneNode) {
  const Value x = of(DType::F32, {2, 3, 4});
  EXPECT_EQ(after({builder.reshape(builder.reshape(x, {6, 4}), {24})}), std::vector{Op::Reshape});
  const Value y = of(DType::F32, {2, 3, 4});
  EXPECT_EQ(after({builder.transpose(builder.transpose(y, {1, 2, 0}), {2, 1, 0})}), std::vector{Op::Transpose});
  EXPECT_EQ(graph.nodes[0].as<ir::TransposeAttributes>().permutation, (Dims{0, 2, 1}));
  const Value z = of(DType::F32, {2, 3, 4});
  after({builder.transpose(builder.transpose(z, {1, 2, 0}), {2, 0, 1})});
  EXPECT_TRUE(is_parameter());
  const Value v = of(DType::F32, {3});
  EXPECT_EQ(after({builder.broadcast_in_dim(builder.broadcast_in_dim(v, {1, 3}, {1}), {3, 5, 7}, {1, 0})}),
            std::vector{Op::BroadcastInDim});
  EXPECT_EQ(graph.nodes[0].as<ir::BroadcastAttributes>().broadcast_dimensions, Dims{0});
  const Value w = of(DType::F32, {4});
  after({builder.reshape(builder.reshape(w, {2, 2}), {4})});
  EXPECT_TRUE(is_parameter());
}

TEST_F(Passes, ConvertChainsJoinOnlyWhenNothingIsLost) {
  const auto nodes = [&](DType from, DType through, DType to) {
    return after({builder.convert(builder.convert(of(from), through), to)}).size();
  };
  EXPECT_EQ(nodes(DType::BF16, DType::F32, DType::BF16), 0u);
  EXPECT_EQ(nodes(DType::BF16, DType::F32, DType::F64), 1u);
  EXPECT_EQ(nodes(DType::I32, DType::F64, DType::F32), 1u);
  EXPECT_EQ(nodes(DType::Bool, DType::I64, DType::F32), 1u);
  EXPECT_EQ(nodes(DType::U8, DType::I16, DType::I64), 1u);
  EXPECT_EQ(nodes(DType::F32, DType::BF16, DType::F32), 2u);
  EXPECT_EQ(nodes(DType::I64, DType::F64, DType::I64), 2u);
  EXPECT_EQ(nodes(DType::I32, DType::F32, DType::I32), 2u);
  EXPECT_EQ(nodes(DType::I8, DType::U64, DType::F32), 2u);
  EXPECT_EQ(nodes(DType::F16, DType::BF16, DType::F16), 2u);
  EXPECT_EQ(nodes(DType::F32, DType::Bool, DType::F32), 2u);
}

TEST_F(Passes, SelectsOfConstantsAndOfEquals) {
  const Value x = of(DType::F32);
  const Value y = of(DType::F32);
  after({builder.select(builder.scalar(DType::Bool, 1), x, y)});
  EXPECT_TRUE(is_parameter());
  const Value z = of(DType::F32);
  const Value predicate = of(DType::Bool);
  after({builder.select(predicate, z, z)});
  EXPECT_TRUE(is_parameter());
}

TEST_F(Passes, IdentitiesTheBuilderNeverMakes) {
  Graph raw;
  const TensorType type{DType::F32, {2, 3}};
  Value value = raw.new_value(type);
  raw.parameters = {value};
  value = append(raw, Op::Convert, {value}, type);
  value = append(raw, Op::Reshape, {value}, type);
  value = append(raw, Op::Transpose, {value}, type, ir::TransposeAttributes{{0, 1}});
  value = append(raw, Op::BroadcastInDim, {value}, type, ir::BroadcastAttributes{{0, 1}});
  value = append(raw, Op::Slice, {value}, type, ir::SliceAttributes{{0, 0}, {2, 3}, {1, 1}});
  value = append(raw, Op::Reverse, {value}, type, ir::ReverseAttributes{});
  value = append(raw, Op::Concatenate, {value}, type, ir::ConcatenateAttributes{1});
  raw.results = {value};
  ir::verify(raw);
  EXPECT_TRUE(operations(raw).empty());
  EXPECT_EQ(raw.results, raw.parameters);
}

template <typename T>
T only_element(const Graph& graph) {
  T value{};
  const auto& data = graph.nodes[0].as<ir::ConstantAttributes>().data;
  EXPECT_EQ(data.size(), sizeof(T));
  std::memcpy(static_cast<void*>(&value), data.data(), sizeof(T));
  return value;
}

TEST_F(Passes, SplatArithmeticIsFolded) {
  const auto fold = [&](DType dtype, Op op, double left, double right) {
    const TensorType type{dtype, {2}};
    return after({builder.binary(op, builder.splat(type, left), builder.splat(type, right))});
  };
  const std::vector constant{Op::Constant};
  EXPECT_EQ(fold(DType::F32, Op::Add, 0.1, 0.2), constant);
  EXPECT_EQ(only_element<float>(graph), 0.1f + 0.2f);
  EXPECT_EQ(fold(DType::F32, Op::Divide, 1, 0), constant);
  EXPECT_EQ(only_element<float>(graph), std::numeric_limits<float>::infinity());
  EXPECT_EQ(fold(DType::BF16, Op::Multiply, 1.0078125, 1.0078125), constant);
  EXPECT_EQ(only_element<BFloat16>(graph).bits, BFloat16(1.0078125f * 1.0078125f).bits);
  EXPECT_EQ(fold(DType::I8, Op::Multiply, 100, 3), constant);
  EXPECT_EQ(only_element<int8_t>(graph), 44);
  EXPECT_EQ(fold(DType::I64, Op::Subtract, -0x1p63, 1), constant);
  EXPECT_EQ(only_element<int64_t>(graph), INT64_MAX);
  EXPECT_EQ(fold(DType::U16, Op::Multiply, 65535, 65535), constant);
  EXPECT_EQ(only_element<uint16_t>(graph), 1);
  EXPECT_EQ(fold(DType::I32, Op::Minimum, -3, 2), constant);
  EXPECT_EQ(only_element<int32_t>(graph), -3);
}

TEST_F(Passes, WhatIsNotFixedByAStandardIsLeftToTheEngine) {
  const auto nodes = [&](DType dtype, Op op, double left, double right) {
    const TensorType type{dtype, {2}};
    return after({builder.binary(op, builder.splat(type, left), builder.splat(type, right))}).size();
  };
  EXPECT_EQ(nodes(DType::F32, Op::Power, 2, 3), 3u);
  EXPECT_EQ(nodes(DType::I32, Op::Divide, 2, 0), 3u);
  EXPECT_EQ(nodes(DType::I32, Op::Remainder, 2, 3), 3u);
  EXPECT_EQ(nodes(DType::F32, Op::Divide, 0, -0.0), 3u);
  EXPECT_EQ(nodes(DType::C64, Op::Multiply, 2, 3), 3u);
}

TEST_F(Passes, SplatsMoveForFree) {
  const Value scalar = builder.scalar(DType::F64, 0.1);
  const Value narrow = builder.convert(scalar, DType::F32);
  const Value moved = builder.transpose(builder.broadcast_in_dim(narrow, {2, 3}, {}), {1, 0});
  EXPECT_EQ(after({builder.slice(moved, {0, 0}, {2, 2}, {1, 1})}), std::vector{Op::Constant});
  EXPECT_EQ(only_element<float>(graph), 0.1f);
  EXPECT_EQ(graph.type(graph.results[0]), (TensorType{DType::F32, {2, 2}}));
  const Value empty = builder.slice(builder.splat({DType::F32, {4}}, 1), {2}, {2}, {1});
  EXPECT_EQ(after({empty}), std::vector{Op::Constant});
  EXPECT_TRUE(graph.nodes[0].as<ir::ConstantAttributes>().data.empty());
}

TEST_F(Passes, ConstantsThatAreNoSplatsStay) {
  std::vector<std::byte> data(8);
  data[0] = std::byte{1};
  const Value constant = builder.constant({DType::F32, {2}}, data);
  EXPECT_EQ(after({builder.reverse(constant, {0})}), (std::vector{Op::Constant, Op::Reverse}));
}

}  // namespace
}  // namespace opentrn::passes
