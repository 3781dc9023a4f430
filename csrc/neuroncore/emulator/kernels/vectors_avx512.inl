// Vectors of 512 bits.

inline constexpr int64_t kVectorBytes = 64;
inline constexpr int kTileRows = 6;     // of a matrix product, in registers together with
inline constexpr int kTileVectors = 4;  // this many vectors of columns

typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));

OPENTRN_INLINE Floats broadcast(float x) { return _mm512_set1_ps(x); }
OPENTRN_INLINE Doubles broadcast(double x) { return _mm512_set1_pd(x); }
OPENTRN_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
OPENTRN_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
OPENTRN_INLINE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
OPENTRN_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// The forms with a mask, because g++ 12 warns of the others' own undefined operands.
inline constexpr __mmask16 kAllLanes = 0xFFFF;

OPENTRN_INLINE Floats widen(const BFloat16* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAllLanes, _mm512_maskz_cvtepu16_epi32(kAllLanes, bits), 16));
}
OPENTRN_INLINE Floats widen(const Half* from) {
  return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// The halves of a vector of floats, as doubles.
inline constexpr __mmask8 kAllDoubles = 0xFF;
OPENTRN_INLINE Doubles lower_half(Floats x) {
  return _mm512_maskz_cvtps_pd(kAllDoubles, _mm512_maskz_extractf32x8_ps(kAllDoubles, x, 0));
}
OPENTRN_INLINE Doubles upper_half(Floats x) {
  return _mm512_maskz_cvtps_pd(kAllDoubles, _mm512_maskz_extractf32x8_ps(kAllDoubles, x, 1));
}
