// Element-wise primitives on floats, against double arithmetic.
#include <cmath>
#include <limits>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }
double absolute(double x) { return std::fabs(x); }
double negate(double x) { return -x; }

struct UnaryCase {
  Op op;
  double (*expected)(double);
  double low, high;  // the range the numbers are taken from
  double tolerance;  // in spacings of the type
};

// 0.51: correctly rounded, but for what the double function itself is off. Rsqrt rounds twice.
const UnaryCase kUnaryCases[] = {
    {Op::Abs, absolute, -3, 3, 0},
    {Op::Acos, std::acos, -1, 1, 0.51},
    {Op::Acosh, std::acosh, 1, 9, 0.51},
    {Op::Asin, std::asin, -1, 1, 0.51},
    {Op::Asinh, std::asinh, -9, 9, 0.51},
    {Op::Atan, std::atan, -9, 9, 0.51},
    {Op::Atanh, std::atanh, -0.99, 0.99, 0.51},
    {Op::Cbrt, std::cbrt, -9, 9, 0.51},
    {Op::Ceil, std::ceil, -4, 4, 0},
    {Op::Cosh, std::cosh, -5, 5, 0.51},
    {Op::Cosine, std::cos, -20, 20, 0.51},
    {Op::Erf, std::erf, -5, 5, 0.51},
    {Op::Erfc, std::erfc, -3, 5, 0.51},
    {Op::Exponential, std::exp, -9, 9, 0.51},
    {Op::ExponentialMinusOne, std::expm1, -2, 2, 0.51},
    {Op::Floor, std::floor, -4, 4, 0},
    {Op::Lgamma, std::lgamma, 0.1, 20, 0.51},
    {Op::Log, std::log, 0.001, 50, 0.51},
    {Op::LogPlusOne, std::log1p, -0.9, 3, 0.51},
    {Op::Logistic, logistic, -30, 30, 0.51},
    {Op::Negate, negate, -3, 3, 0},
    {Op::RoundNearestAfz, std::round, -4, 4, 0},
    {Op::RoundNearestEven, std::nearbyint, -4, 4, 0},
    {Op::Rsqrt, rsqrt, 0.01, 50, 1.5},
    {Op::Sign, sign, -1, 1, 0},
    {Op::Sine, std::sin, -20, 20, 0.51},
    {Op::Sinh, std::sinh, -5, 5, 0.51},
    {Op::Sqrt, std::sqrt, 0, 50, 0.51},
    {Op::Tan, std::tan, -1.5, 1.5, 0.51},
    {Op::Tanh, std::tanh, -5, 5, 0.51},
};

std::vector<double> spread(int64_t count, double low, double high) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1));
  return values;
}

std::vector<double> mapped(const std::vector<double>& values, double (*function)(double)) {
  std::vector<double> result;
  for (const double value : values) result.push_back(function(value));
  return result;
}

class ElementwiseFloat : public Conformance {
 protected:
  // The double result has its own error, which only shows when the result is a double too.
  static double tolerance(const UnaryCase& test, DType dtype) { return dtype == DType::F64 ? 8 : test.tolerance; }

  Tensor unary(Op op, const Tensor& x) const {
    return evaluate({&x},
                    [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.unary(op, p[0])}; });
  }
  Tensor binary(Op op, const Tensor& x, const Tensor& y) const {
    return evaluate({&x, &y}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.binary(op, p[0], p[1])};
    });
  }
};

TEST_P(ElementwiseFloat, UnaryRoundsCorrectly) {
  for (const UnaryCase& test : kUnaryCases) {
    for (const DType dtype : kFloats) {
      Tensor x(dtype, {301});
      x.fill(spread(301, test.low, test.high));
      expect_near(unary(test.op, x), mapped(x.values<double>(), test.expected), tolerance(test, dtype),
                  concat(ir::name(test.op), " ", name(dtype)));
    }
  }
}

TEST_P(ElementwiseFloat, UnaryOnEveryLayout) {
  for (const Op op : {Op::Exponential, Op::Negate, Op::Atan}) {
    for (const DType dtype : kFloats) {
      for (const Arrangement in :
           {Arrangement::RowMajor, Arrangement::ColumnMajor, Arrangement::Strided, Arrangement::Offset}) {
        for (const Arrangement out : kResultArrangements) {
          for (const Dims& shape :
               {Dims{}, Dims{7}, Dims{3, 5}, Dims{2, 3, 4}, Dims{2, 1, 3, 2}, Dims{2, 2, 3, 1, 2}, Dims{3, 0, 2}}) {
            Tensor x(dtype, shape, in);
            x.fill(ramp(x.elements()));
            Tensor result(dtype, shape, out);
            run({{&x}, {&result}, {}},
                [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.unary(op, p[0])}; });
            double (*const functions[])(double) = {std::exp, negate, std::atan};
            const auto function = functions[op == Op::Exponential ? 0 : op == Op::Negate ? 1 : 2];
            expect_near(result, mapped(x.values<double>(), function), dtype == DType::F64 ? 4 : 0.51,
                        concat(ir::name(op), " ", name(dtype), " ", to_string(in), " to ", to_string(out),
                               opentrn::to_string(shape)));
          }
        }
      }
    }
  }
}

