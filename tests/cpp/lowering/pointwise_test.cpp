// Element-wise families: arithmetic, comparison, math, selection, activation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pointwise;

std::vector<double> unary(std::string name, std::vector<double> x) {
  const Dims shape{static_cast<int64_t>(x.size())};
  return CallBuilder(std::move(name)).tensor("self", floats(shape, x)).run_for<double>();
}

std::vector<double> binary(std::string name, std::vector<double> x, std::vector<double> y) {
  const Dims shape{static_cast<int64_t>(x.size())};
  return CallBuilder(std::move(name))
      .tensor("self", floats(shape, x))
      .tensor("other", floats(shape, y))
      .run_for<double>();
}

std::vector<int64_t> binary(std::string name, std::vector<int64_t> x, std::vector<int64_t> y) {
  const Dims shape{static_cast<int64_t>(x.size())};
  return CallBuilder(std::move(name))
      .tensor("self", integers(shape, x))
      .tensor("other", integers(shape, y))
      .run_for<int64_t>();
}

CallBuilder add(const TestTensor& self, const TestTensor& other) {
  return std::move(CallBuilder("add.Tensor").tensor("self", self).tensor("other", other));
}

TEST(Add, MultipliesByAlpha) {
  EXPECT_THAT(add(floats({2}, {1, 2}), floats({2}, {10, 20})).scalar("alpha", 0.5).run_for<double>(),
              ElementsAre(6, 12));
}

TEST(Add, AlphaOfOneIsNotMultiplied) {
  const auto nodes = [](int alpha) {
    return add(floats({2}, {1, 2}), floats({2}, {1, 2})).scalar("alpha", alpha).lower().graph.nodes.size();
  };
  EXPECT_EQ(nodes(1) + 1, nodes(2));
  EXPECT_EQ(nodes(2), nodes(3));
}

TEST(Add, BoolsAreOr) {
  const TestTensor self = tensor_of<double>(DType::Bool, {3}, {0, 1, 1});
  const TestTensor other = tensor_of<double>(DType::Bool, {3}, {0, 0, 1});
  const auto results = add(self, other).scalar("alpha", 1).run();
  EXPECT_EQ(results[0].type.dtype, DType::Bool);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(0, 1, 1));
}

TEST(Add, RefusesAlphaOfAHigherCategory) {
  const TestTensor ints = integers({1}, {1});
  EXPECT_THAT(error_of([&] { add(ints, ints).scalar("alpha", 1.5).lower(); }),
              HasSubstr("must not be a floating point"));
  EXPECT_THAT(error_of([&] { add(ints, ints).scalar("alpha", true).lower(); }), HasSubstr("Boolean alpha"));
}

TEST(Add, BroadcastsAndRefusesOtherShapes) {
  const auto results = add(floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})).scalar("alpha", 1).run();
  EXPECT_EQ(results[0].type.shape, (Dims{2, 3}));
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(11, 21, 31, 12, 22, 32));
  EXPECT_THAT(error_of([&] { add(floats({2}, {1, 2}), floats({3}, {1, 2, 3})).scalar("alpha", 1).lower(); }),
              HasSubstr("got [2] and [3]"));
}

TEST(Add, RoundsOnceInBfloat16) {
  const TestTensor self = tensor_of<double>(DType::BF16, {1}, {256});
  EXPECT_THAT(add(self, tensor_of<double>(DType::BF16, {1}, {1})).scalar("alpha", 1).run_for<double>(),
              ElementsAre(256));
}

TEST(Add, InPlaceKeepsTheOperandsTypeAndMemory) {
  CallBuilder call = add(floats({2}, {1, 2}), integers({2}, {1, 2})).scalar("alpha", 1).in_place();
  const Lowered lowered = call.lower();
  ASSERT_EQ(lowered.outputs.size(), 1u);
  EXPECT_EQ(lowered.outputs[0].operand, 0);
  EXPECT_EQ(lowered.outputs[0].type.dtype, DType::F32);
}

