// Vectors of 256 bits.

inline constexpr int64_t kVectorBytes = 32;
inline constexpr int kTileRows = 6;     // of a matrix product, in registers together with
inline constexpr int kTileVectors = 2;  // this many vectors of columns

typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));

OPENTRN_INLINE Floats broadcast(float x) { return _mm256_set1_ps(x); }
OPENTRN_INLINE Doubles broadcast(double x) { return _mm256_set1_pd(x); }
OPENTRN_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
OPENTRN_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
OPENTRN_INLINE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
OPENTRN_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

OPENTRN_INLINE Floats widen(const BFloat16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
OPENTRN_INLINE Floats widen(const Half* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// The halves of a vector of floats, as doubles.
OPENTRN_INLINE Doubles lower_half(Floats x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
OPENTRN_INLINE Doubles upper_half(Floats x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
