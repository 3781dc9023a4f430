#include "ir/text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <tuple>

#include "tests/cpp/ir/samples.h"

namespace opentrn::ir {
namespace {

TEST(Text, EveryPrimitiveSurvivesTheRoundTrip) {
  for (const Graph& graph : sample_graphs()) {
    const std::string text = print(graph);
    SCOPED_TRACE(text);
    const Graph read = parse(text);
    EXPECT_TRUE(same_graph(graph, read));
    EXPECT_EQ(print(read), text);
  }
}

// Random bits of every type: numbers, infinities, NaNs with payloads, denormals.
TEST(Text, EveryConstantIsExact) {
  std::mt19937 random(3);
  for (const DTypeInfo& row : dtype_table()) {
    for (const Dims& shape : {Dims{}, Dims{1}, Dims{0}, Dims{2, 3}, Dims{2, 0, 3}, Dims{7, 5, 2}, Dims{300}}) {
      const TensorType type{row.dtype, shape};
      std::vector<std::byte> data(static_cast<size_t>(type.bytes()));
      for (std::byte& byte : data) byte = std::byte(is_bool(row.dtype) ? random() % 2 : random() % 256);
      Builder builder;
      const Graph graph = builder.finish({builder.constant(type, data)});
      EXPECT_TRUE(same_graph(graph, parse(print(graph)))) << print(graph);
    }
  }
}

TEST(Text, EveryNarrowFloatIsExact) {
  for (const DTypeInfo& row : dtype_table()) {
    if (!is_float(row.dtype) || row.size > 2) continue;
    const int64_t codes = row.size == 1 ? 256 : 65536;
    for (int64_t start = 0; start < codes; start += 64) {
      std::vector<std::byte> data;
      for (int64_t code = start; code < start + 64; ++code) {
        for (int64_t byte = 0; byte < row.size; ++byte) data.push_back(std::byte(code >> (8 * byte) & 0xFF));
      }
      Builder builder;
      const Graph graph = builder.finish({builder.constant({row.dtype, {64}}, data)});
      ASSERT_TRUE(same_graph(graph, parse(print(graph)))) << print(graph);
    }
  }
}

std::string line(Builder& builder, Value value) {
  const std::string text = print(builder.finish({value}));
  const size_t end = text.find("\n    return");
  const size_t start = text.find(" = ", text.rfind("\n    %", end)) + 3;
  return text.substr(start, end - start);
}

TEST(Text, PrintsStableHlo) {
  Builder b;
  const auto f32 = [&b](Dims shape) { return b.parameter({DType::F32, std::move(shape)}); };
  const auto two = [&f32] {  // in order, which the order of arguments is not
    const Value first = f32({2});
    return std::pair(first, f32({2}));
  };
  auto [x, y] = two();
  EXPECT_EQ(line(b, b.add(x, y)), "stablehlo.add %arg0, %arg1 : tensor<2xf32>");
  EXPECT_EQ(line(b, b.erf(f32({2}))), "chlo.erf %arg0 : tensor<2xf32> -> tensor<2xf32>");
  EXPECT_EQ(line(b, b.convert(f32({2}), DType::BF16)), "stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xbf16>");
  std::tie(x, y) = two();
  EXPECT_EQ(line(b, b.compare(ComparisonDirection::LT, x, y)),
            "stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>");
  const Value predicate = b.parameter({DType::Bool, {}});
  std::tie(x, y) = two();
  EXPECT_EQ(line(b, b.select(predicate, x, y)), "stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<2xf32>");
  EXPECT_EQ(line(b, b.slice(f32({4, 9}), {1, 0}, {4, 8}, {1, 3})),
            "stablehlo.slice %arg0 [1:4, 0:8:3] : (tensor<4x9xf32>) -> tensor<3x3xf32>");
  EXPECT_EQ(line(b, b.iota({DType::I32, {3}}, 0)), "stablehlo.iota dim = 0 : tensor<3xi32>");
  std::tie(x, y) = two();
  EXPECT_EQ(line(b, b.complex(x, y)), "stablehlo.complex %arg0, %arg1 : tensor<2xcomplex<f32>>");
  const Value matrix = f32({2, 3});
  EXPECT_EQ(line(b, b.dot_general(matrix, f32({3, 4}), {{}, {}, {1}, {0}}, DType::F32)),
            "stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : "
            "(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>");
  EXPECT_EQ(line(b, b.reduce(f32({2, 3}), Op::Maximum, {1})),
            "stablehlo.reduce(%arg0 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, "
            "tensor<f32>) -> tensor<2xf32>");
  EXPECT_EQ(line(b, b.checked_index(b.parameter({DType::I64, {}}), 5, 0, "aten.index")),
            "stablehlo.custom_call @opentrn.checked_index(%arg0) {backend_config = \"aten.index\", opentrn.integers = "
            "array<i64: 5, 0>} : (tensor<i64>) -> tensor<i64>");
}

TEST(Text, PrintsConstants) {
  Builder b;
  const auto bits = [](auto value) {
    std::vector<std::byte> data(sizeof(value));
    std::memcpy(data.data(), &value, sizeof(value));
    return data;
  };
  EXPECT_EQ(line(b, b.splat({DType::F32, {2}}, 0.1)), "stablehlo.constant dense<0.1> : tensor<2xf32>");
  EXPECT_EQ(line(b, b.scalar(DType::F32, 1)), "stablehlo.constant dense<1.0> : tensor<f32>");
  EXPECT_EQ(line(b, b.scalar(DType::F64, -0.0)), "stablehlo.constant dense<-0.0> : tensor<f64>");
  EXPECT_EQ(line(b, b.scalar(DType::F64, 1e300)), "stablehlo.constant dense<1.0e+300> : tensor<f64>");
  EXPECT_EQ(line(b, b.scalar(DType::F32, -1e300)), "stablehlo.constant dense<0xFF800000> : tensor<f32>");
  EXPECT_EQ(line(b, b.constant({DType::BF16, {}}, bits(uint16_t{0x7FC1}))),
            "stablehlo.constant dense<0x7FC1> : tensor<bf16>");
  EXPECT_EQ(line(b, b.constant({DType::U64, {}}, bits(UINT64_MAX))),
            "stablehlo.constant dense<18446744073709551615> : tensor<ui64>");
  EXPECT_EQ(line(b, b.scalar(DType::C64, 1.5)), "stablehlo.constant dense<(1.5, 0.0)> : tensor<complex<f32>>");
  EXPECT_EQ(line(b, b.scalar(DType::Bool, 1)), "stablehlo.constant dense<true> : tensor<i1>");
  EXPECT_EQ(line(b, b.splat({DType::F32, {0}}, 1)), "stablehlo.constant dense<> : tensor<0xf32>");
}

TEST(Text, NamesAndEmptyFunctions) {
  Builder plain("step_1");
  const Graph empty = plain.finish({});
  EXPECT_EQ(print(empty), "module {\n  func.func @step_1() {\n    return\n  }\n}\n");
  EXPECT_TRUE(same_graph(empty, parse(print(empty))));
  Builder odd("two words \"\\\xC3");
  const Graph quoted = odd.finish({odd.parameter({DType::F32, {}})});
  EXPECT_TRUE(same_graph(quoted, parse(print(quoted))));
}

// The same subset as another tool prints it.
TEST(Text, ReadsWhatOtherToolsWrite) {
  const Graph graph = parse(R"(
// a comment
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<3x2xf32>)
      -> (tensor<4xf32> {jax.result_info = ""}, tensor<4x2xi32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.compare  EQ, %0, %0,  FLOAT {mhlo.note = "x"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xi1>
    %cst_0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, -8]]> : tensor<4x2xi32>
    %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%0 init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.iota dim = 1 : tensor<4x2xi32>
    %4:2 = "stablehlo.sort"(%cst_0, %3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %9 = stablehlo.compare  LT, %arg2, %arg3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<4x2xi32>, tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>)
    %5 = "stablehlo.reduce_window"(%0, %cst) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    return %2, %4#1 : tensor<4xf32>, tensor<4x2xi32>
  }
}
)");
  EXPECT_EQ(graph.nodes.size(), 9u);
  EXPECT_TRUE(same_graph(graph, parse(print(graph))));
  const Node* sort = nullptr;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::Sort) sort = &node;
  }
  ASSERT_NE(sort, nullptr);
  EXPECT_FALSE(sort->as<SortAttributes>().descending);
  EXPECT_EQ(graph.results[1], sort->results[1]);
}

}  // namespace
}  // namespace opentrn::ir
