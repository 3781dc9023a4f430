// Operations of the arithmetic units, for every instruction set, against plain C++.
#include <gtest/gtest.h>

#include <functional>

#include "base/complex_functions.h"
#include "base/error.h"
#include "tests/cpp/neuroncore/kernels_test_support.h"

namespace opentrn::neuroncore::emulator {
namespace {

class KernelsAlu : public Kernels {};
OPENTRN_FOR_EVERY_INSTRUCTION_SET(KernelsAlu);

template <typename T>
constexpr bool kReal = std::is_floating_point_v<T>;
template <typename T>
constexpr bool kInteger = std::is_integral_v<T>;
template <typename T>
constexpr bool kComplex = !kReal<T> && !kInteger<T>;

template <typename T>
auto unsigned_of(T x) {
  return static_cast<std::make_unsigned_t<T>>(x);
}

template <typename T>
T plain_max(T x, T y) {
  if (x != x) return x;
  if (y != y) return y;
  return x > y ? x : y;
}
template <typename T>
T plain_min(T x, T y) {
  if (x != x) return x;
  if (y != y) return y;
  return x < y ? x : y;
}
template <typename T>
T plain_abs(T x) {
  if constexpr (kInteger<T>)
    return x < 0 ? static_cast<T>(0 - unsigned_of(x)) : x;
  else
    return std::abs(x);
}

// What one element of an operation is; false where it is not defined for the type.
template <typename T>
bool plain_arithmetic(AluOp op, T x, T y, T& out) {
  const auto flag = [&](bool value) {
    out = value ? T(1) : T(0);
    return true;
  };
  switch (op) {
    case AluOp::Bypass: out = x; return true;
    case AluOp::IsEqual: return flag(x == y);
    case AluOp::NotEqual: return flag(x != y);
    case AluOp::LogicalAnd: return flag(x != T(0) && y != T(0));
    case AluOp::LogicalOr: return flag(x != T(0) || y != T(0));
    case AluOp::LogicalXor: return flag((x != T(0)) != (y != T(0)));
    default: break;
  }
  if constexpr (kInteger<T>) {
    switch (op) {
      case AluOp::Add: out = static_cast<T>(unsigned_of(x) + unsigned_of(y)); return true;
      case AluOp::Subtract: out = static_cast<T>(unsigned_of(x) - unsigned_of(y)); return true;
      case AluOp::Multiply: out = static_cast<T>(unsigned_of(x) * unsigned_of(y)); return true;
      default: break;
    }
  } else {
    switch (op) {
      case AluOp::Add: out = x + y; return true;
      case AluOp::Subtract: out = x - y; return true;
      case AluOp::Multiply:
        if constexpr (kComplex<T>)
          out = textbook_product(x, y);
        else
          out = x * y;
        return true;
      case AluOp::Divide: out = x / y; return true;
      default: break;
    }
  }
  if constexpr (!kComplex<T>) {
    switch (op) {
      case AluOp::Max: out = plain_max(x, y); return true;
      case AluOp::Min: out = plain_min(x, y); return true;
      case AluOp::AbsMax: out = plain_max(plain_abs(x), plain_abs(y)); return true;
      case AluOp::AbsMin: out = plain_min(plain_abs(x), plain_abs(y)); return true;
      case AluOp::GreaterEqual: return flag(x >= y);
      case AluOp::GreaterThan: return flag(x > y);
      case AluOp::LessEqual: return flag(x <= y);
      case AluOp::LessThan: return flag(x < y);
      default: break;
    }
  }
  return false;
}

template <typename T>
T plain_power(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    if (base == 1) return 1;
    if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T(1) : static_cast<T>(-1);
    return 0;
  }
  auto rest = unsigned_of(exponent);
  auto result = unsigned_of(T(1)), factor = unsigned_of(base);
  for (; rest != 0; rest /= 2, factor *= factor) {
    if (rest % 2 != 0) result *= factor;
  }
  return static_cast<T>(result);
}

template <typename T>
bool plain_bits(AluOp op, T x, T y, T& out) {
  const auto width = static_cast<std::make_unsigned_t<T>>(sizeof(T) * 8);
  const bool out_of_range = unsigned_of(y) >= width;
  const auto shifted = static_cast<std::make_signed_t<T>>(x);
  switch (op) {
    case AluOp::BitwiseAnd: out = x & y; return true;
    case AluOp::BitwiseOr: out = x | y; return true;
    case AluOp::BitwiseXor: out = x ^ y; return true;
    case AluOp::ShiftLeft: out = out_of_range ? T(0) : static_cast<T>(unsigned_of(x) << y); return true;
    case AluOp::LogicalShiftRight: out = out_of_range ? T(0) : static_cast<T>(unsigned_of(x) >> y); return true;
    case AluOp::ArithmeticShiftRight:
      out = static_cast<T>(out_of_range ? (shifted < 0 ? -1 : 0) : shifted >> y);
      return true;
    case AluOp::Power: out = plain_power(x, y); return true;
    default: return false;
  }
}

template <typename T>
bool plain_custom(AluOp op, T x, T y, T& out) {
  switch (op) {
    case AluOp::Remainder: out = std::fmod(x, y); return true;
    case AluOp::Atan2: out = static_cast<T>(std::atan2(static_cast<double>(x), static_cast<double>(y))); return true;
    case AluOp::NextAfter: out = std::nextafter(x, y); return true;
    default: return false;
  }
}

template <typename T>
bool plain_binary(AluOp op, T x, T y, T& out) {
  if (plain_arithmetic(op, x, y, out)) return true;
  if constexpr (kInteger<T>) return plain_bits(op, x, y, out);
  if constexpr (kReal<T>) return plain_custom(op, x, y, out);
  return false;
}

constexpr AluOp kBinary[] = {AluOp::Bypass,
                             AluOp::Add,
                             AluOp::Subtract,
                             AluOp::Multiply,
                             AluOp::Max,
                             AluOp::Min,
                             AluOp::IsEqual,
                             AluOp::NotEqual,
                             AluOp::GreaterEqual,
                             AluOp::GreaterThan,
                             AluOp::LessEqual,
                             AluOp::LessThan,
                             AluOp::LogicalAnd,
                             AluOp::LogicalOr,
                             AluOp::LogicalXor,
                             AluOp::AbsMax,
                             AluOp::AbsMin,
                             AluOp::BitwiseAnd,
                             AluOp::BitwiseOr,
                             AluOp::BitwiseXor,
                             AluOp::ShiftLeft,
                             AluOp::LogicalShiftRight,
                             AluOp::ArithmeticShiftRight,
                             AluOp::Divide,
                             AluOp::Remainder,
                             AluOp::Atan2,
                             AluOp::NextAfter,
                             AluOp::Power};

template <typename T>
void check_binary(const KernelTable& table, AluOp op, int64_t n, int64_t a_step, int64_t b_step) {
  const BinaryKernel kernel = table.binary(op, ComputeTypeOf<T>::value);
  ASSERT_NE(kernel, nullptr);
  const std::vector<T> a = sample<T>(n + 1, 5), b = sample<T>(n + 1, 11);
  Guarded<T> out(n), left(n + 1);
  std::copy(a.begin(), a.end(), left.data());
  kernel(n, out.start(), left.start(), a_step, bytes(b.data()), b_step);
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[static_cast<size_t>(i * a_step)], y = b[static_cast<size_t>(i * b_step)];
    T expected{};
    ASSERT_TRUE(plain_binary(op, x, y, expected));
    ASSERT_TRUE(same(out.data()[i], expected)) << static_cast<int>(op) << " of " << x << " and " << y << " gives "
                                               << out.data()[i] << ", expected " << expected;
  }
  ASSERT_TRUE(out.intact());
  if (a_step == 0) return;
  std::vector<T> first(out.data(), out.data() + n);
  kernel(n, left.start(), left.start(), 1, bytes(b.data()), b_step);
  for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same(left.data()[i], first[static_cast<size_t>(i)]));
}

