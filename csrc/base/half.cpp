#include "base/half.h"

#include <array>
#include <cmath>

namespace opentrn {

namespace {

// value = mantissa * 2^(exponent - bias), as IEEE 754 lays it out, but for the codes given to NaN and infinity.
struct Layout {
  int mantissa_bits;
  int bias;
  uint8_t largest_finite;  // without the sign bit
  uint8_t overflow;        // code for what rounds beyond it and for infinity, without the sign bit: PyTorch's choice
  uint8_t nan;             // without the sign bit
  bool unsigned_zero;      // "UZ": no negative zero; its code is the one NaN, sign included
};

constexpr Layout layout(SmallFormat format) {
  switch (format) {
    case SmallFormat::E4M3FN: return {3, 7, 0x7E, 0x7E, 0x7F, false};
    case SmallFormat::E5M2: return {2, 15, 0x7B, 0x7C, 0x7F, false};
    case SmallFormat::E4M3FNUZ: return {3, 8, 0x7F, 0x80, 0x80, true};
    case SmallFormat::E5M2FNUZ: return {2, 16, 0x7F, 0x80, 0x80, true};
    case SmallFormat::E8M0FNU: return {0, 127, 0xFE, 0xFF, 0xFF, false};
  }
  __builtin_unreachable();
}

float decode_by_layout(uint8_t bits, SmallFormat format) {
  const Layout l = layout(format);
  if (format == SmallFormat::E8M0FNU) return bits == 0xFF ? NAN : std::ldexp(1.0f, bits - l.bias);
  if (l.unsigned_zero && bits == 0x80) return NAN;
  const int magnitude = bits & 0x7F;
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (magnitude > l.largest_finite) return magnitude == 0x7C ? sign * INFINITY : std::copysign(NAN, sign);
  const int exponent = magnitude >> l.mantissa_bits;
  const int mantissa = magnitude & ((1 << l.mantissa_bits) - 1);
  const int scale = 1 - l.bias - l.mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), scale);
  return sign * std::ldexp(static_cast<float>(mantissa + (1 << l.mantissa_bits)), scale + exponent - 1);
}

using Codes = std::array<float, 256>;

Codes decode_all(SmallFormat format) {
  Codes codes{};
  for (int i = 0; i < 256; ++i) codes[static_cast<size_t>(i)] = decode_by_layout(static_cast<uint8_t>(i), format);
  return codes;
}

uint8_t encode_e8m0(uint32_t word) {
  const uint32_t exponent = (word >> 23) & 0xFFu;
  if (exponent == 0xFF) return 0xFF;
  const bool half_or_more = (word & 0x400000u) != 0;
  const bool more_than_half = half_or_more && (word & 0x3FFFFFu) != 0;
  const bool odd = exponent > 0;
  return static_cast<uint8_t>(exponent + (more_than_half || (half_or_more && odd) ? 1 : 0));
}

// Rounds |value| to a multiple of the format's step at that magnitude; the code is then plain integer arithmetic.
uint32_t round_magnitude(uint32_t magnitude, const Layout& l) {
  const int smallest_normal_exponent = 1 - l.bias + 127;
  const int drop = 23 - l.mantissa_bits;
  const int exponent = static_cast<int>(magnitude >> 23);
  if (exponent >= smallest_normal_exponent) {
    const uint32_t odd = (magnitude >> drop) & 1u;
    const uint32_t rebias = static_cast<uint32_t>(smallest_normal_exponent - 1) << 23;
    return (magnitude + ((1u << (drop - 1)) - 1u) + odd - rebias) >> drop;
  }
  const int shift = drop + smallest_normal_exponent - exponent;
  if (exponent == 0 || shift > 24) return 0;
  const uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint32_t odd = (mantissa >> shift) & 1u;
  return (mantissa + ((1u << (shift - 1)) - 1u) + odd) >> shift;
}

}  // namespace

const float* small_values(SmallFormat format) {
  static const std::array<Codes, 5> tables{decode_all(SmallFormat::E4M3FN), decode_all(SmallFormat::E5M2),
                                           decode_all(SmallFormat::E4M3FNUZ), decode_all(SmallFormat::E5M2FNUZ),
                                           decode_all(SmallFormat::E8M0FNU)};
  return tables[static_cast<size_t>(format)].data();
}

float decode_small(uint8_t bits, SmallFormat format) { return small_values(format)[bits]; }

uint8_t encode_small(float value, SmallFormat format) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  if (format == SmallFormat::E8M0FNU) return encode_e8m0(word);
  const Layout l = layout(format);
  const uint32_t magnitude = word & 0x7FFFFFFFu;
  const auto sign = static_cast<uint8_t>((word >> 24) & 0x80u);
  if (magnitude > 0x7F800000u) return l.unsigned_zero ? l.nan : static_cast<uint8_t>(l.nan | sign);
  const uint32_t code = magnitude == 0x7F800000u ? 0xFFu : round_magnitude(magnitude, l);
  if (code > l.largest_finite) return l.unsigned_zero ? l.overflow : static_cast<uint8_t>(l.overflow | sign);
  if (code == 0 && l.unsigned_zero) return 0;
  return static_cast<uint8_t>(code | sign);
}

}  // namespace opentrn
