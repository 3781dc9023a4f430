// Element-wise primitives on complex numbers. Functions are evaluated in complex128 and rounded once.
#include <cmath>
#include <complex>

#include "base/complex_functions.h"
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
struct Multiply {
  template <typename T>
  T operator()(T x, T y) const {
    return textbook_product(x, y);
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

Complex128 negate(Complex128 x) { return -x; }

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
    case Op::Cbrt: return unary_loop<T, T, InDouble<complex_functions::cbrt>>;
    case Op::ExponentialMinusOne: return unary_loop<T, T, InDouble<complex_functions::expm1>>;
    case Op::LogPlusOne: return unary_loop<T, T, InDouble<complex_functions::log1p>>;
    case Op::Logistic: return unary_loop<T, T, InDouble<complex_functions::logistic>>;
    case Op::Negate: return unary_loop<T, T, InDouble<negate>>;
    case Op::Rsqrt: return unary_loop<T, T, InDouble<complex_functions::rsqrt>>;
    case Op::Sign: return unary_loop<T, T, InDouble<complex_functions::sign>>;
    default: return library_unary<T>(op);
  }
}

template <typename T>
Loop binary_of(Op op) {
  switch (op) {
    case Op::Add: return binary_loop<T, T, T, Add>;
    case Op::Atan2: return binary_loop<T, T, T, BinaryInDouble<complex_functions::atan2>>;
    case Op::Divide: return binary_loop<T, T, T, Divide>;
    case Op::Multiply: return binary_loop<T, T, T, Multiply>;
    case Op::Power: return binary_loop<T, T, T, BinaryInDouble<complex_functions::power>>;
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
