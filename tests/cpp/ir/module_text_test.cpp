// Modules as other tools write them: several functions, generic forms, regions, shapes that follow from sizes.
#include <gtest/gtest.h>

#include "ir/custom_calls.h"
#include "ir/region.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/cpp/ir/samples.h"

namespace opentrn::ir {
namespace {

Graph parse_main(const std::string& parameters, const std::string& result, const std::string& body) {
  const Graph graph =
      parse("func.func @main(" + parameters + ") -> " + result + " {\n" + body + " : " + result + "\n}");
  verify(graph);
  return graph;
}

TEST(ModuleText, CallsAreSpelledOut) {
  const Graph graph = parse(R"(#loc = loc("f.py":1:2)
module @jit attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main() -> (tensor<2xf32> {jax.result_info = ""}) {
    %0:2 = call @inputs() : () -> (tensor<2xf32>, tensor<2xf32>) loc(#loc)
    %1 = func.call @sum(%0#0, %0#1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = func.call @sum(%1, %0#1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32> loc(#loc)
  } loc(#loc)
  func.func private @inputs() -> (tensor<2xf32> {mhlo.layout_mode = "default"}, tensor<2xf32>) {
    %cst = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    return %cst, %cst : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @sum(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
} loc(#loc)
)");
  verify(graph);
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[2].operands, (std::vector<Value>{graph.nodes[1].results[0], graph.nodes[0].results[0]}));
}

TEST(ModuleText, GenericFormsMeanTheSame) {
  const std::string type = "tensor<2x3xf32>";
  const auto same = [&](const std::string& pretty, const std::string& generic, const std::string& result) {
    const Graph left = parse_main("%a: " + type, result, "%0 = " + pretty + "\n return %0");
    const Graph right = parse_main("%a: " + type, result, "%0 = " + generic + "\n return %0");
    EXPECT_TRUE(same_graph(left, right)) << print(right);
  };
  same("stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
       "\"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
       "tensor<3x2xf32>");
  same("stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>",
       "\"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> "
       "tensor<2x4x3xf32>",
       "tensor<2x4x3xf32>");
  same("stablehlo.slice %a [0:2, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
       "\"stablehlo.slice\"(%a) {limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 1>, strides = "
       "array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>",
       "tensor<2x2xf32>");
  same(
      "stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
      "tensor<2x2xf32>",
      "\"stablehlo.dot_general\"(%a, %a) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
      "rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision "
      "DEFAULT>]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
      "tensor<2x2xf32>");
  same("stablehlo.compare GE, %a, %a, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
       "\"stablehlo.compare\"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction GE>}> : "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
       "tensor<2x3xi1>");
}

constexpr const char* kArgMax = R"(
    %i = stablehlo.iota dim = 0 : tensor<4xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.reduce(%a init: %low), (%i init: %none) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
      %0 = stablehlo.compare  GT, %x, %y,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %x, %y : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
    return %r#1)";

// The text pairs the elements of each input; the region takes all left ones, then all right ones.
TEST(ModuleText, ReducersTakeAllElementsOfOneSideFirst) {
  const Graph graph = parse_main("%a: tensor<4xf32>", "tensor<i32>", kArgMax);
  const auto& reduce = graph.nodes.back().as<ReduceAttributes>();
  ASSERT_TRUE(reduce.body);
  EXPECT_EQ(reduce.reducer, Op::Map);
  const Graph& body = reduce.body.graph();
  EXPECT_EQ(body.nodes[1].operands[1], body.parameters[0]);
  EXPECT_EQ(body.nodes[1].operands[2], body.parameters[2]);
  EXPECT_EQ(body.nodes[2].operands[1], body.parameters[1]);
}

// A small constant is copied into the region, any other value becomes an operand and a parameter.
TEST(ModuleText, CapturedValuesAreOperands) {
  const Graph graph = parse_main("%a: tensor<4xf32>, %b: tensor<4xf32>", "tensor<4xf32>", R"(
    %one = stablehlo.constant dense<1> : tensor<i32>
    %limit = stablehlo.constant dense<5> : tensor<i32>
    %0:2 = stablehlo.while(%i = %one, %x = %a) : tensor<i32>, tensor<4xf32>
     cond {
      %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.add %x, %b : tensor<4xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %y : tensor<i32>, tensor<4xf32>
    }
    return %0#1)");
  const Node& loop = graph.nodes.back();
  EXPECT_EQ(loop.op, Op::While);
  EXPECT_EQ(own_operands(loop), 2u);
  ASSERT_EQ(loop.operands.size(), 3u);
  EXPECT_EQ(loop.operands[2], graph.parameters[1]);
  EXPECT_EQ(loop.as<WhileAttributes>().condition.graph().parameters.size(), 3u);  // though it reads only two
  EXPECT_TRUE(same_graph(graph, parse(print(graph))));
}

TEST(ModuleText, TotalOrderIsAnOrderOfBits) {
  const Graph graph = parse_main("%a: tensor<2xf32>, %b: tensor<2xf32>", "tensor<2xi1>",
                                 "%0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> "
                                 "tensor<2xi1>\n return %0");
  EXPECT_EQ(graph.type(graph.nodes.back().operands[0]).dtype, DType::I32);
}

TEST(ModuleText, ComplexNumbersAreTrueByTheirRealPart) {
  const Graph graph = parse_main("%a: tensor<2xcomplex<f32>>", "tensor<2xi1>",
                                 "%0 = stablehlo.convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xi1>\n return %0");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, Op::Real);
}

TEST(ModuleText, ChecksHaveNoResult) {
  const Graph graph = parse_main("%a: tensor<2xf32>", "tensor<2xf32>", R"(
    "check.expect_almost_eq_const"(%a) <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
    check.expect_close %a, %a, max_ulp_difference = 7 : tensor<2xf32>, tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%a, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return %a)");
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_TRUE(graph.nodes[1].results.empty());
  EXPECT_EQ(graph.nodes[1].as<CustomCallAttributes>().text, "0.0001");
  EXPECT_EQ(graph.nodes[2].as<CustomCallAttributes>().integers, (Dims{0, 7}));
  EXPECT_EQ(graph.nodes[3].as<CustomCallAttributes>().integers, (Dims{0, 3}));
  EXPECT_TRUE(same_graph(graph, parse(print(graph))));
}

TEST(ModuleText, SizesMayBeHandedOver) {
  const std::string text = R"(module @jit attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%n: tensor<i64>, %a: tensor<?x2xf32>) -> tensor<?xf32> {
    %two = stablehlo.constant dense<2> : tensor<i64>
    %size = stablehlo.multiply %n, %two : tensor<i64>
    %ok = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%ok, %n) {api_version = 2 : i32, error_message = "too small"} : (tensor<i1>, tensor<i64>) -> ()
    %line = stablehlo.reshape %size : (tensor<i64>) -> tensor<1xi64>
    %0 = stablehlo.dynamic_reshape %a, %line : (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
})";
  const Graph graph = parse(text, {.dynamic_size = 3});
  verify(graph);
  ASSERT_EQ(graph.parameters.size(), 1u);
  EXPECT_EQ(graph.type(graph.results[0]), (TensorType{DType::F32, {6}}));
  EXPECT_THROW(parse(text), Error);
  EXPECT_THROW(parse(text, {.dynamic_size = 1}), Error);  // breaks the module's own assertion
}

TEST(ModuleText, BoolsMayBePacked) {
  const auto values = [](const std::string& literal, const std::string& type) {
    const Graph graph = parse_main("", type, "%0 = stablehlo.constant " + literal + " : " + type + "\n return %0");
    return graph.nodes[0].as<ConstantAttributes>().data;
  };
  const std::vector<std::byte> expected{std::byte{1}, std::byte{0}, std::byte{1}};
  EXPECT_EQ(values("dense<\"0x05\">", "tensor<3xi1>"), expected);
  EXPECT_EQ(values("dense<\"0x010001\">", "tensor<3xi1>"), expected);
  EXPECT_EQ(values("dense<\"0xFF\">", "tensor<3xi1>"), std::vector<std::byte>{std::byte{1}});
}

TEST(ModuleText, ModulesOfOneFileAreSplit) {
  const std::vector<std::string> modules = split_modules("a\n// -----\nb\nc\n// -----  \nd");
  EXPECT_EQ(modules, (std::vector<std::string>{"a\n", "b\nc\n", "d"}));
}

TEST(ModuleText, RegionsCountTheirNodes) {
  Builder b("region");
  const Value x = b.parameter({DType::Bool, {}});
  const Region checked(b.finish({b.check(x, x, "no")}));
  const Region plain = samples::comparison(ComparisonDirection::EQ, DType::Bool);
  Builder outer;
  const std::vector<Value> flag{outer.parameter({DType::Bool, {}})};
  const Graph graph = outer.finish(outer.if_(flag[0], checked, checked, flag));
  EXPECT_EQ(count_nodes(graph, [](const Node& node) { return node.op == Op::CustomCall; }), 2);
  EXPECT_TRUE(has_side_effect(graph.nodes[0]));
  EXPECT_EQ(plain, samples::comparison(ComparisonDirection::EQ, DType::Bool));
  EXPECT_FALSE(plain == samples::comparison(ComparisonDirection::NE, DType::Bool));
}

}  // namespace
}  // namespace opentrn::ir