TEST(Add, InPlaceRefusesAWiderResult) {
  CallBuilder wider = add(integers({2}, {1, 2}), floats({2}, {1, 2})).scalar("alpha", 1).in_place();
  EXPECT_THAT(error_of([&] { wider.lower(); }), HasSubstr("can't be cast"));
  CallBuilder broadcast = add(floats({1}, {1}), floats({2}, {1, 2})).scalar("alpha", 1).in_place();
  EXPECT_THAT(error_of([&] { broadcast.lower(); }), HasSubstr("doesn't match the broadcast shape"));
}

TEST(Add, OutOfAnotherShapeAsksForAResize) {
  CallBuilder call = add(floats({2}, {1, 2}), floats({2}, {1, 2})).scalar("alpha", 1).out(floats({0}, {}));
  EXPECT_EQ(call.lower().resize_destinations, std::vector<Dims>{Dims{2}});
}

TEST(Sub, RefusesBools) {
  const TestTensor bools = tensor_of<double>(DType::Bool, {1}, {1});
  CallBuilder call("sub.Tensor");
  call.tensor("self", bools).tensor("other", bools).scalar("alpha", 1);
  EXPECT_THAT(error_of([&] { call.lower(); }), HasSubstr("with two bool tensors is not supported"));
}

TEST(Mul, PythonNumberKeepsItsPrecisionAmongBfloat16) {
  const double x = 1.5;
  const auto product =
      CallBuilder("mul.Tensor").tensor("self", tensor_of<double>(DType::BF16, {1}, {x})).wrapped("other", 0.3);
  EXPECT_THAT(CallBuilder(product).run_for<double>(), ElementsAre(static_cast<double>(BFloat16(1.5f * 0.3f))));
}

TEST(FloorDivide, RoundsTowardsMinusInfinity) {
  EXPECT_THAT(binary("floor_divide", std::vector<int64_t>{-7, 7, -7, 7}, {2, 2, -2, -2}), ElementsAre(-4, 3, 3, -4));
  EXPECT_THAT(binary("floor_divide", std::vector<double>{-0.5, 5, kNan, kInfinity, 1, -1}, {1, kInfinity, 1, 1, 0, 0}),
              Pointwise(NanSensitiveDoubleEq(), {-1.0, 0.0, kNan, kNan, kInfinity, -kInfinity}));
}

TEST(Remainder, HasTheDivisorsSign) {
  EXPECT_THAT(binary("remainder.Tensor", std::vector<int64_t>{-7, 7, -7, 7}, {2, 2, -2, -2}),
              ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(binary("fmod.Tensor", std::vector<int64_t>{-7, 7, -7, 7}, {2, 2, -2, -2}), ElementsAre(-1, 1, -1, 1));
  EXPECT_THAT(binary("remainder.Tensor", std::vector<double>{5, -5, 1}, {kInfinity, kInfinity, 0}),
              Pointwise(NanSensitiveDoubleEq(), {5.0, kInfinity, kNan}));
}

TEST(Remainder, IntegerDivisionByZeroRaises) {
  EXPECT_THAT(error_of([] { binary("remainder.Tensor", std::vector<int64_t>{1}, {0}); }),
              HasSubstr("ZeroDivisionError"));
}

TEST(DivMode, TruncatesOrFloors) {
  const auto divide = [](const char* mode) {
    return CallBuilder("div.Tensor_mode")
        .tensor("self", floats({2}, {-7, 7}))
        .tensor("other", floats({2}, {2, 2}))
        .text("rounding_mode", mode)
        .run_for<double>();
  };
  EXPECT_THAT(divide("trunc"), ElementsAre(-3, 3));
  EXPECT_THAT(divide("floor"), ElementsAre(-4, 3));
  EXPECT_THAT(error_of([&] { divide("up"); }), HasSubstr("got 'up'"));
}

TEST(Div, IntegersGiveTheDefaultFloat) {
  CallBuilder call("div.Tensor");
  const auto results = call.tensor("self", integers({1}, {1})).tensor("other", integers({1}, {2})).run();
  EXPECT_EQ(results[0].type.dtype, DType::F32);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(0.5));
}

