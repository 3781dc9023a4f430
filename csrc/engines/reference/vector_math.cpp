// Everything is evaluated in double and rounded once. Double has room for every intermediate result of a float
// argument, so that overflow, underflow and denormal results come from the final rounding and need no cases of their
// own. The series are cut where the first term left out is below 1e-12 of the result.
#include "engines/reference/vector_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engines/reference/target.h"

namespace opentrn::engines::reference {

namespace {

// Adding this to a small double leaves its nearest integer in the low bits of the sum.
constexpr double kRounder = 0x1.8p52;

template <size_t count>
OPENTRN_INLINE double polynomial(double x, const std::array<double, count>& coefficients) {
  double sum = coefficients[count - 1];
  for (size_t i = count - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

template <size_t count>
constexpr std::array<double, count> inverse_factorials() {
  std::array<double, count> result{};
  double factorial = 1;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) factorial *= static_cast<double>(i);
    result[i] = 1 / factorial;
  }
  return result;
}

// Coefficients in x^2 of an odd (first = 1) or even (first = 0) alternating series over the inverse factorials.
template <size_t count>
constexpr std::array<double, count> alternating_factorials(size_t first) {
  std::array<double, count> result{};
  const auto inverse = inverse_factorials<2 * count + 1>();
  for (size_t i = 0; i < count; ++i) result[i] = (i % 2 == 0 ? 1 : -1) * inverse[2 * i + first];
  return result;
}

constexpr auto kExpSeries = inverse_factorials<12>();
constexpr auto kSinSeries = alternating_factorials<8>(1);
constexpr auto kCosSeries = alternating_factorials<9>(0);
constexpr std::array<double, 8> kLogSeries = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15};
constexpr std::array<double, 5> kLog1pSeries = {1.0, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5};
constexpr std::array<double, 5> kTanhSeries = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};
constexpr std::array<double, 6> kExpm1Series = {1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720};
// 2/sqrt(pi) (-1)^n / (n! (2n+1))
constexpr std::array<double, 13> kErfSeries = {1.1283791670955126,      -0.37612638903183754,   0.11283791670955126,
                                               -0.026866170645131252,   0.005223977625442188,   -0.0008548327023450853,
                                               0.00012055332981789664,  -1.492565035840625e-05, 1.6462114365889248e-06,
                                               -1.6365844691234924e-07, 1.4807192815879218e-08, -1.2290555301717928e-09,
                                               9.422759064650411e-11};
// exp(x^2) erfc(x) for x in [1, 4] as a polynomial in (x-2)/(x+2): a Chebyshev fit, error of the erf 1.1e-11.
constexpr std::array<double, 8> kErfcFit = {0.2553956762511268,     -0.4271858483085219,   0.2416582112154751,
                                            -0.07897847337213533,   0.003732138369656251,  0.006993958074557698,
                                            -0.0008365721282988348, -0.0009395477216092654};

constexpr double kLog2High = 0x1.62e42fefp-1;  // its product with an exponent is exact
constexpr double kLog2Low = 0x1.473de6af278edp-34;

OPENTRN_INLINE double exp_of(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double rounded = x * 1.4426950408889634 + kRounder;
  const double k = rounded - kRounder;
  const double r = (x - k * kLog2High) - k * kLog2Low;
  const auto exponent = std::bit_cast<uint64_t>(rounded) + 1023u;
  return polynomial(r, kExpSeries) * std::bit_cast<double>(exponent << 52);
}

OPENTRN_INLINE double log_of(double x) {
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDu;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t biased = (bits - kSqrtHalf + (uint64_t{1024} << 52)) >> 52;  // exponent of x / sqrt(1/2), plus 1024
  const double k = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 1024);
  const double m = std::bit_cast<double>(bits - ((biased - 1024u) << 52));
  const double s = (m - 1) / (m + 1);
  double result = k * kLog2High + (k * kLog2Low + s * polynomial(s * s, kLogSeries));
  result = x > std::numeric_limits<double>::max() ? x : result;
  result = x == 0 ? -std::numeric_limits<double>::infinity() : result;
  return x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
}

OPENTRN_INLINE double expm1_of(double x) {
  const double near = x * polynomial(x, kExpm1Series);
  const double far = exp_of(x) - 1;
  return std::abs(x) < 0.01 ? near : far;
}

OPENTRN_INLINE double log1p_of(double x) {
  const double near = x * polynomial(x, kLog1pSeries);
  const double far = log_of(1 + x);
  return std::abs(x) < 0.001 ? near : far;
}

OPENTRN_INLINE double logistic_of(double x) { return 1 / (1 + exp_of(-x)); }

