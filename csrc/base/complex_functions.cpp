#include "base/complex_functions.h"

#include <cmath>

namespace opentrn::complex_functions {

Complex power(Complex x, Complex y) {
  if (y == 0.0) return 1.0;
  if (y == 1.0) return x;
  if (y == 2.0) return textbook_product(x, x);
  if (x == 0.0) return y.real() > 0 ? Complex(0.0) : std::pow(x, y);
  return std::pow(x, y);
}

// -i log((y + i x) / sqrt(x^2 + y^2))
Complex atan2(Complex x, Complex y) {
  const Complex i(0, 1);
  return -i * std::log((y + i * x) / std::sqrt(x * x + y * y));
}

Complex cbrt(Complex x) { return x == 0.0 ? x : std::pow(x, 1.0 / 3); }

Complex expm1(Complex x) {
  const double half_sine = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine,
          std::exp(x.real()) * std::sin(x.imag())};
}

Complex log1p(Complex x) {
  const double magnitude = std::hypot(1 + x.real(), x.imag());
  const bool near_one = magnitude > 0.5 && magnitude < 2;
  const double square_minus_one = x.real() * (2 + x.real()) + x.imag() * x.imag();
  return {near_one ? std::log1p(square_minus_one) / 2 : std::log(magnitude), std::atan2(x.imag(), 1 + x.real())};
}

Complex logistic(Complex x) { return x.real() >= 0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x)); }

Complex rsqrt(Complex x) { return 1.0 / std::sqrt(x); }

Complex sign(Complex x) {
  const double magnitude = std::abs(x);
  return magnitude == 0 ? x : x / magnitude;
}

}  // namespace opentrn::complex_functions
