// Transcendental functions of float32, evaluated in double and rounded once by the caller. Included inside a namespace,
// once for each instruction set; whoever includes it defines `double multiply_add(double a, double b, double c)`, fused
// or not, and has included <array>, <bit>, <cmath>, <cstdint>, <limits> and base/loops.h.
//
// Double has room for every intermediate result of a float argument, so that overflow, underflow and denormal results
// come from the final rounding and need no cases of their own. No branches: loops over these functions vectorise. The
// polynomials are minimax fits; each says how far its function may be off, relative to the function.

// Adding this to a small double leaves its nearest integer in the low bits of the sum.
inline constexpr double kRounder = 0x1.8p52;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kLargestDouble = std::numeric_limits<double>::max();

template <size_t count>
OPENTRN_INLINE double polynomial(double x, const std::array<double, count>& coefficients) {
  double sum = coefficients[count - 1];
  for (size_t i = count - 1; i-- > 0;) sum = multiply_add(sum, x, coefficients[i]);
  return sum;
}

// (2^x - 1) / x for |x| <= 1/2: 2^-37.7
inline constexpr std::array<double, 8> kExp2Fit = {
    0.6931471805568618,    0.24022650696489817,    0.05550410906114686,    0.009618128942605011,
    0.0013333478699042824, 0.00015403629392720462, 1.5303640600282695e-05, 1.3215542948966788e-06};
// log((1 + s) / (1 - s)) / s in s^2, for (1 + s) / (1 - s) between sqrt(1/2) and sqrt(2): 2^-45.1
inline constexpr std::array<double, 6> kLogFit = {1.9999999999999467, 0.6666666667965137,  0.39999994872197303,
                                                  0.2857216801604653, 0.22174177229677156, 0.19609084018850423};
// -log(erfc(x)) / x for 0 <= x <= 4: erf is off by 2^-33.3
inline constexpr std::array<double, 12> kErfFit = {
    1.1283791669983856,      0.6366197882237954,    0.10277221382669781,    -0.019124828006908064,
    -0.00022612033493750862, 0.0017418667653901494, -0.0006665217429476239, 0.00010782187725246915,
    8.60469487333534e-06,    -7.89122492911729e-06, 1.5144555480983303e-06, -1.0608022064528551e-07};
// exp(x^2) erfc(x) in (x - 4) / (x + 4), for 0 <= x <= 10.3: 2^-32.7
inline constexpr std::array<double, 13> kErfcFit = {
    0.1369994576100817,     -0.2590680489973353,    0.21871968238705852,   -0.16425780236836904, 0.10896306201246873,
    -0.06310811955939949,   0.031300319049543314,   -0.012840753660867173, 0.004055368074627709, -0.0008152009114209667,
    -2.130166083692038e-05, 0.00010887158399022442, 2.3584687034993044e-06};
// atan(x) / x in x^2, for 0 <= x <= 1: 2^-34.0
inline constexpr std::array<double, 12> kAtanFit = {
    0.9999999999418184,  -0.33333331581994413,  0.19999912382494764,  -0.14283984695613355,
    0.11093264813712786, -0.08980318461506195,  0.07245874535531534,  -0.05428083810439267,
    0.03421045615085488, -0.016111514609114218, 0.004850568582435017, -0.0006846785361000192};
// sin(x) / x and cos(x) in x^2, for |x| <= pi/4: 2^-47.7, 2^-43.8
inline constexpr std::array<double, 6> kSinFit = {0.9999999999999954,     -0.16666666666614882,
                                                  0.00833333332364427,    -0.00019841263192136872,
                                                  2.7555252183935174e-06, -2.4755278889667257e-08};
inline constexpr std::array<double, 6> kCosFit = {0.9999999999999348,    -0.4999999999927351,
                                                  0.041666666533872146,  -0.0013888879938840323,
                                                  2.479884456003945e-05, -2.716797406058899e-07};

inline constexpr double kLog2OfE = 1.4426950408889634;
inline constexpr double kLog2High = 0x1.62e42fefp-1;  // log(2); its product with an exponent is exact
inline constexpr double kLog2Low = 0x1.473de6af278edp-34;

/// 2^x as a power of two, and what that power is to be multiplied with, less 1.
struct PowerOfTwo {
  double scale, excess;
};

// Beyond 2^288 either way every float result is decided.
OPENTRN_INLINE PowerOfTwo power_of_two(double x) {
  x = x < -288.0 ? -288.0 : x;
  x = x > 288.0 ? 288.0 : x;
  const double rounded = x + kRounder;
  const double fraction = x - (rounded - kRounder);
  const auto exponent = std::bit_cast<uint64_t>(rounded) + 1023u;
  return {std::bit_cast<double>(exponent << 52), fraction * polynomial(fraction, kExp2Fit)};
}

OPENTRN_INLINE double exp_of(double x) {
  const PowerOfTwo power = power_of_two(x * kLog2OfE);
  return multiply_add(power.scale, power.excess, power.scale);
}

// Loses the sign of a zero.
OPENTRN_INLINE double unsigned_expm1_of(double x) {
  const PowerOfTwo power = power_of_two(x * kLog2OfE);
  return multiply_add(power.scale, power.excess, power.scale - 1);
}

OPENTRN_INLINE double expm1_of(double x) { return x == 0 ? x : unsigned_expm1_of(x); }

// For numbers greater than 0 and finite.
OPENTRN_INLINE double log_of_normal(double x) {
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDu;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t biased = (bits - kSqrtHalf + (uint64_t{1024} << 52)) >> 52;  // exponent of x / sqrt(1/2), plus 1024
  const double k = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 1024);
  const double m = std::bit_cast<double>(bits - ((biased - 1024u) << 52));
  const double s = (m - 1) / (m + 1);
  return multiply_add(k, kLog2High, multiply_add(k, kLog2Low, s * polynomial(s * s, kLogFit)));
}