TEST(Sign, IsZeroForNanAndZeros) { EXPECT_THAT(unary("sign", {kNan, -0.0, 2, -3}), ElementsAre(0, 0, 1, -1)); }

TEST(Lerp, IsExactAtTheNearerEnd) {
  const auto lerp = [](double weight) {
    return CallBuilder("lerp.Scalar")
        .tensor("self", floats({1}, {1e8}))
        .tensor("end", floats({1}, {1}))
        .scalar("weight", weight)
        .run_for<double>();
  };
  EXPECT_THAT(lerp(0.0), ElementsAre(1e8));
  EXPECT_THAT(lerp(1.0), ElementsAre(1.0));
}

TEST(Pow, ClassOfTheExponentShapesTheGraph) {
  const auto power = [](auto exponent) {
    return std::move(
        CallBuilder("pow.Tensor_Scalar").tensor("self", floats({2}, {-2, 3})).scalar("exponent", exponent));
  };
  EXPECT_THAT(power(2).template run_for<double>(), ElementsAre(4, 9));
  EXPECT_THAT(power(3.0).template run_for<double>(), ElementsAre(-8, 27));
  EXPECT_THAT(power(-1.0).template run_for<double>(), ElementsAre(-0.5, static_cast<double>(1.0f / 3.0f)));
  EXPECT_THAT(power(0).template run_for<double>(), ElementsAre(1, 1));
  EXPECT_EQ(power(2.25).lower().graph.nodes.size(), power(2.75).lower().graph.nodes.size());
}

TEST(Pow, RefusesIntegersToNegativePowers) {
  CallBuilder call("pow.Tensor_Scalar");
  call.tensor("self", integers({1}, {2})).scalar("exponent", -3);
  EXPECT_THAT(error_of([&] { call.lower(); }), HasSubstr("Integers to negative integer powers"));
}

TEST(Comparison, PythonNumberIsRoundedToTheTensorsType) {
  CallBuilder call("eq.Scalar");
  const auto results = call.tensor("self", tensor_of<double>(DType::BF16, {1}, {0.1})).scalar("other", 0.1).run();
  EXPECT_EQ(results[0].type.dtype, DType::Bool);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1));
}

TEST(Comparison, RefusesTheOrderOfComplexNumbers) {
  const TestTensor complex = tensor_of<double>(DType::C64, {1}, {1});
  CallBuilder call("lt.Tensor");
  call.tensor("self", complex).tensor("other", complex);
  EXPECT_THAT(error_of([&] { call.lower(); }, ErrorKind::NotImplemented),
              HasSubstr("not implemented for 'ComplexFloat'"));
}

TEST(Comparison, DeclinesRareTypes) {
  CallBuilder call("eq.Tensor");
  const TestTensor small = tensor_of<double>(DType::F8E4M3FN, {1}, {1});
  call.tensor("self", small).tensor("other", small);
  try {
    call.lower();
    FAIL() << "not declined";
  } catch (const Declined& declined) {
    EXPECT_EQ(declined.reason, "dtype float8_e4m3fn");
  }
}

TEST(Logic, NanIsTrue) { EXPECT_THAT(unary("logical_not", {kNan, 0, -0.0, 1}), ElementsAre(0, 1, 1, 0)); }

TEST(Shift, BeyondTheWidth) {
  EXPECT_THAT(binary("bitwise_right_shift.Tensor", std::vector<int64_t>{-8, 8}, {70, -1}), ElementsAre(-1, 0));
  EXPECT_THAT(binary("bitwise_left_shift.Tensor", std::vector<int64_t>{-8, 8}, {70, -1}), ElementsAre(0, 0));
}

TEST(Maximum, PropagatesNanAndFmaxDoesNot) {
  EXPECT_THAT(binary("maximum", std::vector<double>{1, kNan}, {kNan, 1}),
              Pointwise(NanSensitiveDoubleEq(), {kNan, kNan}));
  EXPECT_THAT(binary("fmax", std::vector<double>{1, kNan}, {kNan, 1}), ElementsAre(1, 1));
}

