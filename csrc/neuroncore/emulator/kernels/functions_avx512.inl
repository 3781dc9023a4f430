// Functions of float32 with AVX-512, off by at most 0.53 units in the last place, results below 2^-100 by one: what
// does not fit a float is carried along as a second one. Coefficients of short polynomials come out of tables of 32
// numbers that are looked up in two registers. Whoever includes this has included activation.inl.

/// 32 numbers, looked up by the five lowest bits of an index.
struct alignas(64) Lookup {
  std::array<float, 32> numbers;

  OPENTRN_INLINE __m512 operator[](__m512i index) const {
    return _mm512_permutex2var_ps(_mm512_load_ps(numbers.data()), index, _mm512_load_ps(numbers.data() + 16));
  }
};

// 2^(j / 32), and what its rounding to float has cut off.
inline constexpr Lookup kPowers = {
    {0x1p0f,        0x1.059b0ep0f, 0x1.0b5586p0f, 0x1.11301ep0f, 0x1.172b84p0f, 0x1.1d4874p0f, 0x1.2387a6p0f,
     0x1.29e9ep0f,  0x1.306fep0f,  0x1.371a74p0f, 0x1.3dea64p0f, 0x1.44e086p0f, 0x1.4bfdaep0f, 0x1.5342b6p0f,
     0x1.5ab07ep0f, 0x1.6247ecp0f, 0x1.6a09e6p0f, 0x1.71f75ep0f, 0x1.7a1148p0f, 0x1.82589ap0f, 0x1.8ace54p0f,
     0x1.93737cp0f, 0x1.9c4918p0f, 0x1.a5503cp0f, 0x1.ae89fap0f, 0x1.b7f77p0f,  0x1.c199bep0f, 0x1.cb720ep0f,
     0x1.d5818ep0f, 0x1.dfc974p0f, 0x1.ea4afap0f, 0x1.f50766p0f}};
inline constexpr Lookup kPowersRest = {{0.0f,
                                        -0x1.9d4f52p-25f,
                                        0x1.9f3122p-25f,
                                        -0x1.fdb496p-25f,
                                        -0x1.c15742p-27f,
                                        -0x1.d2e8cap-25f,
                                        0x1.ceac48p-25f,
                                        -0x1.5c0424p-25f,
                                        0x1.4636e2p-25f,
                                        -0x1.18aac6p-25f,
                                        0x1.824684p-25f,
                                        0x1.8624b4p-30f,
                                        -0x1.593abcp-25f,
                                        -0x1.2c561p-25f,
                                        -0x1.5bd5ecp-27f,
                                        -0x1.f8b55p-25f,
                                        0x1.9fcef4p-26f,
                                        0x1.1d8beep-25f,
                                        -0x1.829fdp-25f,
                                        -0x1.accc7cp-26f,
                                        0x1.15506ep-27f,
                                        -0x1.e64744p-25f,
                                        0x1.51f848p-27f,
                                        -0x1.b83b54p-25f,
                                        -0x1.a94b14p-26f,
                                        -0x1.a09438p-25f,
                                        -0x1.3d56b2p-27f,
                                        -0x1.8837ccp-27f,
                                        -0x1.822dbcp-27f,
                                        -0x1.908c94p-25f,
                                        0x1.52486cp-27f,
                                        -0x1.246ebp-26f}};

// erf(x) / x around j / 8: a minimax polynomial of the distance, off by 2^-34, its first coefficient in two parts.
inline constexpr Lookup kErfValue = {
    {0x1.20dd76p0f,  0x1.1f5e1ap0f,  0x1.1af54ep0f,  0x1.13e08cp0f,  0x1.0a7ef6p0f,  0x1.fe8f16p-1f, 0x1.e57b74p-1f,
     0x1.cacbc2p-1f, 0x1.af767ap-1f, 0x1.9450bcp-1f, 0x1.7a0518p-1f, 0x1.611066p-1f, 0x1.49c38ep-1f, 0x1.3448f8p-1f,
     0x1.20ac04p-1f, 0x1.0ee122p-1f, 0x1.fd9ae2p-2f, 0x1.e09a7ap-2f, 0x1.c67206p-2f, 0x1.aed2p-2f,   0x1.996eeep-2f,
     0x1.8603ep-2f,  0x1.74538p-2f,  0x1.642828p-2f, 0x1.555368p-2f, 0x1.47ad4p-2f,  0x1.3b1358p-2f, 0x1.2f6828p-2f,
     0x1.24923ap-2f, 0x1.1a7b9p-2f,  0x1.11111p-2f,  0x1.08421p-2f}};
