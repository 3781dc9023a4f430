#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opentrn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

// Checks rounding of every pair of neighbours among the finite codes 0..largest: a tie goes to the even code, whatever
// is closer to one of them goes to it, on both sides of zero. The values themselves are checked against `value`.
template <typename Type>
void check_rounding(unsigned largest, unsigned sign_bit, double (*value)(unsigned)) {
  const auto decode = [](unsigned code) {
    Type one;
    one.bits = static_cast<decltype(one.bits)>(code);
    return static_cast<float>(one);
  };
  for (unsigned code = 0; code <= largest; ++code) {
    ASSERT_EQ(decode(code), value(code)) << code;
    ASSERT_EQ(Type(decode(code)).bits, code);
    if (sign_bit != 0 && (code != 0 || Type(-0.0f).bits != 0)) {
      ASSERT_EQ(Type(-decode(code)).bits, code | sign_bit);
    }
    if (code == largest) break;
    const double middle = (value(code) + value(code + 1)) / 2;
    const auto tie = static_cast<float>(middle);
    if (static_cast<double>(tie) != middle) continue;
    const unsigned even = code % 2 == 0 ? code : code + 1;
    ASSERT_EQ(Type(tie).bits, even) << code;
    ASSERT_EQ(Type(std::nextafter(tie, kInfinity)).bits, code + 1);
    ASSERT_EQ(Type(std::nextafter(tie, -kInfinity)).bits, code);
  }
}

double ieee_value(unsigned code, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>(code >> mantissa_bits);
  const double mantissa = code & ((1u << mantissa_bits) - 1u);
  const double one = 1u << mantissa_bits;
  if (exponent == 0) return std::ldexp(mantissa / one, 1 - bias);
  return std::ldexp(1 + mantissa / one, exponent - bias);
}

TEST(Half, EveryFloat16RoundsAsIeee754) {
  check_rounding<Half>(0x7BFF, 0x8000, [](unsigned code) { return ieee_value(code, 10, 15); });
}

TEST(Half, EveryBFloat16RoundsAsIeee754) {
  check_rounding<BFloat16>(0x7F7F, 0x8000, [](unsigned code) { return ieee_value(code, 7, 127); });
}

TEST(Half, EveryFloat8Rounds) {
  check_rounding<Float8E4M3FN>(0x7E, 0x80, [](unsigned code) { return ieee_value(code, 3, 7); });
  check_rounding<Float8E5M2>(0x7B, 0x80, [](unsigned code) { return ieee_value(code, 2, 15); });
  check_rounding<Float8E4M3FNUZ>(0x7F, 0x80, [](unsigned code) { return ieee_value(code, 3, 8); });
  check_rounding<Float8E5M2FNUZ>(0x7F, 0x80, [](unsigned code) { return ieee_value(code, 2, 16); });
}

TEST(Half, Float8E8M0HoldsPowersOfTwo) {
  for (unsigned code = 0; code < 0xFF; ++code) {
    Float8E8M0FNU one;
    one.bits = static_cast<uint8_t>(code);
    ASSERT_EQ(static_cast<float>(one), std::ldexp(1.0f, static_cast<int>(code) - 127));
    ASSERT_EQ(Float8E8M0FNU(static_cast<float>(one)).bits, code);
  }
  EXPECT_EQ(Float8E8M0FNU(1.49f).bits, 127);
  EXPECT_EQ(Float8E8M0FNU(1.5f).bits, 128);
  EXPECT_EQ(Float8E8M0FNU(0.0f).bits, 0);
  EXPECT_EQ(Float8E8M0FNU(-2.0f).bits, 128);  // PyTorch drops the sign
  EXPECT_EQ(Float8E8M0FNU(kInfinity).bits, 0xFF);
  EXPECT_EQ(Float8E8M0FNU(kNaN).bits, 0xFF);
}

// The literals are what torch.tensor(value).to(dtype) gives.
TEST(Half, OverflowAndSpecialValuesAreThoseOfPyTorch) {
  EXPECT_EQ(Half(65519.996f).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(Half(-kInfinity).bits, 0xFC00);
  EXPECT_EQ(Half(0x1p-25f).bits, 0);
  EXPECT_EQ(Half(std::nextafter(0x1p-25f, 1.0f)).bits, 1);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(Float8E4M3FN(464.0f).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(480.0f).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(-1e30f).bits, 0xFE);
  EXPECT_EQ(Float8E4M3FN(kInfinity).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(kNaN).bits, 0x7F);
  EXPECT_EQ(Float8E5M2(61439.0f).bits, 0x7B);
  EXPECT_EQ(Float8E5M2(61440.0f).bits, 0x7C);
  EXPECT_EQ(Float8E5M2(-kInfinity).bits, 0xFC);
  EXPECT_EQ(Float8E5M2(kNaN).bits, 0x7F);
  EXPECT_EQ(Float8E4M3FNUZ(247.0f).bits, 0x7F);
  EXPECT_EQ(Float8E4M3FNUZ(248.0f).bits, 0x80);
  EXPECT_EQ(Float8E4M3FNUZ(-kInfinity).bits, 0x80);
  EXPECT_EQ(Float8E5M2FNUZ(kNaN).bits, 0x80);
  EXPECT_EQ(Float8E4M3FNUZ(-0.0f).bits, 0);
  EXPECT_EQ(Float8E5M2FNUZ(-1e-30f).bits, 0);
}

TEST(Half, NaNStaysNaN) {
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(kNaN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(kNaN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E4M3FN(kNaN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E4M3FNUZ(kNaN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0FNU(kNaN))));
  Half lowest_nan;
  lowest_nan.bits = 0x7C01;
  EXPECT_TRUE(std::isnan(static_cast<float>(lowest_nan)));
}

}  // namespace
}  // namespace opentrn
