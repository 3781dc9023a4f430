// Matrices, signals, and the element-wise primitives that look at bits.
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using Complex = std::complex<double>;
using Values = std::vector<ir::Value>;

constexpr double kInf = std::numeric_limits<double>::infinity();

class Numeric : public Conformance {
 protected:
  static std::vector<Complex> numbers(int64_t count) {
    const std::vector<double> real = ramp(count), imaginary = ramp(count, 1, 0.5, 11);
    std::vector<Complex> result;
    for (size_t i = 0; i < real.size(); ++i) result.emplace_back(real[i], imaginary[i]);
    return result;
  }

  static void expect_close(const std::vector<Complex>& got, const std::vector<Complex>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_LE(std::abs(got[i] - expected[i]), tolerance) << "element " << i;
  }

  // Along the last dimension of lines of `size` elements.
  static std::vector<Complex> transform(const std::vector<Complex>& x, int64_t size, int sign) {
    std::vector<Complex> result(x.size());
    for (size_t line = 0; line < x.size(); line += static_cast<size_t>(size)) {
      for (int64_t k = 0; k < size; ++k) {
        for (int64_t i = 0; i < size; ++i) {
          const double angle =
              sign * 2 * std::numbers::pi * static_cast<double>(i * k % size) / static_cast<double>(size);
          result[line + static_cast<size_t>(k)] += x[line + static_cast<size_t>(i)] * std::polar(1.0, angle);
        }
      }
    }
    return result;
  }

  Tensor fft(const Tensor& x, ir::FftType type, const Dims& length) const {
    return evaluate({&x}, [&](ir::Builder& b, const Values& p) { return Values{b.fft(p[0], {type, length})}; });
  }
};

TEST_P(Numeric, TransformsOfEveryLength) {
  for (const int64_t size : {1, 2, 3, 4, 7, 12, 16, 17, 30}) {
    const std::vector<Complex> x = numbers(2 * size);
    Tensor operand(DType::C128, {2, size}, Arrangement::Strided);
    operand.fill(x);
    // A sum of `size` terms, each with a twiddle factor and a product rounded: every one of these roundings costs at
    // most half a spacing of the largest partial sum. There and back again, hence twice.
    double magnitude = 0;
    for (const Complex& value : x) magnitude += std::abs(value);
    const double tolerance = 2 * static_cast<double>(size + 2) * 0x1p-53 * magnitude;
    const Tensor forward = fft(operand, ir::FftType::Fft, {size});
    expect_close(forward.values<Complex>(), transform(x, size, -1), tolerance);
    expect_close(fft(forward, ir::FftType::Ifft, {size}).values<Complex>(), x, tolerance);
  }
}

TEST_P(Numeric, TransformsOfTwoDimensions) {
  const std::vector<Complex> x = numbers(3 * 4 * 5);
  Tensor operand(DType::C64, {3, 4, 5});
  operand.fill(x);
  std::vector<Complex> expected;
  for (size_t matrix = 0; matrix < 3; ++matrix) {
    const std::vector<Complex> rows = transform({x.begin() + static_cast<std::ptrdiff_t>(20 * matrix),
                                                 x.begin() + static_cast<std::ptrdiff_t>(20 * matrix + 20)},
                                                5, -1);
    std::vector<Complex> columns(20), back(20);
    for (size_t i = 0; i < 20; ++i) columns[i % 5 * 4 + i / 5] = rows[i];
    columns = transform(columns, 4, -1);
    for (size_t i = 0; i < 20; ++i) back[i] = columns[i % 5 * 4 + i / 5];
    expected.insert(expected.end(), back.begin(), back.end());
  }
  expect_close(fft(operand, ir::FftType::Fft, {4, 5}).values<Complex>(), expected, 1e-4);
}