template <typename T>
void check_all_binary(const KernelTable& table) {
  for (const AluOp op : kBinary) {
    T unused{};
    const bool divides = kInteger<T> && (op == AluOp::Divide || op == AluOp::Remainder);
    const bool approximate = !kInteger<T> && op == AluOp::Power;
    const bool in_complex = kComplex<T> && op == AluOp::Atan2;
    if (divides || approximate || in_complex) continue;
    if (!plain_binary(op, T(1), T(1), unused)) {
      EXPECT_EQ(table.binary(op, ComputeTypeOf<T>::value), nullptr) << static_cast<int>(op);
      continue;
    }
    for (const int64_t n : kLengths) {
      check_binary<T>(table, op, n, 1, 1);
      check_binary<T>(table, op, n, 1, 0);
      check_binary<T>(table, op, n, 0, 1);
      check_binary<T>(table, op, n, 0, 0);
    }
  }
}

TEST_P(KernelsAlu, BinaryOperationsEqualPlainCode) {
  check_all_binary<float>(table());
  check_all_binary<double>(table());
  check_all_binary<int32_t>(table());
  check_all_binary<uint32_t>(table());
  check_all_binary<int64_t>(table());
  check_all_binary<uint64_t>(table());
  check_all_binary<std::complex<float>>(table());
  check_all_binary<std::complex<double>>(table());
}