inline constexpr Lookup kErfValueRest = {
    {-0x1.f81a7ep-25f, 0x1.ac8ac6p-27f,  0x1.183ddcp-27f, 0x1.e80c5p-26f,   -0x1.f3883cp-27f, 0x1.50803ap-29f,
     0x1.dff3bap-27f,  -0x1.f703p-27f,   0x1.d15ap-27f,   -0x1.c1febp-26f,  -0x1.4a00f2p-27f, -0x1.ab109cp-32f,
     0x1.2e022ap-27f,  0x1.c116f8p-27f,  0x1.23539p-27f,  -0x1.bd7f34p-27f, -0x1.7b5208p-27f, -0x1.1a0082p-30f,
     0x1.1c9b9p-27f,   0x1.9aae92p-27f,  -0x1.bda4cp-28f, -0x1.edf99cp-27f, -0x1.cff80cp-29f, 0x1.0dfc62p-27f,
     -0x1.a53abap-27f, -0x1.9fb044p-31f, 0x1.8866c8p-28f, -0x1.f2728ep-29f, 0x1.ca1a8p-27f,   0x1.35d10ap-27f,
     -0x1.efe5e2p-27f, -0x1.c2d6aap-29f}};
inline constexpr std::array<Lookup, 5> kErfSlopes = {
    {{{0.0f,
       -0x1.7d900cp-4f,
       -0x1.730704p-3f,
       -0x1.09ac3cp-2f,
       -0x1.4c3884p-2f,
       -0x1.7edef6p-2f,
       -0x1.a0cddap-2f,
       -0x1.b29324p-2f,
       -0x1.b5db04p-2f,
       -0x1.ad1534p-2f,
       -0x1.9b12ep-2f,
       -0x1.82ad18p-2f,
       -0x1.667ed6p-2f,
       -0x1.48b7c4p-2f,
       -0x1.2b07a6p-2f,
       -0x1.0e9e18p-2f,
       -0x1.e87128p-3f,
       -0x1.b87062p-3f,
       -0x1.8d734cp-3f,
       -0x1.67575ap-3f,
       -0x1.45c32p-3f,
       -0x1.284242p-3f,
       -0x1.0e5896p-3f,
       -0x1.ef1beep-4f,
       -0x1.c6e932p-4f,
       -0x1.a35764p-4f,
       -0x1.83bfap-4f,
       -0x1.6793eep-4f,
       -0x1.4e5c5cp-4f,
       -0x1.37b3d8p-4f,
       -0x1.234526p-4f,
       -0x1.10c83ap-4f}},
     {{-0x1.812738p-2f, -0x1.766bc4p-2f, -0x1.576646p-2f, -0x1.276bap-2f, -0x1.d6dd16p-3f, -0x1.5275dp-3f,
       -0x1.9a7dbp-4f,  -0x1.45752ap-5f, 0x1.99213cp-7f,  0x1.bbf452p-5f, 0x1.5aa522p-4f,  0x1.ab150ep-4f,
       0x1.d4d96ep-4f,  0x1.df898cp-4f,  0x1.d354a2p-4f,  0x1.b7e9f4p-4f, 0x1.93ca4ap-4f,  0x1.6bfba2p-4f,
       0x1.4408cep-4f,  0x1.1e3152p-4f,  0x1.f76006p-5f,  0x1.ba09e6p-5f, 0x1.846d88p-5f,  0x1.560bd2p-5f,
       0x1.2e2218p-5f,  0x1.0bd914p-5f,  0x1.dcc02ep-6f,  0x1.a9f516p-6f, 0x1.7e09c2p-6f,  0x1.57e94ap-6f,
       0x1.36ac76p-6f,  0x1.199374p-6f}},
     {{0.0f,
       0x1.c5a8c8p-5f,
       0x1.acf0a6p-4f,
       0x1.24d6bp-3f,
       0x1.55cfbcp-3f,
       0x1.671c46p-3f,
       0x1.5acfbcp-3f,
       0x1.367b5cp-3f,
       0x1.01cf26p-3f,
       0x1.8a2854p-4f,
       0x1.0faa48p-4f,
       0x1.3fc0f2p-5f,
       0x1.094708p-6f,
       -0x1.685d6ep-10f,
       -0x1.c03602p-7f,
       -0x1.5d2c5ep-6f,
       -0x1.9c89ap-6f,
       -0x1.ae6c04p-6f,
       -0x1.a1de22p-6f,
       -0x1.8349ccp-6f,
       -0x1.5bfa1ap-6f,
       -0x1.324488p-6f,
       -0x1.0a0c1p-6f,
       -0x1.cac3ep-7f,
       -0x1.8a39a8p-7f,
       -0x1.52a6a2p-7f,
       -0x1.23692cp-7f,
       -0x1.f70a66p-8f,
       -0x1.b3d2b2p-8f,
       -0x1.7b2696p-8f,
       -0x1.4b3ef8p-8f,
       -0x1.229a7ep-8f}},
     {{0x1.cd8a34p-4f,  0x1.b42a3cp-4f,  0x1.6c4074p-4f,  0x1.017faap-4f,  0x1.091658p-5f,  0x1.dff244p-10f,
       -0x1.961da2p-6f, -0x1.6e38bcp-5f, -0x1.cfa806p-5f, -0x1.f05778p-5f, -0x1.da8b58p-5f, -0x1.9dff8p-5f,
       -0x1.4bec7p-5f,  -0x1.e79474p-6f, -0x1.429e48p-6f, -0x1.6ee88ap-7f, -0x1.313ae2p-8f, -0x1.0ad836p-14f,
       0x1.73e37ap-9f,  0x1.211a9ap-8f,  0x1.4a3c94p-8f,  0x1.4b3cd2p-8f,  0x1.35335cp-8f,  0x1.1435bp-8f,
       0x1.e00a28p-9f,  0x1.9a2d18p-9f,  0x1.5b35a4p-9f,  0x1.24b1a2p-9f,  0x1.ed33f2p-10f, 0x1.a0488ep-10f,
       0x1.607f98p-10f, 0x1.2bb06p-10f}},
     {{0.0f,
       -0x1.40651ep-6f,
       -0x1.25ef1cp-5f,
       -0x1.7c99cap-5f,
       -0x1.99ac68p-5f,
       -0x1.7e3e4ap-5f,
       -0x1.35a148p-5f,
       -0x1.a378ccp-6f,
       -0x1.9981c8p-7f,
       -0x1.3c5a5cp-11f,
       0x1.1a46dap-7f,
       0x1.dac80cp-7f,
       0x1.17e1dap-6f,
       0x1.1628acp-6f,
       0x1.ec14a6p-7f,
       0x1.8b80ccp-7f,
       0x1.226f4ep-7f,
       0x1.82fd9ap-8f,
       0x1.c75772p-9f,
       0x1.b3a042p-10f,
       0x1.c59e1ep-12f,
       -0x1.4c8406p-12f,
       -0x1.75604p-11f,
       -0x1.c7961cp-11f,
       -0x1.cdff94p-11f,
       -0x1.abf71ep-11f,
       -0x1.788d6ep-11f,
       -0x1.415ca8p-11f,
       -0x1.0d7a76p-11f,
       -0x1.bfd756p-12f,
       -0x1.72d5aep-12f,
       -0x1.331f4cp-12f}}}};