TEST(Copysign, TakesTheSignBit) {
  const auto result = binary("copysign.Tensor", std::vector<double>{1, -2}, {-0.0, 3});
  EXPECT_THAT(result, ElementsAre(-1, 2));
  EXPECT_THAT(unary("signbit", {-0.0, 1}), ElementsAre(1, 0));
}

TEST(Where, PromotesOnlyItsBranches) {
  CallBuilder call("where.self");
  const auto results = call.tensor("condition", tensor_of<double>(DType::Bool, {2}, {1, 0}))
                           .tensor("self", integers({2}, {1, 2}))
                           .wrapped("other", 0.5)
                           .run();
  EXPECT_EQ(results[0].type.dtype, DType::F32);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1, 0.5));
}

TEST(MaskedFill, ChecksThatTheNumberFits) {
  const auto fill = [](auto value) {
    return CallBuilder("masked_fill.Scalar")
        .tensor("self", tensor_of<double>(DType::I8, {2}, {1, 2}))
        .tensor("mask", tensor_of<double>(DType::Bool, {2}, {1, 0}))
        .scalar("value", value)
        .template run_for<double>();
  };
  EXPECT_THAT(fill(2.7), ElementsAre(2, 2));
  EXPECT_THAT(error_of([&] { fill(300); }), HasSubstr("without overflow"));
}

TEST(Clamp, FloatBoundPromotesIntegers) {
  CallBuilder call("clamp");
  const auto results = call.tensor("self", integers({2}, {0, 5})).scalar("min", 0.5).none("max").run();
  EXPECT_EQ(results[0].type.dtype, DType::F32);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(0.5, 5));
}

TEST(Clamp, PropagatesNan) {
  CallBuilder call("clamp");
  call.tensor("self", floats({2}, {kNan, 500})).scalar("min", -100).scalar("max", 100);
  EXPECT_THAT(call.run_for<double>(), Pointwise(NanSensitiveDoubleEq(), {kNan, 100.0}));
}

TEST(NanToNum, UsesTheLimitsOfTheType) {
  CallBuilder call("nan_to_num");
  call.tensor("self", tensor_of<double>(DType::F16, {3}, {kNan, kInfinity, -kInfinity}));
  call.none("nan").none("posinf").scalar("neginf", -1.0);
  EXPECT_THAT(call.run_for<double>(), ElementsAre(0, 65504, -1));
}

TEST(Softplus, TurnsLinearAboveTheThreshold) {
  CallBuilder call("softplus");
  call.tensor("self", floats({3}, {-1, 0, 100})).scalar("beta", 0.5).scalar("threshold", 20);
  EXPECT_THAT(call.run_for<double>(),
              Pointwise(DoubleNear(1e-6), {2 * std::log1p(std::exp(-0.5)), 2 * std::log(2.0), 100.0}));
}

TEST(Gelu, BothForms) {
  const auto gelu = [](const char* form) {
    return CallBuilder("gelu").tensor("self", floats({2}, {-1, 2})).text("approximate", form).run_for<double>();
  };
  EXPECT_THAT(gelu("none"), Pointwise(DoubleNear(1e-6), {-0.15865525, 1.9544997}));
  EXPECT_THAT(gelu("tanh"), Pointwise(DoubleNear(1e-6), {-0.15880801, 1.9545977}));
  EXPECT_THAT(error_of([&] { gelu("other"); }), HasSubstr("none or tanh"));
}

TEST(Activations, RefuseIntegers) {
  for (const char* name : {"silu", "mish", "hardswish"}) {
    CallBuilder call(name);
    call.tensor("self", integers({1}, {1}));
    EXPECT_THAT(error_of([&] { call.lower(); }, ErrorKind::NotImplemented), HasSubstr("not implemented for 'Long'"));
  }
}

}  // namespace
}  // namespace opentrn::lowering::testing