TEST_P(ElementwiseFloat, UnarySpecialValues) {
  const std::vector<double> special{0.0, -0.0, kInf, -kInf, kNaN, 1e-40, -1e-40, 3e38, -3e38};
  for (const UnaryCase& test : kUnaryCases) {
    for (const DType dtype : {DType::F32, DType::F64}) {
      Tensor x(dtype, {9});
      x.fill(special);
      std::vector<double> expected = mapped(x.values<double>(), test.expected);
      for (double& value : expected)
        value = dtype == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
      const Tensor result = unary(test.op, x);
      expect_near(result, expected, tolerance(test, dtype) + 0.5, concat(ir::name(test.op), " special ", name(dtype)));
      for (size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == 0) {
          EXPECT_EQ(std::signbit(result.values<double>()[i]), std::signbit(expected[i]))
              << ir::name(test.op) << " of " << special[i];
        }
      }
    }
  }
}

TEST_P(ElementwiseFloat, IsFinite) {
  for (const DType dtype : kFloats) {
    Tensor x(dtype, {5});
    x.fill(std::vector<double>{0, 1, kInf, -kInf, kNaN});
    EXPECT_EQ(unary(Op::IsFinite, x).values<int>(), (std::vector<int>{1, 1, 0, 0, 0})) << name(dtype);
  }
}

TEST_P(ElementwiseFloat, SpecialFunctions) {
  Tensor x(DType::F64, {4});
  x.fill(std::vector<double>{1, 0.5, 10.25, -1.5});
  // Values of the digamma function from its closed forms and recurrence: -gamma, -gamma - 2 log 2, ...
  const double gamma = 0.57721566490153286061;
  const std::vector<double> digamma{-gamma, -gamma - 2 * std::log(2.0), 2.2777047906867187, 0.70315664064524318723};
  expect_near(unary(Op::Digamma, x), digamma, 40, "digamma");

  for (const DType dtype : {DType::F32, DType::F64}) {
    Tensor p(dtype, {9});
    p.fill(std::vector<double>{0, 0.5, -0.5, 0.999, -0.9999, 1e-9, 1, -1, 1.5});
    const std::vector<double> inverse = unary(Op::ErfInv, p).values<double>();
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(std::erf(inverse[i]), p.values<double>()[i], epsilon(dtype)) << i;
    EXPECT_EQ(inverse[6], kInf);
    EXPECT_EQ(inverse[7], -kInf);
    EXPECT_TRUE(std::isnan(inverse[8]));
  }
}

struct BinaryCase {
  Op op;
  double (*expected)(double, double);
  double tolerance;
};

double add(double x, double y) { return x + y; }
double subtract(double x, double y) { return x - y; }
double multiply(double x, double y) { return x * y; }
double divide(double x, double y) { return x / y; }
double maximum(double x, double y) { return std::isnan(x) || std::isnan(y) ? kNaN : std::max(x, y); }
double minimum(double x, double y) { return std::isnan(x) || std::isnan(y) ? kNaN : std::min(x, y); }

const BinaryCase kBinaryCases[] = {
    {Op::Add, add, 0.5},           {Op::Subtract, subtract, 0.5}, {Op::Multiply, multiply, 0.5},
    {Op::Divide, divide, 0.51},    {Op::Maximum, maximum, 0},     {Op::Minimum, minimum, 0},
    {Op::Remainder, std::fmod, 0}, {Op::Atan2, std::atan2, 0.51}, {Op::Power, std::pow, 1},
};

TEST_P(ElementwiseFloat, BinaryOnEveryLayout) {
  const std::vector<double> numbers{-2.5, 3, 0.75, -1, 4, 1.5, -0.25, 2, 5, -3, 0.5, 1};
  std::vector<double> others = numbers;
  std::rotate(others.begin(), others.begin() + 5, others.end());
  for (const BinaryCase& test : kBinaryCases) {
    for (const DType dtype : kFloats) {
      for (const Arrangement left : kResultArrangements) {
        for (const Arrangement right : kResultArrangements) {
          for (const Arrangement out : kResultArrangements) {
            Tensor x(dtype, {3, 4}, left);
            Tensor y(dtype, {3, 4}, right);
            Tensor result(dtype, {3, 4}, out);
            x.fill(numbers);
            y.fill(others);
            run({{&x, &y}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
              return std::vector{b.binary(test.op, p[0], p[1])};
            });
            std::vector<double> expected;
            for (size_t i = 0; i < numbers.size(); ++i) expected.push_back(test.expected(numbers[i], others[i]));
            expect_near(result, expected, dtype == DType::F64 ? 4 : test.tolerance,
                        concat(ir::name(test.op), " ", name(dtype), " ", to_string(left), ", ", to_string(right)));
          }
        }
      }
    }
  }
}

