// The narrow floating point types, stored in their true width and computed in float32.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>

namespace opentrn {

/// Decodes a small IEEE-like float. See half.cpp for the formats.
enum class SmallFormat : uint8_t { E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0FNU };
float decode_small(uint8_t bits, SmallFormat format);
/// The values of all 256 codes.
const float* small_values(SmallFormat format);
/// Rounds to nearest even. Values beyond the largest finite one become what PyTorch makes of them.
uint8_t encode_small(float value, SmallFormat format);

// Inline and without branches, so that loops over them vectorise. Written with integer steps where a denormal float
// would otherwise be an operand: flush-to-zero modes must not change a value.
inline float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFFu) << 13;
  const uint32_t normal = magnitude + (112u << 23);
  const uint32_t special = magnitude + (224u << 23);
  const uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f);
  const uint32_t finite = magnitude < (1u << 23) ? denormal : normal;
  return std::bit_cast<float>(sign | (magnitude >= (31u << 23) ? special : finite));
}

inline uint16_t float_to_half(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = word & 0x7FFFFFFFu;
  const uint32_t normal = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  const uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - (126u << 23);
  const uint32_t special = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
  const uint32_t finite = magnitude < 0x38800000u ? denormal : normal;
  return static_cast<uint16_t>(((word >> 16) & 0x8000u) | (magnitude >= 0x47800000u ? special : finite));
}

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) {  // NOLINT: an implicit conversion, as between float and double
    const auto word = std::bit_cast<uint32_t>(value);
    if (value != value) {
      bits = 0x7FC0;
      return;
    }
    bits = static_cast<uint16_t>((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }  // NOLINT
};

struct Half {
  uint16_t bits = 0;
  Half() = default;
  Half(float value) : bits(float_to_half(value)) {}       // NOLINT
  operator float() const { return half_to_float(bits); }  // NOLINT
};

template <SmallFormat format>
struct SmallFloat {
  uint8_t bits = 0;
  SmallFloat() = default;
  SmallFloat(float value) : bits(encode_small(value, format)) {}  // NOLINT
  operator float() const { return decode_small(bits, format); }   // NOLINT
};

using Float8E4M3FN = SmallFloat<SmallFormat::E4M3FN>;
using Float8E5M2 = SmallFloat<SmallFormat::E5M2>;
using Float8E4M3FNUZ = SmallFloat<SmallFormat::E4M3FNUZ>;
using Float8E5M2FNUZ = SmallFloat<SmallFormat::E5M2FNUZ>;
using Float8E8M0FNU = SmallFloat<SmallFormat::E8M0FNU>;

struct ComplexHalf {
  Half real, imag;
  ComplexHalf() = default;
  ComplexHalf(std::complex<float> value) : real(value.real()), imag(value.imag()) {}  // NOLINT
  operator std::complex<float>() const { return {real, imag}; }                       // NOLINT
};

}  // namespace opentrn
