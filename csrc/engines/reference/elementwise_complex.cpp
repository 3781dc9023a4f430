// Element-wise primitives on complex numbers. Functions are evaluated in complex128 and rounded once.
#include <cmath>
#include <complex>

#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;
using Complex128 = std::complex<double>;

struct Add {
  template <typename T>
  T operator()(T x, T y) const {
    return x + y;
  }
};
struct Subtract {
  template <typename T>
  T operator()(T x, T y) const {
    return x - y;
  }
};
// By the textbook formula, as PyTorch multiplies; std::complex would repair infinities.
struct Multiply {
  template <typename T>
  T operator()(T x, T y) const {
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  }
};
struct Divide {
  template <typename T>
  T operator()(T x, T y) const {
    return x / y;
  }
};
struct MakeComplex {
  template <typename T>
  std::complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
};

template <Complex128 (*function)(Complex128, Complex128)>
struct BinaryInDouble {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(function(static_cast<Complex128>(x), static_cast<Complex128>(y)));
  }
};

template <Complex128 (*function)(Complex128)>
struct InDouble {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(function(static_cast<Complex128>(x)));
  }
};

struct Abs {
  template <typename T>
  T operator()(std::complex<T> x) const {
    return static_cast<T>(std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag())));
  }
};

Complex128 power(Complex128 x, Complex128 y) {
  if (y == 0.0) return 1.0;
  if (y == 1.0) return x;
  if (y == 2.0) return Multiply{}(x, x);
  if (x == 0.0) return y.real() > 0 ? Complex128(0.0) : std::pow(x, y);
  return std::pow(x, y);
}

// -i log((y + i x) / sqrt(x^2 + y^2)): the angle whose tangent is x / y.
Complex128 atan2(Complex128 x, Complex128 y) {
  const Complex128 i(0, 1);
  return -i * std::log((y + i * x) / std::sqrt(x * x + y * y));
}

Complex128 cbrt(Complex128 x) { return x == 0.0 ? x : std::pow(x, 1.0 / 3); }
Complex128 expm1(Complex128 x) {
  const double half_sine = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine,
          std::exp(x.real()) * std::sin(x.imag())};
}
Complex128 log1p(Complex128 x) {
  const double magnitude = std::hypot(1 + x.real(), x.imag());
  const bool near_one = magnitude > 0.5 && magnitude < 2;
  const double square_minus_one = x.real() * (2 + x.real()) + x.imag() * x.imag();
  return {near_one ? std::log1p(square_minus_one) / 2 : std::log(magnitude), std::atan2(x.imag(), 1 + x.real())};
}
Complex128 logistic(Complex128 x) {
  return x.real() >= 0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}
Complex128 negate(Complex128 x) { return -x; }
Complex128 rsqrt(Complex128 x) { return 1.0 / std::sqrt(x); }
Complex128 sign(Complex128 x) {
  const double magnitude = std::abs(x);
  return magnitude == 0 ? x : x / magnitude;
}

// The library's functions by value, so that they can be template arguments.
template <Complex128 (*function)(const Complex128&)>
Complex128 by_value(Complex128 x) {
  return function(x);
}

template <typename T>
Loop library_unary(Op op) {
  switch (op) {
    case Op::Acos: return unary_loop<T, T, InDouble<by_value<std::acos<double>>>>;
    case Op::Acosh: return unary_loop<T, T, InDouble<by_value<std::acosh<double>>>>;
    case Op::Asin: return unary_loop<T, T, InDouble<by_value<std::asin<double>>>>;
    case Op::Asinh: return unary_loop<T, T, InDouble<by_value<std::asinh<double>>>>;
    case Op::Atan: return unary_loop<T, T, InDouble<by_value<std::atan<double>>>>;
    case Op::Atanh: return unary_loop<T, T, InDouble<by_value<std::atanh<double>>>>;
    case Op::Cosh: return unary_loop<T, T, InDouble<by_value<std::cosh<double>>>>;
    case Op::Cosine: return unary_loop<T, T, InDouble<by_value<std::cos<double>>>>;
    case Op::Exponential: return unary_loop<T, T, InDouble<by_value<std::exp<double>>>>;
    case Op::Log: return unary_loop<T, T, InDouble<by_value<std::log<double>>>>;
    case Op::Sine: return unary_loop<T, T, InDouble<by_value<std::sin<double>>>>;
    case Op::Sinh: return unary_loop<T, T, InDouble<by_value<std::sinh<double>>>>;
    case Op::Sqrt: return unary_loop<T, T, InDouble<by_value<std::sqrt<double>>>>;
    case Op::Tan: return unary_loop<T, T, InDouble<by_value<std::tan<double>>>>;
    case Op::Tanh: return unary_loop<T, T, InDouble<by_value<std::tanh<double>>>>;
    default: return nullptr;
  }
}

template <typename Part>
Loop unary_of(Op op) {
  using T = std::complex<Part>;
  switch (op) {
    case Op::Abs: return unary_loop<Part, T, Abs>;
    case Op::Cbrt: return unary_loop<T, T, InDouble<cbrt>>;
    case Op::ExponentialMinusOne: return unary_loop<T, T, InDouble<expm1>>;
    case Op::LogPlusOne: return unary_loop<T, T, InDouble<log1p>>;
    case Op::Logistic: return unary_loop<T, T, InDouble<logistic>>;
    case Op::Negate: return unary_loop<T, T, InDouble<negate>>;
    case Op::Rsqrt: return unary_loop<T, T, InDouble<rsqrt>>;
    case Op::Sign: return unary_loop<T, T, InDouble<sign>>;
    default: return library_unary<T>(op);
  }
}

template <typename T>
Loop binary_of(Op op) {
  switch (op) {
    case Op::Add: return binary_loop<T, T, T, Add>;
    case Op::Atan2: return binary_loop<T, T, T, BinaryInDouble<atan2>>;
    case Op::Divide: return binary_loop<T, T, T, Divide>;
    case Op::Multiply: return binary_loop<T, T, T, Multiply>;
    case Op::Power: return binary_loop<T, T, T, BinaryInDouble<power>>;
    case Op::Subtract: return binary_loop<T, T, T, Subtract>;
    default: return nullptr;
  }
}

}  // namespace

Loop complex_unary(Op op, DType dtype) {
  if (dtype == DType::C64) return unary_of<float>(op);
  return dtype == DType::C128 ? unary_of<double>(op) : nullptr;
}

Loop complex_binary(Op op, DType dtype) {
  if (dtype == DType::C64) return binary_of<std::complex<float>>(op);
  return dtype == DType::C128 ? binary_of<std::complex<double>>(op) : nullptr;
}

Loop complex_from_parts(DType part) {
  if (part == DType::F32) return binary_loop<std::complex<float>, float, float, MakeComplex>;
  return part == DType::F64 ? binary_loop<std::complex<double>, double, double, MakeComplex> : nullptr;
}

}  // namespace opentrn::engines::reference