TEST_P(Numeric, TransformsOfRealNumbers) {
  for (const int64_t size : {1, 2, 5, 8, 9}) {
    Tensor operand(DType::F64, {2, 3, size});
    operand.fill(ramp(6 * size));
    const std::vector<double> x = operand.values<double>();
    const Tensor half = fft(operand, ir::FftType::Rfft, {size});
    ASSERT_EQ(half.shape(), (Dims{2, 3, size / 2 + 1}));
    const std::vector<Complex> whole = transform({x.begin(), x.end()}, size, -1);
    std::vector<Complex> expected;
    for (int64_t i = 0; i < 6 * size; ++i) {
      if (i % size <= size / 2) expected.push_back(whole[static_cast<size_t>(i)]);
    }
    expect_close(half.values<Complex>(), expected, 1e-12);
    const Tensor back = fft(half, ir::FftType::Irfft, {size});
    expect_close(back.values<Complex>(), {x.begin(), x.end()}, 1e-12);
    const Tensor two = fft(operand, ir::FftType::Rfft, {3, size});
    expect_close(fft(two, ir::FftType::Irfft, {3, size}).values<Complex>(), {x.begin(), x.end()}, 1e-12);
  }
}

TEST_P(Numeric, CholeskyGivesBackTheMatrix) {
  const int64_t n = 4;
  for (const bool lower : {true, false}) {
    std::vector<Complex> factor(16), product(16), given(16);
    const std::vector<Complex> data = numbers(16);
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j <= i; ++j)
        factor[i * 4 + j] = i == j ? Complex(2.0 + static_cast<double>(i), 0) : data[i * 4 + j];
    }
    for (size_t i = 0; i < 16; ++i) {
      for (size_t k = 0; k < 4; ++k) product[i] += factor[i / 4 * 4 + k] * std::conj(factor[i % 4 * 4 + k]);
      const bool read = lower ? i % 4 <= i / 4 : i % 4 >= i / 4;
      given[i] = read ? product[i] : Complex(99, 99);  // the other triangle is not looked at
    }
    Tensor a(DType::C128, {n, n}, Arrangement::ColumnMajor);
    a.fill(given);
    const Tensor result =
        evaluate({&a}, [&](ir::Builder& b, const Values& p) { return Values{b.cholesky(p[0], lower)}; });
    std::vector<Complex> expected = factor;
    for (size_t i = 0; i < 16 && !lower; ++i) expected[i] = std::conj(factor[i % 4 * 4 + i / 4]);
    expect_close(result.values<Complex>(), expected, 1e-12);
  }
}

TEST_P(Numeric, CholeskyOfWhatHasNone) {
  Tensor a(DType::F32, {2, 2});
  a.fill(std::vector<double>{1, 2, 2, 1});
  const Tensor result = evaluate({&a}, [](ir::Builder& b, const Values& p) { return Values{b.cholesky(p[0], true)}; });
  EXPECT_TRUE(std::isnan(result.values<double>()[3]));
}