template <typename T>
void check_division(const KernelTable& table) {
  std::vector<T> a = sample<T>(1000, 5), b = sample<T>(1000, 11), quotient(1000), rest(1000);
  for (T& divisor : b) divisor = divisor == 0 ? T(7) : divisor;
  table.binary(AluOp::Divide, ComputeTypeOf<T>::value)(1000, bytes(quotient.data()), bytes(a.data()), 1,
                                                       bytes(b.data()), 1);
  table.binary(AluOp::Remainder, ComputeTypeOf<T>::value)(1000, bytes(rest.data()), bytes(a.data()), 1, bytes(b.data()),
                                                          1);
  for (size_t i = 0; i < 1000; ++i) {
    const bool overflows = std::is_signed_v<T> && b[i] == static_cast<T>(-1);
    ASSERT_EQ(quotient[i], overflows ? static_cast<T>(0 - unsigned_of(a[i])) : static_cast<T>(a[i] / b[i]));
    ASSERT_EQ(rest[i], overflows ? T(0) : static_cast<T>(a[i] % b[i]));
  }
  b[500] = 0;
  for (const AluOp op : {AluOp::Divide, AluOp::Remainder}) {
    const BinaryKernel kernel = table.binary(op, ComputeTypeOf<T>::value);
    EXPECT_THROW(kernel(1000, bytes(rest.data()), bytes(a.data()), 1, bytes(b.data()), 1), Error);
  }
}

TEST_P(KernelsAlu, IntegerDivisionTruncatesAndRefusesZero) {
  check_division<int32_t>(table());
  check_division<uint32_t>(table());
  check_division<int64_t>(table());
  check_division<uint64_t>(table());
}

TEST_P(KernelsAlu, PowersOfFloat32AreWithinOneUnitInTheLastPlace) {
  std::vector<float> bases = edges<float>(), exponents = edges<float>();
  for (const float x : {1.1f, 0.3f, 1e-3f, 7e20f, 0.99999994f, 1.0000001f, 123.4f}) bases.push_back(x);
  for (const float y : {0.3333333f, 5.0f, 4.0f, -3.0f, 17.5f, 1e6f, 8388607.0f, 16777216.0f, -0.25f})
    exponents.push_back(y);
  const BinaryKernel kernel = table().binary(AluOp::Power, ComputeType::F32);
  for (const float y : exponents) {
    std::vector<float> out(bases.size()), spread(bases.size(), y);
    for (const bool repeated : {false, true}) {
      kernel(static_cast<int64_t>(bases.size()), bytes(out.data()), bytes(bases.data()), 1, bytes(spread.data()),
             repeated ? 0 : 1);
      for (size_t i = 0; i < bases.size(); ++i) {
        const double exact = std::pow(static_cast<double>(bases[i]), static_cast<double>(y));
        const auto rounded = static_cast<float>(exact);
        const double unit = std::ldexp(1.0, std::max(std::ilogb(rounded), -126) - 23);
        const bool close =
            std::isfinite(rounded) && rounded != 0 && std::abs(static_cast<double>(out[i]) - exact) <= unit;
        ASSERT_TRUE(close || same(out[i], rounded))
            << bases[i] << " ** " << y << " gives " << out[i] << " not " << rounded;
      }
    }
  }
}

