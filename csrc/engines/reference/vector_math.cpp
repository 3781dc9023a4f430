// The functions of base/vector_math.inl over dense arrays.
#include "engines/reference/vector_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engines/reference/target.h"

namespace opentrn::engines::reference {

namespace {

OPENTRN_INLINE double multiply_add(double a, double b, double c) { return a * b + c; }

#include "base/vector_math.inl"

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

OPENTRN_VECTOR_CLONES void dense_sin(int64_t n, const float* in, float* out) { sin_row(n, in, out); }
OPENTRN_VECTOR_CLONES void dense_cos(int64_t n, const float* in, float* out) { cos_row(n, in, out); }

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
