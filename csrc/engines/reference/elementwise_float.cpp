// Element-wise primitives on float32 and float64. Narrower floats are computed in float32 (elementwise.cpp).
#include <bit>
#include <cmath>

#include "base/special_functions.h"
#include "engines/reference/loops.h"
#include "engines/reference/vector_math.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;

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
    return x * y;
  }
};
struct Divide {
  template <typename T>
  T operator()(T x, T y) const {
    return x / y;
  }
};
// A NaN on either side is the result.
struct Maximum {
  template <typename T>
  T operator()(T x, T y) const {
    const T larger = x > y ? x : y;
    return x != x ? x : larger;
  }
};
struct Minimum {
  template <typename T>
  T operator()(T x, T y) const {
    const T smaller = x < y ? x : y;
    return x != x ? x : smaller;
  }
};
struct Atan2 {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(std::atan2(static_cast<double>(x), static_cast<double>(y)));
  }
};
struct NextAfter {
  template <typename T>
  T operator()(T x, T y) const {
    return std::nextafter(x, y);
  }
};
struct Power {
  template <typename T>
  T operator()(T x, T y) const {
    return std::pow(x, y);
  }
};
struct Remainder {
  template <typename T>
  T operator()(T x, T y) const {
    return std::fmod(x, y);
  }
};

struct Square {
  template <typename T>
  T operator()(T x) const {
    return x * x;
  }
};
struct Cube {
  template <typename T>
  T operator()(T x) const {
    return x * x * x;
  }
};
struct Reciprocal {
  template <typename T>
  T operator()(T x) const {
    return 1 / x;
  }
};
struct Copy {
  template <typename T>
  T operator()(T x) const {
    return x;
  }
};
struct Sqrt {
  template <typename T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <typename T>
  T operator()(T x) const {
    return 1 / std::sqrt(x);
  }
};
struct Abs {
  template <typename T>
  T operator()(T x) const {
    return std::abs(x);
  }
};
struct Negate {
  template <typename T>
  T operator()(T x) const {
    return -x;
  }
};
// Keeps the sign of a zero and passes a NaN through.
struct Sign {
  template <typename T>
  T operator()(T x) const {
    const T sign = std::copysign(T{1}, x);
    return x == 0 || x != x ? x : sign;
  }
};
// The imaginary part of a real number.
struct Zero {
  template <typename T>
  T operator()(T) const {
    return T{0};
  }
};
struct IsFinite {
  template <typename T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::isfinite(x));
  }
};

/// A function of double, also used for float32: evaluated in double and rounded once.
template <double (*function)(double)>
struct InDouble {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(function(static_cast<double>(x)));
  }
};

double logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

template <typename T, typename Function>
constexpr Loop unary = unary_loop<T, T, Function>;
template <typename T, typename Function>
constexpr Loop binary = binary_loop<T, T, T, Function>;

// Exponents that are one number for all elements have cheaper and, for the roots, more accurate forms.
template <typename T>
Loop power_by(T exponent) {
  if (exponent == 2) return unary<T, Square>;
  if (exponent == 3) return unary<T, Cube>;
  if (exponent == 1) return unary<T, Copy>;
  if (exponent == -1) return unary<T, Reciprocal>;
  return nullptr;
}

template <typename T>
void power_loop(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  const Loop special = n > 0 && steps[2] == 0 ? power_by(*as<T>(pointers[2])) : nullptr;
  (special != nullptr ? special : binary<T, Power>)(n, pointers, steps);
}

template <DenseFunction function>
void dense_loop(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  constexpr int64_t kDense = sizeof(float);
  if (steps[0] == kDense && steps[1] == kDense) return function(n, as<float>(pointers[1]), as<float>(pointers[0]));
  constexpr int64_t kBlock = 256;
  float block[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = n - begin < kBlock ? n - begin : kBlock;
    for (int64_t i = 0; i < count; ++i) block[i] = *as<float>(pointers[1] + (begin + i) * steps[1]);
    function(count, block, block);
    for (int64_t i = 0; i < count; ++i) *as<float>(pointers[0] + (begin + i) * steps[0]) = block[i];
  }
}

Loop float32_vector_unary(Op op) {
  switch (op) {
    case Op::Ceil: return dense_loop<dense_ceil>;
    case Op::Cosine: return dense_loop<dense_cos>;
    case Op::Erf: return dense_loop<dense_erf>;
    case Op::Exponential: return dense_loop<dense_exp>;
    case Op::ExponentialMinusOne: return dense_loop<dense_expm1>;
    case Op::Floor: return dense_loop<dense_floor>;
    case Op::Log: return dense_loop<dense_log>;
    case Op::LogPlusOne: return dense_loop<dense_log1p>;
    case Op::Logistic: return dense_loop<dense_logistic>;
    case Op::RoundNearestEven: return dense_loop<dense_round_nearest_even>;
    case Op::Rsqrt: return dense_loop<dense_rsqrt>;
    case Op::Sine: return dense_loop<dense_sin>;
    case Op::Sqrt: return dense_loop<dense_sqrt>;
    case Op::Tanh: return dense_loop<dense_tanh>;
    default: return nullptr;
  }
}