OPENTRN_INLINE __m512 scaled(__m512 x, __m512 exponent) { return _mm512_maskz_scalef_ps(kAllLanes, x, exponent); }
OPENTRN_INLINE __m512 lesser(__m512 x, __m512 y) { return _mm512_maskz_min_ps(kAllLanes, x, y); }
OPENTRN_INLINE __m512 greater(__m512 x, __m512 y) { return _mm512_maskz_max_ps(kAllLanes, x, y); }
OPENTRN_INLINE __m512 magnitude_of(__m512 x) { return _mm512_abs_ps(x); }

/// (high + low) * 2^exponent, rounded down.
struct ScaledSum {
  __m512 high, low, exponent;
};

// Beyond these bounds exp(x) and x * exp(x) are decided. A NaN passes through.
inline constexpr float kLeastExponent = -110.0f;
OPENTRN_INLINE ScaledSum exp_parts(__m512 x) {
  x = greater(broadcast(kLeastExponent), lesser(broadcast(89.0f), x));
  const __m512 rounded = multiply_add(x, broadcast(0x1.715476p5f), broadcast(0x1.8p23f));
  const __m512 k = rounded - broadcast(0x1.8p23f);
  const __m512 r = multiply_add(k, broadcast(-0x1.217f7ep-17f), multiply_add(k, broadcast(-0x1.62cp-6f), x));
  const __m512i index = _mm512_castps_si512(rounded);
  const __m512 power = kPowers[index];
  // Off by 2^-33 for |r| <= log(2) / 64.
  const __m512 square = r * r;
  const __m512 excess = multiply_add(square, multiply_add(r, broadcast(0x1.555556p-3f), broadcast(0x1.000088p-1f)), r);
  return {power, multiply_add(power, excess, kPowersRest[index]), k * broadcast(0x1p-5f)};
}

OPENTRN_INLINE __m512 fast_exp(__m512 x) {
  const ScaledSum e = exp_parts(x);
  return scaled(e.high + e.low, e.exponent);
}

/// high + low, the second far below the last place of the first.
struct FloatPair {
  __m512 high, low;
};

