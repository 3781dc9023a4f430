// Element-wise primitives on complex numbers, against std::complex in double.
#include <cmath>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;
using Complex = std::complex<double>;

const std::vector<Complex> kNumbers{{1, 2}, {-0.5, 0.25}, {3, -1}, {0.5, 0}, {-2, -1.5}, {0, 1}, {1.25, -0.5}};

struct UnaryCase {
  Op op;
  Complex (*expected)(const Complex&);
};

const UnaryCase kUnaryCases[] = {
    {Op::Cosine, std::cos<double>},
    {Op::Exponential, std::exp<double>},
    {Op::ExponentialMinusOne, [](const Complex& x) { return std::exp(x) - 1.0; }},
    {Op::Log, std::log<double>},
    {Op::LogPlusOne, [](const Complex& x) { return std::log(x + 1.0); }},
    {Op::Logistic, [](const Complex& x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {Op::Negate, [](const Complex& x) { return -x; }},
    {Op::Rsqrt, [](const Complex& x) { return 1.0 / std::sqrt(x); }},
    {Op::Sign, [](const Complex& x) { return x / std::abs(x); }},
    {Op::Sine, std::sin<double>},
    {Op::Sqrt, std::sqrt<double>},
    {Op::Tan, std::tan<double>},
    {Op::Tanh, std::tanh<double>},
};

void expect_close(const Tensor& result, const std::vector<Complex>& expected, const std::string& what) {
  const std::vector<Complex> values = result.values<Complex>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(values[i] - expected[i]), 4 * epsilon(result.dtype()) * (std::abs(expected[i]) + 0.1))
        << what << " " << i;
  }
}

class ElementwiseComplex : public Conformance {
 protected:
  static Tensor numbers(DType dtype, Arrangement arrangement = Arrangement::RowMajor) {
    Tensor tensor(dtype, {static_cast<int64_t>(kNumbers.size())}, arrangement);
    tensor.fill(kNumbers);
    return tensor;
  }
  Tensor unary(Op op, const Tensor& x) const {
    return evaluate({&x},
                    [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.unary(op, p[0])}; });
  }
};

TEST_P(ElementwiseComplex, Unary) {
  for (const UnaryCase& test : kUnaryCases) {
    for (const DType dtype : {DType::C64, DType::C128, DType::C32}) {
      for (const Arrangement arrangement : {Arrangement::RowMajor, Arrangement::Strided}) {
        std::vector<Complex> expected;
        for (const Complex& x : kNumbers) expected.push_back(test.expected(x));
        expect_close(unary(test.op, numbers(dtype, arrangement)), expected,
                     concat(ir::name(test.op), " ", name(dtype)));
      }
    }
  }
}

TEST_P(ElementwiseComplex, Binary) {
  const std::pair<Op, Complex (*)(Complex, Complex)> cases[] = {
      {Op::Add, [](Complex x, Complex y) { return x + y; }},
      {Op::Subtract, [](Complex x, Complex y) { return x - y; }},
      {Op::Multiply, [](Complex x, Complex y) { return x * y; }},
      {Op::Divide, [](Complex x, Complex y) { return x / y; }},
      {Op::Power, [](Complex x, Complex y) { return std::pow(x, y); }},
  };
  for (const auto& [op, function] : cases) {
    for (const DType dtype : {DType::C64, DType::C128, DType::C32}) {
      std::vector<Complex> expected;
      for (size_t i = 0; i < kNumbers.size(); ++i)
        expected.push_back(function(kNumbers[i], kNumbers[kNumbers.size() - 1 - i]));
      const Tensor x = numbers(dtype);
      const Tensor result = evaluate({&x}, [op = op](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.binary(op, p[0], b.reverse(p[0], {0}))};
      });
      expect_close(result, expected, concat(ir::name(op), " ", name(dtype)));
    }
  }
}

TEST_P(ElementwiseComplex, PartsAndBack) {
  for (const DType dtype : {DType::C64, DType::C128, DType::C32}) {
    for (const Arrangement arrangement : kResultArrangements) {
      const Tensor x = numbers(dtype, arrangement);
      Tensor real(real_dtype(dtype), x.shape(), arrangement), imag(real_dtype(dtype), x.shape()),
          swapped(dtype, x.shape(), arrangement);
      run({{&x}, {&real, &imag, &swapped}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
        const ir::Value re = b.real(p[0]);
        const ir::Value im = b.imag(p[0]);
        return std::vector{re, im, b.complex(im, re)};
      });
      for (size_t i = 0; i < kNumbers.size(); ++i) {
        EXPECT_EQ(real.values<double>()[i], kNumbers[i].real());
        EXPECT_EQ(imag.values<double>()[i], kNumbers[i].imag());
        EXPECT_EQ(swapped.values<Complex>()[i], Complex(kNumbers[i].imag(), kNumbers[i].real()));
      }
    }
  }
}

TEST_P(ElementwiseComplex, AbsIsReal) {
  for (const DType dtype : {DType::C64, DType::C128, DType::C32}) {
    const Tensor result = unary(Op::Abs, numbers(dtype));
    EXPECT_EQ(result.dtype(), real_dtype(dtype));
    for (size_t i = 0; i < kNumbers.size(); ++i) {
      EXPECT_NEAR(result.values<double>()[i], std::abs(kNumbers[i]), epsilon(dtype) * std::abs(kNumbers[i]));
    }
  }
}

TEST_P(ElementwiseComplex, EqualityOnly) {
  Tensor x(DType::C64, {3}), y(DType::C64, {3});
  x.fill(std::vector<Complex>{{1, 2}, {1, 2}, {0, 0}});
  y.fill(std::vector<Complex>{{1, 2}, {1, 3}, {0, -0.0}});
  Tensor equal(DType::Bool, {3}), different(DType::Bool, {3});
  run({{&x, &y}, {&equal, &different}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.compare(ir::ComparisonDirection::EQ, p[0], p[1]),
                       b.compare(ir::ComparisonDirection::NE, p[0], p[1])};
  });
  EXPECT_EQ(equal.values<int>(), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(different.values<int>(), (std::vector<int>{0, 1, 0}));
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(ElementwiseComplex);

}  // namespace opentrn::conformance