template <typename T>
Loop unary_of(Op op) {
  switch (op) {
    case Op::Abs: return unary<T, Abs>;
    case Op::Acos: return unary<T, InDouble<std::acos>>;
    case Op::Acosh: return unary<T, InDouble<std::acosh>>;
    case Op::Asin: return unary<T, InDouble<std::asin>>;
    case Op::Asinh: return unary<T, InDouble<std::asinh>>;
    case Op::Atan: return unary<T, InDouble<std::atan>>;
    case Op::Atanh: return unary<T, InDouble<std::atanh>>;
    case Op::Cbrt: return unary<T, InDouble<std::cbrt>>;
    case Op::Ceil: return unary<T, InDouble<std::ceil>>;
    case Op::Cosh: return unary<T, InDouble<std::cosh>>;
    case Op::Cosine: return unary<T, InDouble<std::cos>>;
    case Op::Digamma: return unary<T, InDouble<digamma>>;
    case Op::Erf: return unary<T, InDouble<std::erf>>;
    case Op::ErfInv: return unary<T, InDouble<erf_inv>>;
    case Op::Erfc: return unary<T, InDouble<std::erfc>>;
    case Op::Exponential: return unary<T, InDouble<std::exp>>;
    case Op::ExponentialMinusOne: return unary<T, InDouble<std::expm1>>;
    case Op::Floor: return unary<T, InDouble<std::floor>>;
    case Op::Imag: return unary<T, Zero>;
    case Op::IsFinite: return unary_loop<uint8_t, T, IsFinite>;
    case Op::Lgamma: return unary<T, InDouble<log_gamma>>;
    case Op::Log: return unary<T, InDouble<std::log>>;
    case Op::LogPlusOne: return unary<T, InDouble<std::log1p>>;
    case Op::Logistic: return unary<T, InDouble<logistic>>;
    case Op::Negate: return unary<T, Negate>;
    case Op::RoundNearestAfz: return unary<T, InDouble<std::round>>;
    case Op::RoundNearestEven: return unary<T, InDouble<std::nearbyint>>;
    case Op::Rsqrt: return unary<T, Rsqrt>;
    case Op::Sign: return unary<T, Sign>;
    case Op::Sine: return unary<T, InDouble<std::sin>>;
    case Op::Sinh: return unary<T, InDouble<std::sinh>>;
    case Op::Sqrt: return unary<T, Sqrt>;
    case Op::Tan: return unary<T, InDouble<std::tan>>;
    case Op::Tanh: return unary<T, InDouble<std::tanh>>;
    default: return nullptr;
  }
}

template <typename T>
Loop binary_of(Op op) {
  switch (op) {
    case Op::Add: return binary<T, Add>;
    case Op::Atan2: return binary<T, Atan2>;
    case Op::Divide: return binary<T, Divide>;
    case Op::Maximum: return binary<T, Maximum>;
    case Op::Minimum: return binary<T, Minimum>;
    case Op::Multiply: return binary<T, Multiply>;
    case Op::NextAfter: return binary<T, NextAfter>;
    case Op::Power: return power_loop<T>;
    case Op::Remainder: return binary<T, Remainder>;
    case Op::Subtract: return binary<T, Subtract>;
    default: return nullptr;
  }
}

// The neighbour of a 16-bit float, found by counting its bit patterns.
template <typename T>
struct NarrowNextAfter {
  T operator()(T x, T y) const {
    const float from = x;
    const float to = y;
    T result = x;
    if (from != from || to != to) return T(from + to);
    if (from == to) return y;
    if (from == 0) {
      result.bits = static_cast<uint16_t>((y.bits & 0x8000u) | 1u);
      return result;
    }
    const bool grows = (from < to) == (from > 0);
    result.bits = static_cast<uint16_t>(grows ? x.bits + 1 : x.bits - 1);
    return result;
  }
};

// The neighbour of an 8-bit float, whose formats differ in what their bit patterns mean: the nearest of all values
// beyond it.
template <typename T>
struct SmallNextAfter {
  T operator()(T x, T y) const {
    const float from = x;
    const float to = y;
    if (from != from || to != to) return T(from + to);
    T nearest = y;
    for (int bits = 0; bits < 256; ++bits) {
      T candidate;
      candidate.bits = static_cast<uint8_t>(bits);
      const float value = candidate;
      const bool between = from < to ? value > from && value < static_cast<float>(nearest)
                                     : value < from && value > static_cast<float>(nearest);
      if (between) nearest = candidate;
    }
    return nearest;
  }
};

}  // namespace

Loop float_unary(Op op, DType dtype) {
  if (dtype == DType::F64) return unary_of<double>(op);
  if (dtype != DType::F32) return nullptr;
  const Loop fast = float32_vector_unary(op);
  return fast != nullptr ? fast : unary_of<float>(op);
}

Loop float_binary(Op op, DType dtype) {
  if (dtype == DType::F64) return binary_of<double>(op);
  return dtype == DType::F32 ? binary_of<float>(op) : nullptr;
}

Loop narrow_binary(Op op, DType dtype) {
  if (op != Op::NextAfter) return nullptr;
  switch (dtype) {
    case DType::F16: return binary<Half, NarrowNextAfter<Half>>;
    case DType::BF16: return binary<BFloat16, NarrowNextAfter<BFloat16>>;
    case DType::F8E4M3FN: return binary<Float8E4M3FN, SmallNextAfter<Float8E4M3FN>>;
    case DType::F8E5M2: return binary<Float8E5M2, SmallNextAfter<Float8E5M2>>;
    case DType::F8E4M3FNUZ: return binary<Float8E4M3FNUZ, SmallNextAfter<Float8E4M3FNUZ>>;
    case DType::F8E5M2FNUZ: return binary<Float8E5M2FNUZ, SmallNextAfter<Float8E5M2FNUZ>>;
    case DType::F8E8M0FNU: return binary<Float8E8M0FNU, SmallNextAfter<Float8E8M0FNU>>;
    default: return nullptr;
  }
}

}  // namespace opentrn::engines::reference
