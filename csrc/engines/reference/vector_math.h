// Transcendental functions of float32 over dense arrays, within one unit in the last place.
#pragma once

#include <cstdint>

namespace opentrn::engines::reference {

/// `in` and `out` are the same array or do not overlap.
using DenseFunction = void (*)(int64_t n, const float* in, float* out);

void dense_exp(int64_t n, const float* in, float* out);
void dense_expm1(int64_t n, const float* in, float* out);
void dense_log(int64_t n, const float* in, float* out);
void dense_log1p(int64_t n, const float* in, float* out);
void dense_logistic(int64_t n, const float* in, float* out);
void dense_tanh(int64_t n, const float* in, float* out);
void dense_erf(int64_t n, const float* in, float* out);
void dense_sin(int64_t n, const float* in, float* out);
void dense_cos(int64_t n, const float* in, float* out);
void dense_sqrt(int64_t n, const float* in, float* out);
void dense_rsqrt(int64_t n, const float* in, float* out);
void dense_floor(int64_t n, const float* in, float* out);
void dense_ceil(int64_t n, const float* in, float* out);
void dense_round_nearest_even(int64_t n, const float* in, float* out);

}  // namespace opentrn::engines::reference