TEST_P(ElementwiseFloat, BinarySpecialValues) {
  const std::vector<double> special{0.0, -0.0, 1, -1, kInf, -kInf, kNaN};
  std::vector<double> left, right;
  for (const double x : special) {
    for (const double y : special) {
      left.push_back(x);
      right.push_back(y);
    }
  }
  const auto count = static_cast<int64_t>(left.size());
  for (const BinaryCase& test : kBinaryCases) {
    for (const DType dtype : kFloats) {
      Tensor x(dtype, {count});
      Tensor y(dtype, {count});
      x.fill(left);
      y.fill(right);
      std::vector<double> expected;
      for (size_t i = 0; i < left.size(); ++i) expected.push_back(test.expected(left[i], right[i]));
      expect_near(binary(test.op, x, y), expected, 0.51, concat(ir::name(test.op), " special ", name(dtype)));
    }
  }
}

TEST_P(ElementwiseFloat, BroadcastOperands) {
  for (const DType dtype : kFloats) {
    for (const bool scalar_left : {false, true}) {
      Tensor x(dtype, {700});
      Tensor y(dtype, {});
      x.fill(ramp(700));
      y.fill(std::vector<double>{1.5});
      const Tensor result = evaluate({&x, &y}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
        const ir::Value splat = b.broadcast_to(p[1], {700});
        return std::vector{scalar_left ? b.subtract(splat, p[0]) : b.subtract(p[0], splat)};
      });
      std::vector<double> expected;
      for (const double value : x.values<double>()) expected.push_back(scalar_left ? 1.5 - value : value - 1.5);
      expect_near(result, expected, 0.5, concat("subtract ", name(dtype)));
    }
  }
}

TEST_P(ElementwiseFloat, PowerByOneExponent) {
  const double exponents[] = {2, 3, 0.5, -0.5, -1, 1, 0, 2.5};
  for (const DType dtype : kFloats) {
    for (const double exponent : exponents) {
      Tensor x(dtype, {40});
      Tensor y(dtype, {});
      x.fill(spread(40, 0.25, 6));
      y.fill(std::vector<double>{exponent});
      const Tensor result = evaluate({&x, &y}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.power(p[0], b.broadcast_to(p[1], {40}))};
      });
      std::vector<double> expected;
      for (const double value : x.values<double>()) expected.push_back(std::pow(value, exponent));
      expect_near(result, expected, 1.5, concat("power ", exponent, " ", name(dtype)));
    }
  }
}

TEST_P(ElementwiseFloat, NextAfterCountsInTheStoredType) {
  const DType dtypes[] = {DType::F32, DType::F64, DType::BF16, DType::F16};
  for (const DType dtype : dtypes) {
    Tensor x(dtype, {4});
    Tensor y(dtype, {4});
    x.fill(std::vector<double>{1, 1, -1, 2});
    y.fill(std::vector<double>{2, 0, -2, 2});
    const double e = epsilon(dtype);
    expect_near(binary(Op::NextAfter, x, y), {1 + e, 1 - e / 2, -1 - e, 2}, 0, concat("next_after ", name(dtype)));
  }
}

TEST_P(ElementwiseFloat, EightBitFloats) {
  for (const DType dtype : {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ}) {
    Tensor x(dtype, {5});
    Tensor y(dtype, {5});
    x.fill(std::vector<double>{1, 2, -1.5, 0.5, 3});
    y.fill(std::vector<double>{0.5, 2, 1, -0.5, 4});
    expect_near(binary(Op::Add, x, y), {1.5, 4, -0.5, 0, 7}, 0, concat("add ", name(dtype)));
    expect_near(unary(Op::Negate, x), {-1, -2, 1.5, -0.5, -3}, 0, concat("negate ", name(dtype)));
  }
}

TEST_P(ElementwiseFloat, LargeTensorsUseEveryElementOnce) {
  const int64_t count = 200'003;
  for (const DType dtype : {DType::F32, DType::BF16}) {
    Tensor x(dtype, {count});
    x.fill(ramp(count, 0, 1, 101));
    const Tensor result =
        evaluate({&x}, [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.add(p[0], p[0])}; });
    std::vector<double> expected = x.values<double>();
    for (double& value : expected) value *= 2;
    EXPECT_EQ(result.values<double>(), expected);
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(ElementwiseFloat);

}  // namespace opentrn::conformance