OPENTRN_INLINE double tanh_of(double x) {
  const double near = x * polynomial(x * x, kTanhSeries);
  const double far = 1 - 2 / (exp_of(2 * x) + 1);
  return std::abs(x) < 0.05 ? near : far;
}

OPENTRN_INLINE double erf_of(double x) {
  double magnitude = std::abs(x);
  magnitude = magnitude > 4 ? 4 : magnitude;
  const double square = magnitude * magnitude;
  const double near = x * polynomial(square, kErfSeries);
  const double far = 1 - exp_of(-square) * polynomial((magnitude - 2) / (magnitude + 2), kErfcFit);
  return magnitude < 1 ? near : std::copysign(far, x);
}

// Beyond this the reduction below runs out of bits, and libm takes over.
constexpr float kReducible = 1e5f;

// sin(x + quadrants * pi/2)
OPENTRN_INLINE double sin_of(double x, uint64_t quadrants) {
  const double rounded = x * 0.6366197723675814 + kRounder;
  const double k = rounded - kRounder;
  const double r = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34;
  const uint64_t quadrant = std::bit_cast<uint64_t>(rounded) + quadrants;
  const double sine = r * polynomial(r * r, kSinSeries);
  const double cosine = polynomial(r * r, kCosSeries);
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ ((quadrant & 2) << 62));
}

OPENTRN_INLINE bool reducible(int64_t n, const float* in) {
  int outside = 0;
  for (int64_t i = 0; i < n; ++i) outside |= !(std::abs(in[i]) <= kReducible);
  return outside == 0;
}

template <typename Fast, typename Slow>
OPENTRN_INLINE void reduced(int64_t n, const float* in, float* out, Fast fast, Slow slow) {
  constexpr int64_t kBlock = 256;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = begin + kBlock < n ? begin + kBlock : n;
    if (reducible(end - begin, in + begin)) {
      OPENTRN_INDEPENDENT_LOOP
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<float>(fast(static_cast<double>(in[i])));
    } else {
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<float>(slow(static_cast<double>(in[i])));
    }
  }
}

template <typename Function>
OPENTRN_INLINE void in_double(int64_t n, const float* in, float* out, Function function) {
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(function(static_cast<double>(in[i])));
}

template <typename Function>
OPENTRN_INLINE void in_float(int64_t n, const float* in, float* out, Function function) {
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = function(in[i]);
}

}  // namespace

OPENTRN_VECTOR_CLONES void dense_exp(int64_t n, const float* in, float* out) { in_double(n, in, out, exp_of); }
OPENTRN_VECTOR_CLONES void dense_expm1(int64_t n, const float* in, float* out) { in_double(n, in, out, expm1_of); }
OPENTRN_VECTOR_CLONES void dense_log(int64_t n, const float* in, float* out) { in_double(n, in, out, log_of); }
OPENTRN_VECTOR_CLONES void dense_log1p(int64_t n, const float* in, float* out) { in_double(n, in, out, log1p_of); }
OPENTRN_VECTOR_CLONES void dense_logistic(int64_t n, const float* in, float* out) {
  in_double(n, in, out, logistic_of);
}
OPENTRN_VECTOR_CLONES void dense_tanh(int64_t n, const float* in, float* out) { in_double(n, in, out, tanh_of); }
OPENTRN_VECTOR_CLONES void dense_erf(int64_t n, const float* in, float* out) { in_double(n, in, out, erf_of); }

OPENTRN_VECTOR_CLONES void dense_sin(int64_t n, const float* in, float* out) {
  reduced(n, in, out, [](double x) { return x == 0 ? x : sin_of(x, 0); }, [](double x) { return std::sin(x); });
}
OPENTRN_VECTOR_CLONES void dense_cos(int64_t n, const float* in, float* out) {
  reduced(n, in, out, [](double x) { return sin_of(x, 1); }, [](double x) { return std::cos(x); });
}

OPENTRN_VECTOR_CLONES void dense_sqrt(int64_t n, const float* in, float* out) {
  in_float(n, in, out, [](float x) { return std::sqrt(x); });
}
OPENTRN_VECTOR_CLONES void dense_rsqrt(int64_t n, const float* in, float* out) {
  in_float(n, in, out, [](float x) { return 1 / std::sqrt(x); });
}
OPENTRN_VECTOR_CLONES void dense_floor(int64_t n, const float* in, float* out) {
  in_float(n, in, out, [](float x) { return std::floor(x); });
}
OPENTRN_VECTOR_CLONES void dense_ceil(int64_t n, const float* in, float* out) {
  in_float(n, in, out, [](float x) { return std::ceil(x); });
}
OPENTRN_VECTOR_CLONES void dense_round_nearest_even(int64_t n, const float* in, float* out) {
  in_float(n, in, out, [](float x) { return std::nearbyint(x); });
}

}  // namespace opentrn::engines::reference