// 1 / (1 + e) with e = exp(-|x|), times e where x is negative: an estimate of 14 bits, and its error to the second
// order.
OPENTRN_INLINE FloatPair logistic_parts(__m512 x) {
  const __m512 one = broadcast(1.0f);
  const ScaledSum e = exp_parts(-magnitude_of(x));
  const __m512 sum = e.high + e.low;
  __m512 high = scaled(sum, e.exponent);
  __m512 low = scaled(e.low - (sum - e.high), e.exponent);
  const __m512 divisor = one + high;
  const __m512 divisor_rest = (high - (divisor - one)) + low;
  const __m512 estimate = _mm512_maskz_rcp14_ps(kAllLanes, divisor);
  const __m512 error = multiply_add(-estimate, divisor_rest, multiply_add(-estimate, divisor, one));
  const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
  high = _mm512_mask_mov_ps(one, negative, high);
  low = _mm512_maskz_mov_ps(negative, low);
  const __m512 quotient = high * estimate;
  const __m512 rest = multiply_add(high, estimate, -quotient);
  const __m512 correction = multiply_add(error, error, error);
  return {quotient, multiply_add(quotient, correction, multiply_add(low, estimate, rest))};
}

OPENTRN_INLINE __m512 fast_logistic(__m512 x) {
  const FloatPair value = logistic_parts(x);
  return value.high + value.low;
}

// Where the factor is 1, or so small that only the product may be rounded. Rare: kept out of the way of the others.
__attribute__((noinline)) inline __m512 far_silu(__m512 x) {
  const ScaledSum e = exp_parts(x);
  const __m512 product = x * e.high;
  const __m512 rest = multiply_add(x, e.low, multiply_add(x, e.high, -product));
  const __m512 tail = scaled(product + rest, e.exponent);
  const __m512 zero = x * broadcast(0.0f);
  const __mmask16 nothing = _mm512_cmp_ps_mask(x, broadcast(kLeastExponent), _CMP_LT_OQ);
  const __mmask16 positive = _mm512_cmp_ps_mask(x, broadcast(0.0f), _CMP_GT_OQ);
  return _mm512_mask_mov_ps(_mm512_mask_mov_ps(tail, nothing, zero), positive, x);
}

OPENTRN_INLINE __m512 with_sign_of(__m512 magnitude, __m512 x) {
  return _mm512_or_ps(magnitude, _mm512_and_ps(x, broadcast(-0.0f)));
}

OPENTRN_INLINE __m512 fast_silu(__m512 x) {
  const FloatPair value = logistic_parts(x);
  const __m512 product = x * value.high;
  const __m512 rest = multiply_add(x, value.low, multiply_add(x, value.high, -product));
  const __m512 result = with_sign_of(product + rest, x);
  const __mmask16 far = _mm512_cmp_ps_mask(magnitude_of(x), broadcast(80.0f), _CMP_NLT_UQ);
  if (far == 0) [[likely]]
    return result;
  return _mm512_mask_mov_ps(result, far, far_silu(x));
}

// From 3.93 on the result is 1. A NaN passes through.
OPENTRN_INLINE __m512 fast_erf(__m512 x) {
  const __m512 magnitude = lesser(broadcast(3.9374f), magnitude_of(x));
  const __m512 rounded = magnitude + broadcast(0x1.8p20f);
  const __m512 distance = magnitude - (rounded - broadcast(0x1.8p20f));
  const __m512i index = _mm512_castps_si512(rounded);
  __m512 slope = kErfSlopes[4][index];
  for (size_t i = 4; i-- > 0;) slope = multiply_add(slope, distance, kErfSlopes[i][index]);
  const __m512 value = kErfValue[index];
  const __m512 value_rest = multiply_add(slope, distance, kErfValueRest[index]);
  const __m512 product = magnitude * value;
  const __m512 result = product + multiply_add(magnitude, value_rest, multiply_add(magnitude, value, -product));
  return with_sign_of(result, x);
}

template <__m512 (*function)(__m512)>
void vector_row(int64_t n, std::byte* out, const std::byte* in) {
  float* to = as<float>(out);
  const float* from = as<float>(in);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, function(_mm512_loadu_ps(from + i)));
  if (i == n) return;
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  _mm512_mask_storeu_ps(to + i, rest, function(_mm512_maskz_loadu_ps(rest, from + i)));
}

inline UnaryKernel find_vector_activation(ActivationFunction function, ComputeType type) {
  if (type != ComputeType::F32) return find_activation(function, type);
  switch (function) {
    case ActivationFunction::Exp: return vector_row<fast_exp>;
    case ActivationFunction::Sigmoid: return vector_row<fast_logistic>;
    case ActivationFunction::Silu: return vector_row<fast_silu>;
    case ActivationFunction::Erf: return vector_row<fast_erf>;
    default: return find_activation(function, type);
  }
}
