// Functions of complex numbers that the C++ library lacks, or evaluates otherwise than PyTorch does.
#pragma once

#include <complex>

namespace opentrn {

/// By the textbook formula, as PyTorch multiplies; std::complex would repair infinities.
template <typename T>
std::complex<T> textbook_product(std::complex<T> x, std::complex<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

namespace complex_functions {

using Complex = std::complex<double>;

Complex power(Complex x, Complex y);
/// The angle whose tangent is x / y.
Complex atan2(Complex x, Complex y);
Complex cbrt(Complex x);
Complex expm1(Complex x);
Complex log1p(Complex x);
Complex logistic(Complex x);
Complex rsqrt(Complex x);
/// x / |x|, and 0 for 0.
Complex sign(Complex x);

}  // namespace complex_functions

}  // namespace opentrn
