// Element-wise primitives on integers and bools: exact, against arithmetic in 128 bits.
#include <bit>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;
using Wide = __int128;

int bits_of(DType dtype) { return static_cast<int>(size_of(dtype) * 8); }
bool is_signed(DType dtype) { return category(dtype) == Category::Signed; }

// Modulo 2^128, which keeps the low bits right.
Wide product(Wide x, Wide y) {
  return static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
}

// The number that the low bits of `value` stand for in the type.
Wide wrapped(Wide value, DType dtype) {
  const Wide modulus = Wide{1} << bits_of(dtype);
  Wide low = value % modulus;
  if (low < 0) low += modulus;
  return is_signed(dtype) && low >= modulus / 2 ? low - modulus : low;
}

Wide smallest(DType dtype) { return is_signed(dtype) ? -(Wide{1} << (bits_of(dtype) - 1)) : 0; }
Wide largest(DType dtype) { return smallest(dtype) + (Wide{1} << bits_of(dtype)) - 1; }
Wide unsigned_bits(Wide value, DType dtype) { return value < 0 ? value + (Wide{1} << bits_of(dtype)) : value; }

std::vector<Wide> interesting(DType dtype) {
  std::vector<Wide> values{
      0, 1, 2, 3, 7, 100, largest(dtype), largest(dtype) - 1, smallest(dtype), smallest(dtype) + 1};
  if (is_signed(dtype)) values.insert(values.end(), {-1, -2, -3, -7, -100});
  return values;
}

Wide power(Wide base, Wide exponent, DType dtype) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Wide result = 1;
  for (Wide bit = Wide{1} << 66; bit > 0; bit >>= 1) {
    result = wrapped(product(result, result), dtype);
    if (exponent & bit) result = wrapped(product(result, base), dtype);
  }
  return result;
}

Wide shift_left(Wide x, Wide count, DType dtype) {
  if (count < 0 || count >= bits_of(dtype)) return 0;
  return wrapped(product(unsigned_bits(x, dtype), Wide{1} << static_cast<int>(count)), dtype);
}
Wide shift_right_logical(Wide x, Wide count, DType dtype) {
  return count < 0 || count >= bits_of(dtype) ? 0 : wrapped(unsigned_bits(x, dtype) >> static_cast<int>(count), dtype);
}
// The topmost bit is the sign, also of an unsigned type.
Wide shift_right_arithmetic(Wide x, Wide count, DType dtype) {
  const Wide modulus = Wide{1} << bits_of(dtype);
  const Wide number = x >= modulus / 2 ? x - modulus : x;
  const bool out = count < 0 || count >= bits_of(dtype);
  return wrapped(number >> (out ? bits_of(dtype) - 1 : static_cast<int>(count)), dtype);
}

Wide expected_binary(Op op, Wide x, Wide y, DType dtype) {
  switch (op) {
    case Op::Add: return wrapped(x + y, dtype);
    case Op::Subtract: return wrapped(x - y, dtype);
    case Op::Multiply: return wrapped(product(x, y), dtype);
    case Op::Divide: return wrapped(x / y, dtype);
    case Op::Remainder: return x % y;
    case Op::Maximum: return std::max(x, y);
    case Op::Minimum: return std::min(x, y);
    case Op::And: return x & y;
    case Op::Or: return x | y;
    case Op::Xor: return x ^ y;
    case Op::Power: return power(x, y, dtype);
    case Op::ShiftLeft: return shift_left(x, y, dtype);
    case Op::ShiftRightLogical: return shift_right_logical(x, y, dtype);
    default: return shift_right_arithmetic(x, y, dtype);
  }
}

// Integers go in and out as their bits, so that no conversion is involved.
Tensor integers(DType dtype, const std::vector<Wide>& values, Arrangement arrangement = Arrangement::RowMajor) {
  Tensor tensor(dtype, {static_cast<int64_t>(values.size())}, arrangement);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<uint64_t>(values[i]);
    std::memcpy(tensor.at(static_cast<int64_t>(i)), &bits, static_cast<size_t>(size_of(dtype)));
  }
  return tensor;
}

std::vector<Wide> integers_in(const Tensor& tensor) {
  std::vector<Wide> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.at(i), static_cast<size_t>(size_of(tensor.dtype())));
    values.push_back(wrapped(static_cast<Wide>(bits), tensor.dtype()));
  }
  return values;
}

class ElementwiseInteger : public Conformance {
 protected:
  Tensor binary(Op op, const Tensor& x, const Tensor& y) const {
    return evaluate({&x, &y}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.binary(op, p[0], p[1])};
    });
  }
  Tensor unary(Op op, const Tensor& x) const {
    return evaluate({&x},
                    [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.unary(op, p[0])}; });
  }
};

