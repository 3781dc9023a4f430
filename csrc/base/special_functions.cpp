#include "base/special_functions.h"

#include <math.h>  // lgamma_r is POSIX, not C++

#include <cmath>
#include <limits>
#include <numbers>

namespace opentrn {

namespace {

constexpr double kHalfSqrtPi = 0.886226925452758013649;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Winitzki's closed form, right to three digits.
double erf_inv_estimate(double x) {
  constexpr double a = 0.147;
  const double logarithm = std::log1p(-x * x);
  const double t = 2 / (std::numbers::pi * a) + logarithm / 2;
  return std::copysign(std::sqrt(std::sqrt(t * t - logarithm / a) - t), x);
}

// Asymptotic series with Bernoulli numbers, for x >= 10.
double digamma_large(double x) {
  const double r = 1 / (x * x);
  const double series =
      r *
      (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
  return std::log(x) - 0.5 / x - series;
}

}  // namespace

double erf_inv(double x) {
  const double magnitude = std::abs(x);
  if (!(magnitude <= 1)) return kNaN;
  if (magnitude == 1) return std::copysign(kInfinity, x);
  if (magnitude < 1e-8) return x * kHalfSqrtPi;
  double y = magnitude < 1e-4 ? magnitude * kHalfSqrtPi : erf_inv_estimate(magnitude);
  // Halley's iteration: each round triples the digits. erfc keeps them where erf is nearly 1.
  for (int round = 0; round < 3; ++round) {
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    const double newton = error * kHalfSqrtPi * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

double log_gamma(double x) {
#if defined(__linux__)
  int sign = 0;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (std::floor(x) == x) return kNaN;
    const double fraction = x - std::trunc(x);
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  return digamma_large(x) + shift;
}

}  // namespace opentrn