OPENTRN_INLINE double log_of(double x) {
  double result = log_of_normal(x);
  result = x > kLargestDouble ? x : result;
  result = x == 0 ? -kInfinity : result;
  return x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
}

// Below 2^-25 the sum 1 + x loses digits that x - x^2/2 keeps.
OPENTRN_INLINE double log1p_of(double x) {
  const double near = multiply_add(x * -0.5, x, x);
  const double far = log_of(1 + x);
  return std::abs(x) < 0x1p-25 ? near : far;
}

OPENTRN_INLINE double logistic_of(double x) { return 1 / (1 + exp_of(-x)); }

OPENTRN_INLINE double tanh_of(double x) {
  const double excess = unsigned_expm1_of(2 * x);
  const double result = excess / (excess + 2);
  return x == 0 ? x : result;
}

OPENTRN_INLINE double erf_of(double x) {
  double magnitude = std::abs(x);
  magnitude = magnitude > 4 ? 4 : magnitude;
  return std::copysign(-unsigned_expm1_of(-magnitude * polynomial(magnitude, kErfFit)), x);
}

// erfc(|x|): from 10.3 on it is 0 in float.
OPENTRN_INLINE double erfc_of_magnitude(double x) {
  double magnitude = std::abs(x);
  magnitude = magnitude > 10.3 ? 10.3 : magnitude;
  return exp_of(-magnitude * magnitude) * polynomial((magnitude - 4) / (magnitude + 4), kErfcFit);
}

OPENTRN_INLINE double erfc_of(double x) {
  const double tail = erfc_of_magnitude(x);
  return x < 0 ? 2 - tail : tail;
}

// Where a factor is 0 in float, so is the product with any finite number, and NaN that with an infinite one.
OPENTRN_INLINE double silu_of(double x) {
  const double result = x * logistic_of(x);
  return x < -200.0 ? x * 0.0 : result;
}

OPENTRN_INLINE double gelu_of(double x) {
  const double tail = 0.5 * erfc_of_magnitude(x * 0.70710678118654752440);
  const double result = x * (x < 0 ? tail : 1 - tail);
  return x < -14.5 ? x * 0.0 : result;
}

// x * logistic(2 u) is x * (1 + tanh(u)) / 2 without its cancellation.
OPENTRN_INLINE double gelu_tanh_of(double x) {
  const double twice = 1.59576912160573071 * multiply_add(0.044715 * x * x, x, x);
  const double result = x * logistic_of(twice);
  return x < -14.5 ? x * 0.0 : result;
}

OPENTRN_INLINE double softplus_of(double x) {
  const double positive = x < 0 ? 0 : x;
  return positive + log1p_of(exp_of(-std::abs(x)));
}

OPENTRN_INLINE double atan_of(double x) {
  const double magnitude = std::abs(x);
  const bool beyond = magnitude > 1;
  const double inner = beyond ? 1 / magnitude : magnitude;
  const double angle = inner * polynomial(inner * inner, kAtanFit);
  return std::copysign(beyond ? 1.5707963267948966 - angle : angle, x);
}

// The nearest whole number.
OPENTRN_INLINE double to_whole(double x) {
  const double rounded = (x + kRounder) - kRounder;
  return std::abs(x) < 0x1p51 ? rounded : x;
}

// The cases of C's pow, in the order in which the later ones win. `y` has been a float.
OPENTRN_INLINE double pow_of(double x, double y) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const double magnitude = std::abs(x);
  const double power = exp_of(y * log_of(magnitude));
  const double unsigned_result = magnitude == 1 ? 1 : power;
  const double negated = std::copysign(unsigned_result, x);
  const double of_whole = to_whole(y * 0.5) == y * 0.5 ? unsigned_result : negated;
  const double of_fraction = x < 0 ? (magnitude > kLargestDouble ? unsigned_result : kNaN) : unsigned_result;
  double result = to_whole(y) == y ? of_whole : of_fraction;
  result = x != x ? x : result;
  result = y != y ? y : result;
  result = x == 1 ? 1 : result;
  return y == 0 ? 1 : result;
}

// Beyond this the reduction below runs out of bits, and the C library takes over.
inline constexpr float kReducible = 1e5f;

// sin(x + quadrants * pi/2)
OPENTRN_INLINE double sin_of(double x, uint64_t quadrants) {
  const double rounded = x * 0.6366197723675814 + kRounder;
  const double k = rounded - kRounder;
  const double r = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34;
  const uint64_t quadrant = std::bit_cast<uint64_t>(rounded) + quadrants;
  const double sine = r * polynomial(r * r, kSinFit);
  const double cosine = polynomial(r * r, kCosFit);
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ ((quadrant & 2) << 62));
}

OPENTRN_INLINE bool reducible(int64_t n, const float* in) {
  int outside = 0;
  for (int64_t i = 0; i < n; ++i) outside |= !(std::abs(in[i]) <= kReducible);
  return outside == 0;
}

/// A periodic function of a row: `fast` for blocks of numbers whose period can be told, else `slow`.
template <typename Fast, typename Slow>
OPENTRN_INLINE void periodic_row(int64_t n, const float* in, float* out, Fast fast, Slow slow) {
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

OPENTRN_INLINE void sin_row(int64_t n, const float* in, float* out) {
  periodic_row(n, in, out, [](double x) { return x == 0 ? x : sin_of(x, 0); }, [](double x) { return std::sin(x); });
}
OPENTRN_INLINE void cos_row(int64_t n, const float* in, float* out) {
  periodic_row(n, in, out, [](double x) { return sin_of(x, 1); }, [](double x) { return std::cos(x); });
}
