#include "engines/run_text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace opentrn::engines {
namespace {

RunReport run(const std::string& text, const RunOptions& options = {}) {
  return run_text(text, engine("reference"), neuroncore::machines()[0], options);
}

std::string message_of(const std::string& text, const RunOptions& options = {}) {
  try {
    run(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was raised";
}

constexpr const char* kDoubled = R"(func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

TEST(RunText, ResultsAreText) {
  const RunReport report = run(R"(func.func @main() -> (tensor<2xf32>, tensor<i1>) {
    %0 = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %1 = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.negate %0 : tensor<2xf32>
    return %2, %1 : tensor<2xf32>, tensor<i1>
  })");
  EXPECT_EQ(report.name, "main");
  EXPECT_EQ(report.results,
            (std::vector<std::string>{"dense<[-1.5, 2.0]> : tensor<2xf32>", "dense<true> : tensor<i1>"}));
}

TEST(RunText, ParametersNeedArguments) {
  EXPECT_EQ(run(kDoubled, {.fill = 3}).results, std::vector<std::string>{"dense<6.0> : tensor<2xf32>"});
  EXPECT_NE(message_of(kDoubled).find("has parameters, and there are no arguments, got tensor<2xf32>"),
            std::string::npos);
}

TEST(RunText, ChecksAreCountedAndKept) {
  const auto module = [](const std::string& expected) {
    return "func.func @main() {\n %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
           " %1 = stablehlo.add %0, %0 : tensor<2xi32>\n"
           " check.expect_eq_const %1, dense<" +
           expected + "> : tensor<2xi32>\n return\n}";
  };
  EXPECT_EQ(run(module("[2, 4]")).checks, 1);
  EXPECT_EQ(message_of(module("[2, 5]")),
            "[check.expect_eq] element [1] of tensor<2xi32> differs (and 0 more), got 4, expected 5");
}

// 4-bit integers wrap at 4 bits, quantised numbers round to their integers.
TEST(RunText, TypesTheIrHasNot) {
  EXPECT_EQ(run(R"(func.func @main() {
    %0 = stablehlo.constant dense<[-8, 7, 3]> : tensor<3xi4>
    %1 = stablehlo.constant dense<[1, 1, 5]> : tensor<3xi4>
    %2 = stablehlo.add %0, %1 : tensor<3xi4>
    %3 = stablehlo.subtract %0, %1 : tensor<3xi4>
    "check.expect_eq_const"(%2) <{value = dense<[-7, -8, -8]> : tensor<3xi4>}> : (tensor<3xi4>) -> ()
    "check.expect_eq_const"(%3) <{value = dense<[7, 6, -2]> : tensor<3xi4>}> : (tensor<3xi4>) -> ()
    return
  })")
                .checks,
            2);
  EXPECT_EQ(run(R"(func.func @main() -> tensor<3xf32> {
    %0 = stablehlo.constant dense<[0.3, 1.0, 100.0]> : tensor<3xf32>
    %1 = stablehlo.uniform_quantize %0 : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-3>>
    %2 = stablehlo.add %1, %1 : tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-3>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-3>>) -> tensor<3xf32>
    return %3 : tensor<3xf32>
  })")
                .results,
            std::vector<std::string>{"dense<[1.0, 2.0, 65.0]> : tensor<3xf32>"});
  EXPECT_EQ(run(R"(func.func @main() -> tensor<2x2xf32> {
    %0 = stablehlo.constant dense<[[1.0, 1.0], [2.2, 2.2]]> : tensor<2x2xf32>
    %1 = stablehlo.uniform_quantize %0 : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:1, {5.000000e-01:4, 1.000000e+00}>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<2x2x!quant.uniform<u8:f32:1, {5.000000e-01:4, 1.000000e+00}>>) -> tensor<2x2xf32>
    return %2 : tensor<2x2xf32>
  })")
                .results,
            std::vector<std::string>{"dense<[[1.0, 1.0], [2.0, 2.0]]> : tensor<2x2xf32>"});
}

}  // namespace
}  // namespace opentrn::engines
