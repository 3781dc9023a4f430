#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "ir/builder.h"

namespace opentrn::ir {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Runtime);
    return error.what();
  }
  return "nothing was raised";
}

class BuilderElementwise : public testing::Test {
 protected:
  Value of(DType dtype, Dims shape = {2, 3}) { return builder.parameter({dtype, std::move(shape)}); }
  std::string type(Value value) { return to_string(builder.type(value)); }

  Builder builder;
};

// Which categories each primitive takes, as the StableHLO specification lists them: b bool, u unsigned, s signed, f
// float, c complex.
TEST_F(BuilderElementwise, ElementTypesAreThoseOfTheSpecification) {
  const std::vector<std::pair<std::string, std::vector<Op>>> expected{
      {"sfc", {Op::Abs, Op::Sign}},
      {"usfc", {Op::Negate, Op::Divide, Op::Power, Op::Subtract}},
      {"busfc", {Op::Add, Op::Multiply}},
      {"bus", {Op::And, Op::Or, Op::Xor, Op::Not}},
      {"us", {Op::PopulationCount, Op::ShiftLeft, Op::ShiftRightArithmetic, Op::ShiftRightLogical}},
      {"busf", {Op::Maximum, Op::Minimum}},
      {"usf", {Op::Remainder}},
      {"f",
       {Op::Ceil, Op::Floor, Op::RoundNearestAfz, Op::RoundNearestEven, Op::IsFinite, Op::Erf, Op::Erfc, Op::ErfInv,
        Op::Lgamma, Op::Digamma, Op::NextAfter}},
      {"fc",
       {Op::Acos,
        Op::Acosh,
        Op::Asin,
        Op::Asinh,
        Op::Atan,
        Op::Atanh,
        Op::Cbrt,
        Op::Cosh,
        Op::Cosine,
        Op::Exponential,
        Op::ExponentialMinusOne,
        Op::Imag,
        Op::Log,
        Op::LogPlusOne,
        Op::Logistic,
        Op::Real,
        Op::Rsqrt,
        Op::Sine,
        Op::Sinh,
        Op::Sqrt,
        Op::Tan,
        Op::Tanh,
        Op::Atan2}}};
  const std::vector<std::pair<char, DType>> types{
      {'b', DType::Bool}, {'u', DType::U16}, {'s', DType::I64}, {'f', DType::BF16}, {'c', DType::C64}};
  std::set<Op> seen;
  for (const auto& [accepted, ops] : expected) {
    for (const Op op : ops) {
      seen.insert(op);
      for (const auto& [letter, dtype] : types) {
        const Value x = of(dtype);
        const auto build = [&] { return info(op).operands == 1 ? builder.unary(op, x) : builder.binary(op, x, x); };
        if (accepted.find(letter) != std::string::npos) {
          EXPECT_NO_THROW(build()) << name(op) << " " << name(dtype);
        } else {
          const std::string message = message_of(build);
          EXPECT_TRUE(
              message.starts_with("[" + std::string(name(op)) + "] operand 0 has a wrong element type, got tensor<"))
              << message;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 53u);  // all but bitcast_convert, convert, compare, complex, clamp, select
}

TEST_F(BuilderElementwise, ResultTypes) {
  EXPECT_EQ(type(builder.abs(of(DType::C64))), "tensor<2x3xf32>");
  EXPECT_EQ(type(builder.abs(of(DType::I8))), "tensor<2x3xi8>");
  EXPECT_EQ(type(builder.real(of(DType::C128))), "tensor<2x3xf64>");
  EXPECT_EQ(type(builder.imag(of(DType::C32))), "tensor<2x3xf16>");
  EXPECT_EQ(type(builder.is_finite(of(DType::F16))), "tensor<2x3xi1>");
  EXPECT_EQ(type(builder.complex(of(DType::F64), of(DType::F64))), "tensor<2x3xcomplex<f64>>");
  EXPECT_EQ(type(builder.add(of(DType::F32, {}), of(DType::F32, {}))), "tensor<f32>");
  EXPECT_EQ(type(builder.convert(of(DType::Bool), DType::C64)), "tensor<2x3xcomplex<f32>>");
  EXPECT_EQ(type(builder.is_nan(of(DType::F32))), "tensor<2x3xi1>");
}

TEST_F(BuilderElementwise, OperandsMustHaveOneType) {
  const Value x = of(DType::F32, {3});
  EXPECT_EQ(message_of([&] { builder.add(x, of(DType::F32, {2})); }),
            "[stablehlo.add] operand 1 has another type than operand 0, got tensor<2xf32>, expected tensor<3xf32>, "
            "do: convert or broadcast it first");
  EXPECT_NE(message_of([&] { builder.multiply(x, of(DType::F64, {3})); }).find("got tensor<3xf64>"), std::string::npos);
  EXPECT_NE(message_of([&] { builder.compare(ComparisonDirection::LT, x, of(DType::F32, {})); }).find("operand 1"),
            std::string::npos);
}

TEST_F(BuilderElementwise, CompareGivesBools) {
  for (const DType dtype : {DType::Bool, DType::U8, DType::I32, DType::F8E4M3FN, DType::F64}) {
    EXPECT_EQ(type(builder.compare(ComparisonDirection::LE, of(dtype), of(dtype))), "tensor<2x3xi1>");
  }
  EXPECT_EQ(type(builder.compare(ComparisonDirection::NE, of(DType::C64), of(DType::C64))), "tensor<2x3xi1>");
  EXPECT_EQ(
      message_of([&] { builder.compare(ComparisonDirection::LT, of(DType::C64), of(DType::C64)); }),
      "[stablehlo.compare] complex numbers have no order, got tensor<2x3xcomplex<f32>>, expected direction EQ or NE");
}

TEST_F(BuilderElementwise, ComplexIsMadeOfThreeRealTypes) {
  EXPECT_NE(message_of([&] { builder.complex(of(DType::BF16), of(DType::BF16)); }).find("f16, f32 or f64"),
            std::string::npos);
}

TEST_F(BuilderElementwise, SelectTakesAScalarPredicate) {
  const Value x = of(DType::I64);
  EXPECT_EQ(type(builder.select(of(DType::Bool), x, x)), "tensor<2x3xi64>");
  EXPECT_EQ(type(builder.select(of(DType::Bool, {}), x, x)), "tensor<2x3xi64>");
  EXPECT_NE(message_of([&] { builder.select(of(DType::Bool, {3}), x, x); }).find("operand 0"), std::string::npos);
  EXPECT_NE(message_of([&] { builder.select(of(DType::I8), x, x); }).find("operand 0"), std::string::npos);
  EXPECT_NE(message_of([&] {
              builder.select(of(DType::Bool), x, of(DType::I32));
            }).find("operand 2 has another type than operand 1"),
            std::string::npos);
}

TEST_F(BuilderElementwise, ClampTakesScalarBounds) {
  const Value x = of(DType::F32);
  EXPECT_EQ(type(builder.clamp(of(DType::F32, {}), x, x)), "tensor<2x3xf32>");
  EXPECT_NE(message_of([&] { builder.clamp(of(DType::F32, {3}), x, x); }).find("operand 0"), std::string::npos);
  EXPECT_NE(message_of([&] { builder.clamp(x, x, of(DType::F64, {})); }).find("operand 2"), std::string::npos);
  const Value complex = of(DType::C64);
  EXPECT_NE(message_of([&] { builder.clamp(complex, complex, complex); }).find("operand 1"), std::string::npos);
}

TEST_F(BuilderElementwise, BitcastMovesWidthToTheLastDimension) {
  EXPECT_EQ(type(builder.bitcast_convert(of(DType::F32), DType::I32)), "tensor<2x3xi32>");
  EXPECT_EQ(type(builder.bitcast_convert(of(DType::F64), DType::U8)), "tensor<2x3x8xui8>");
  EXPECT_EQ(type(builder.bitcast_convert(of(DType::I16, {5, 2}), DType::F32)), "tensor<5xf32>");
  EXPECT_EQ(type(builder.bitcast_convert(of(DType::C128), DType::C64)), "tensor<2x3x2xcomplex<f32>>");
  EXPECT_NE(message_of([&] { builder.bitcast_convert(of(DType::U8), DType::F32); }).find("last dimension"),
            std::string::npos);
  EXPECT_NE(message_of([&] { builder.bitcast_convert(of(DType::U8, {}), DType::F32); }).find("last dimension"),
            std::string::npos);
  EXPECT_NE(message_of([&] { builder.bitcast_convert(of(DType::Bool), DType::I8); }).find("operand 0"),
            std::string::npos);
  EXPECT_NE(message_of([&] { builder.bitcast_convert(of(DType::I8), DType::Bool); }).find("result"), std::string::npos);
  EXPECT_NE(message_of([&] { builder.bitcast_convert(of(DType::C64), DType::F64); }).find("result"), std::string::npos);
}

TEST_F(BuilderElementwise, NothingIsBuiltForNothing) {
  const Value x = of(DType::F32);
  EXPECT_EQ(builder.convert(x, DType::F32), x);
  EXPECT_EQ(builder.bitcast_convert(x, DType::F32), x);
}

TEST_F(BuilderElementwise, WrongMethodsAndForeignValuesAreInternalErrors) {
  const Value x = of(DType::F32);
  const auto kind_of = [](const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Value;
  };
  EXPECT_EQ(kind_of([&] { builder.unary(Op::Convert, x); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.unary(Op::Add, x); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.binary(Op::Compare, x, x); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.unary(Op::Reshape, x); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.add(x, Value{99}); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.abs(Value{}); }), ErrorKind::Internal);
  EXPECT_EQ(kind_of([&] { builder.finish({Value{99}}); }), ErrorKind::Internal);
}

}  // namespace
}  // namespace opentrn::ir