TEST_P(ElementwiseInteger, BinaryIsExactAndWraps) {
  const Op ops[] = {
      Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Remainder, Op::Maximum,           Op::Minimum,
      Op::And, Op::Or,       Op::Xor,      Op::Power,  Op::ShiftLeft, Op::ShiftRightLogical, Op::ShiftRightArithmetic};
  for (const Op op : ops) {
    for (const DType dtype : kIntegers) {
      std::vector<Wide> left, right, expected;
      for (const Wide x : interesting(dtype)) {
        for (const Wide y : interesting(dtype)) {
          if (y == 0 && (op == Op::Divide || op == Op::Remainder)) continue;
          left.push_back(x);
          right.push_back(y);
          expected.push_back(expected_binary(op, x, y, dtype));
        }
      }
      for (const Arrangement arrangement : {Arrangement::RowMajor, Arrangement::Strided}) {
        const Tensor result = binary(op, integers(dtype, left, arrangement), integers(dtype, right));
        EXPECT_TRUE(integers_in(result) == expected) << ir::name(op) << " " << name(dtype);
      }
    }
  }
}

TEST_P(ElementwiseInteger, Unary) {
  for (const DType dtype : kIntegers) {
    const std::vector<Wide> values = interesting(dtype);
    std::vector<Wide> absolute, negated, inverted, counted, signs;
    for (const Wide x : values) {
      absolute.push_back(wrapped(x < 0 ? -x : x, dtype));
      negated.push_back(wrapped(-x, dtype));
      inverted.push_back(wrapped(~x, dtype));
      counted.push_back(std::popcount(static_cast<uint64_t>(unsigned_bits(x, dtype))));
      signs.push_back((x > 0) - (x < 0));
    }
    const Tensor x = integers(dtype, values);
    EXPECT_TRUE(integers_in(unary(Op::Negate, x)) == negated) << name(dtype);
    EXPECT_TRUE(integers_in(unary(Op::Not, x)) == inverted) << name(dtype);
    EXPECT_TRUE(integers_in(unary(Op::PopulationCount, x)) == counted) << name(dtype);
    if (!is_signed(dtype)) continue;
    EXPECT_TRUE(integers_in(unary(Op::Abs, x)) == absolute) << name(dtype);
    EXPECT_TRUE(integers_in(unary(Op::Sign, x)) == signs) << name(dtype);
  }
}

TEST_P(ElementwiseInteger, DivisionByZeroRaises) {
  for (const Op op : {Op::Divide, Op::Remainder}) {
    for (const DType dtype : {DType::I32, DType::I64, DType::U8}) {
      const Tensor x = integers(dtype, {1, 2, 3});
      const Tensor y = integers(dtype, {1, 0, 3});
      try {
        binary(op, x, y);
        ADD_FAILURE() << ir::name(op) << " did not raise";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Runtime);
        EXPECT_NE(std::string(error.what()).find("ZeroDivisionError"), std::string::npos);
      }
    }
  }
}

TEST_P(ElementwiseInteger, ErrorsOfOtherThreadsReachTheCaller) {
  std::vector<Wide> divisors(300'000, 1);
  divisors[299'999] = 0;
  const Tensor y = integers(DType::I64, divisors);
  EXPECT_THROW(binary(Op::Divide, y, y), Error);
}

TEST_P(ElementwiseInteger, BoolsAreLogical) {
  // Bytes other than 0 and 1 come from memory that was something else before.
  Tensor x(DType::Bool, {6});
  Tensor y(DType::Bool, {6});
  const uint8_t left[] = {0, 1, 0, 1, 2, 0}, right[] = {0, 0, 1, 1, 1, 255};
  for (int64_t i = 0; i < 6; ++i) {
    std::memcpy(x.at(i), left + i, 1);
    std::memcpy(y.at(i), right + i, 1);
  }
  const std::vector<uint8_t> both{0, 0, 0, 1, 1, 0}, any{0, 1, 1, 1, 1, 1}, one{0, 1, 1, 0, 0, 1},
      none{1, 0, 1, 0, 0, 1};
  const auto raw = [](const Tensor& tensor) {
    std::vector<uint8_t> bytes;
    for (const std::byte byte : tensor.bytes()) bytes.push_back(static_cast<uint8_t>(byte));
    return bytes;
  };
  EXPECT_EQ(raw(binary(Op::And, x, y)), both);
  EXPECT_EQ(raw(binary(Op::Or, x, y)), any);
  EXPECT_EQ(raw(binary(Op::Xor, x, y)), one);
  EXPECT_EQ(raw(unary(Op::Not, x)), none);
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(ElementwiseInteger);

}  // namespace opentrn::conformance