TEST_P(Numeric, TriangularSystems) {
  using ir::TransposeA;
  constexpr size_t kN = 3;
  const std::vector<Complex> data = numbers(9);
  for (const bool left : {true, false}) {
    for (const bool lower : {true, false}) {
      for (const bool unit : {true, false}) {
        for (const TransposeA transpose : {TransposeA::NoTranspose, TransposeA::Transpose, TransposeA::Adjoint}) {
          // What op(a) stands for, and x, of which b is the product.
          std::vector<Complex> op(9), x = numbers(6), b(6);
          for (size_t i = 0; i < 9; ++i) {
            const size_t row = i / 3, column = i % 3;
            Complex entry = data[i];
            if (row == column && unit) entry = 1;
            if (lower ? column > row : column < row) entry = 0;
            if (transpose == TransposeA::Adjoint) entry = std::conj(entry);
            op[transpose == TransposeA::NoTranspose ? i : column * 3 + row] = entry;
          }
          const size_t rows = left ? kN : 2, columns = left ? 2 : kN;
          for (size_t i = 0; i < 6; ++i) {
            for (size_t k = 0; k < kN; ++k) {
              b[i] += left ? op[i / columns * 3 + k] * x[k * columns + i % columns]
                           : x[i / columns * 3 + k] * op[k * 3 + i % columns];
            }
          }
          Tensor matrix(DType::C128, {1, 3, 3}, Arrangement::Strided);
          Tensor right(DType::C128, {1, static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
          matrix.fill(data);
          right.fill(b);
          const Tensor result = evaluate({&matrix, &right}, [&](ir::Builder& builder, const Values& p) {
            return Values{builder.triangular_solve(p[0], p[1], {left, lower, unit, transpose})};
          });
          expect_close(result.values<Complex>(), x, 1e-9);
        }
      }
    }
  }
}

TEST_P(Numeric, ReducePrecisionRoundsToNearestEven) {
  const auto reduced = [&](DType dtype, const std::vector<double>& values, ir::ReducePrecisionAttributes attributes) {
    Tensor x(dtype, {static_cast<int64_t>(values.size())}, Arrangement::Strided);
    x.fill(values);
    return evaluate({&x}, [&](ir::Builder& b, const Values& p) { return Values{b.reduce_precision(p[0], attributes)}; })
        .values<double>();
  };
  // As a float16: 11 significant bits, the largest number 65504, the smallest normal one 2^-14.
  const std::vector<double> x{1 + 0x1p-11, 1 + 0x1.8p-10, -(1 + 0x1p-12), 65504,    65520,
                              -1e9,        0x1p-14,       0x1p-15,        -0x1p-20, kInf};
  const std::vector<double> expected{1, 1 + 0x1p-9, -1, 65504, kInf, -kInf, 0x1p-14, 0, 0, kInf};
  EXPECT_EQ(reduced(DType::F32, x, {5, 10}), expected);
  EXPECT_EQ(reduced(DType::F64, x, {5, 10}), expected);
  EXPECT_EQ(reduced(DType::F32, {0.1, 1e30, -3}, {11, 52}),
            (std::vector<double>{0.1f, static_cast<double>(1e30f), -3}));
  EXPECT_TRUE(std::isnan(reduced(DType::BF16, {std::nan("")}, {5, 2})[0]));
  EXPECT_EQ(reduced(DType::BF16, {std::nan("")}, {5, 0}), std::vector<double>{kInf});  // such a format has no NaN
}

TEST_P(Numeric, CountLeadingZeros) {
  for (const DType dtype : kIntegers) {
    Tensor x(dtype, {4}, Arrangement::Strided);
    x.fill(std::vector<double>{0, 1, 5, 127});
    const Tensor result = evaluate(
        {&x}, [](ir::Builder& b, const Values& p) { return Values{b.unary(ir::Op::CountLeadingZeros, p[0])}; });
    const int bits = static_cast<int>(8 * size_of(dtype));
    EXPECT_EQ(result.values<int>(), (std::vector<int>{bits, bits - 1, bits - 3, bits - 7})) << name(dtype);
  }
}

// e^-x I_1(x) from its integral over half a circle, by a rule that is exact for smooth periodic functions.
TEST_P(Numeric, BesselI1e) {
  const std::vector<double> points{0, 0.001, -0.5, 1, 3, 7.5, -20, 39, 41, 100, 700, -1e6};
  std::vector<double> expected;
  for (const double x : points) {
    constexpr int kSteps = 1 << 16;
    long double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
      const long double angle = 2 * std::numbers::pi_v<long double> * i / kSteps;
      sum += std::exp(std::fabs(static_cast<long double>(x)) * (std::cos(angle) - 1)) * std::cos(angle);
    }
    expected.push_back(std::copysign(static_cast<double>(sum / kSteps), x));
  }
  expected[0] = 0;
  for (const DType dtype : {DType::F64, DType::F32}) {
    Tensor x(dtype, {static_cast<int64_t>(points.size())});
    x.fill(points);
    const Tensor result =
        evaluate({&x}, [](ir::Builder& b, const Values& p) { return Values{b.unary(ir::Op::BesselI1e, p[0])}; });
    const std::vector<double> got = result.values<double>();
    for (size_t i = 0; i < got.size(); ++i) {
      // The integral's own sum cancels for small numbers.
      EXPECT_NEAR(got[i], expected[i], 4 * epsilon(dtype) * std::abs(expected[i]) + 1e-18) << points[i];
    }
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Numeric);

}  // namespace opentrn::conformance