TEST_P(KernelsAlu, PowersOfDoublesAndComplexNumbersAreTheLibrarys) {
  const std::vector<double> a = sample<double>(200, 3), b = sample<double>(200, 7);
  std::vector<double> out(200);
  table().binary(AluOp::Power, ComputeType::F64)(200, bytes(out.data()), bytes(a.data()), 1, bytes(b.data()), 1);
  for (size_t i = 0; i < 200; ++i) ASSERT_TRUE(same(out[i], std::pow(a[i], b[i]))) << a[i] << " ** " << b[i];
  using Complex = std::complex<double>;
  const Complex base(1.5, -2), exponent(0.5, 1);
  Complex result;
  table().binary(AluOp::Power, ComputeType::C128)(1, bytes(&result), bytes(&base), 1, bytes(&exponent), 1);
  EXPECT_EQ(result, complex_functions::power(base, exponent));
  table().binary(AluOp::Atan2, ComputeType::C128)(1, bytes(&result), bytes(&base), 1, bytes(&exponent), 1);
  EXPECT_EQ(result, complex_functions::atan2(base, exponent));
}

template <typename T>
bool plain_unary(AluOp op, T x, T& out) {
  switch (op) {
    case AluOp::Bypass: out = x; return true;
    case AluOp::Abs: out = plain_abs(x); return true;
    case AluOp::Square: return plain_arithmetic(AluOp::Multiply, x, x, out);
    default: break;
  }
  if constexpr (!kComplex<T>) {
    if (op == AluOp::Relu) {
      out = x > T(0) || x != x ? x : T(0);
      return true;
    }
  }
  if constexpr (kInteger<T>) {
    out = static_cast<T>(~x);
    return op == AluOp::Invert;
  } else {
    if (op == AluOp::Reciprocal) {
      out = T(1) / x;
      return true;
    }
    if (op != AluOp::Rsqrt) return false;
    if constexpr (kReal<T>)
      out = 1 / std::sqrt(x);
    else
      out = static_cast<T>(complex_functions::rsqrt(static_cast<std::complex<double>>(x)));
    return true;
  }
}

template <typename T>
void check_unary(const KernelTable& table) {
  for (const AluOp op :
       {AluOp::Bypass, AluOp::Abs, AluOp::Square, AluOp::Relu, AluOp::Rsqrt, AluOp::Reciprocal, AluOp::Invert}) {
    const UnaryKernel kernel = table.unary(op, ComputeTypeOf<T>::value);
    T expected{};
    ASSERT_EQ(kernel != nullptr, plain_unary(op, T(1), expected)) << static_cast<int>(op);
    if (kernel == nullptr) continue;
    for (const int64_t n : kLengths) {
      const std::vector<T> in = sample<T>(n, 3);
      Guarded<T> out(n);
      std::copy(in.begin(), in.end(), out.data());
      kernel(n, out.start(), out.start());
      for (int64_t i = 0; i < n; ++i) {
        const T x = in[static_cast<size_t>(i)];
        plain_unary(op, x, expected);
        ASSERT_TRUE(same(out.data()[i], expected)) << static_cast<int>(op) << " of " << x << " gives " << out.data()[i];
      }
      ASSERT_TRUE(out.intact());
    }
  }
}

TEST_P(KernelsAlu, UnaryOperationsEqualPlainCode) {
  check_unary<float>(table());
  check_unary<double>(table());
  check_unary<int32_t>(table());
  check_unary<uint32_t>(table());
  check_unary<int64_t>(table());
  check_unary<uint64_t>(table());
}

TEST_P(KernelsAlu, AComplexAbsoluteValueIsReal) {
  const std::complex<float> in[2] = {{3, 4}, {-5, 12}};
  std::complex<float> out[2];
  table().unary(AluOp::Abs, ComputeType::C64)(2, bytes(out), bytes(in));
  EXPECT_EQ(out[0], std::complex<float>(5, 0));
  EXPECT_EQ(out[1], std::complex<float>(13, 0));
}

TEST_P(KernelsAlu, OperationsOfTwoOperandsHaveNoUnaryFormAndTheOtherWayRound) {
  EXPECT_EQ(table().unary(AluOp::Add, ComputeType::F32), nullptr);
  EXPECT_EQ(table().binary(AluOp::Square, ComputeType::F32), nullptr);
  EXPECT_EQ(table().binary(AluOp::BitwiseAnd, ComputeType::F32), nullptr);
  EXPECT_EQ(table().binary(AluOp::LessThan, ComputeType::C64), nullptr);
}

}  // namespace
}  // namespace opentrn::neuroncore::emulator
