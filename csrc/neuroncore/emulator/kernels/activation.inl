// The functions of `activation`. Those of float32 are evaluated in double by base/vector_math.inl and rounded once, if
// the instruction set has no faster ones of its own; doubles and complex numbers go to the C++ library.

template <double (*function)(double)>
struct VectorMath {
  OPENTRN_INLINE float operator()(float x) const { return static_cast<float>(function(static_cast<double>(x))); }
};

/// A function of double, also used for float: evaluated in double and rounded once.
template <double (*function)(double)>
struct InDouble {
  template <Real T>
  T operator()(T x) const {
    return static_cast<T>(function(static_cast<double>(x)));
  }
};

/// A function of complex numbers, evaluated in complex128 and rounded once.
template <std::complex<double> (*function)(std::complex<double>)>
struct InComplex {
  template <typename Part>
  std::complex<Part> operator()(std::complex<Part> x) const {
    return static_cast<std::complex<Part>>(function(static_cast<std::complex<double>>(x)));
  }
};

template <std::complex<double> (*function)(const std::complex<double>&)>
std::complex<double> by_value(std::complex<double> x) {
  return function(x);
}
template <std::complex<double> (*function)(const std::complex<double>&)>
using ComplexLibrary = InComplex<by_value<function>>;

inline double library_logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double library_silu(double x) { return x >= 0 ? x / (1 + std::exp(-x)) : x * std::exp(x) / (1 + std::exp(x)); }
inline double library_gelu(double x) { return 0.5 * x * std::erfc(x * -0.70710678118654752440); }
// x * logistic(2 u) is x * (1 + tanh(u)) / 2 without its cancellation.
inline double library_gelu_tanh(double x) {
  return x * library_logistic(1.59576912160573071 * (x + 0.044715 * x * x * x));
}
inline double library_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// Keeps the sign of a zero and passes a NaN through.
struct Sign {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x) const {
    if constexpr (Integer<T>) {
      return static_cast<T>((x > 0) - (x < 0));
    } else {
      const T sign = std::copysign(T{1}, x);
      return x == 0 || x != x ? x : sign;
    }
  }
  template <typename Part>
  std::complex<Part> operator()(std::complex<Part> x) const {
    return static_cast<std::complex<Part>>(complex_functions::sign(static_cast<std::complex<double>>(x)));
  }
};
struct Sqrt {
  template <Real T>
  OPENTRN_INLINE T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct IsFinite {
  template <Real T>
  OPENTRN_INLINE T operator()(T x) const {
    return std::abs(x) <= std::numeric_limits<T>::max() ? T(1) : T(0);
  }
};
struct PopulationCount {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x) const {
    return static_cast<T>(std::popcount(bits_of(x)));
  }
};

// The number stays in its type; storing it as the integer it was truncated to is exact.
template <typename To>
struct TruncateTo {
  template <Real T>
  OPENTRN_INLINE T operator()(T x) const {
    constexpr T low = static_cast<T>(std::numeric_limits<To>::min());
    const T whole = std::trunc(x);
    return whole >= low && whole < -low ? whole : low;
  }
};

template <void (*function)(int64_t, const float*, float*)>
void periodic(int64_t n, std::byte* out, const std::byte* in) {
  function(n, as<float>(in), as<float>(out));
}

struct Ceil {
  OPENTRN_INLINE float operator()(float x) const { return std::ceil(x); }
};
struct Floor {
  OPENTRN_INLINE float operator()(float x) const { return std::floor(x); }
};
struct RoundNearestEven {
  OPENTRN_INLINE float operator()(float x) const { return std::nearbyint(x); }
};

inline UnaryKernel exact_activation(ActivationFunction function, ComputeType type) {
  switch (function) {
    case ActivationFunction::Copy: return unary_of<Bypass>(type);
    case ActivationFunction::Square: return unary_of<Square>(type);
    case ActivationFunction::Relu: return unary_of<Relu>(type);
    case ActivationFunction::Sqrt: return unary_of<Sqrt>(type);
    case ActivationFunction::Rsqrt: return unary_of<Rsqrt>(type);
    case ActivationFunction::Reciprocal: return unary_of<Reciprocal>(type);
    case ActivationFunction::Sign: return unary_of<Sign>(type);
    case ActivationFunction::Abs: return unary_of<Abs>(type);
    case ActivationFunction::IsFinite: return unary_of<IsFinite>(type);
    case ActivationFunction::TruncateToInt32: return unary_of<TruncateTo<int32_t>>(type);
    case ActivationFunction::TruncateToInt64: return unary_of<TruncateTo<int64_t>>(type);
    case ActivationFunction::PopulationCount: return unary_of<PopulationCount>(type);
    default: return nullptr;
  }
}

inline UnaryKernel float_activation(ActivationFunction function) {
  switch (function) {
    case ActivationFunction::Sigmoid: return unary_row<float, VectorMath<logistic_of>>;
    case ActivationFunction::Tanh: return unary_row<float, VectorMath<tanh_of>>;
    case ActivationFunction::Erf: return unary_row<float, VectorMath<erf_of>>;
    case ActivationFunction::Exp: return unary_row<float, VectorMath<exp_of>>;
    case ActivationFunction::Log: return unary_row<float, VectorMath<log_of>>;
    case ActivationFunction::ExponentialMinusOne: return unary_row<float, VectorMath<expm1_of>>;
    case ActivationFunction::LogPlusOne: return unary_row<float, VectorMath<log1p_of>>;
    case ActivationFunction::Erfc: return unary_row<float, VectorMath<erfc_of>>;
    case ActivationFunction::Silu: return unary_row<float, VectorMath<silu_of>>;
    case ActivationFunction::Gelu: return unary_row<float, VectorMath<gelu_of>>;
    case ActivationFunction::GeluTanh: return unary_row<float, VectorMath<gelu_tanh_of>>;
    case ActivationFunction::Softplus: return unary_row<float, VectorMath<softplus_of>>;
    case ActivationFunction::Arctan: return unary_row<float, VectorMath<atan_of>>;
    case ActivationFunction::Sin:
    case ActivationFunction::Sine: return periodic<sin_row>;
    case ActivationFunction::Cosine: return periodic<cos_row>;
    case ActivationFunction::Ceil: return unary_row<float, Ceil>;
    case ActivationFunction::Floor: return unary_row<float, Floor>;
    case ActivationFunction::RoundNearestEven: return unary_row<float, RoundNearestEven>;
    default: return nullptr;
  }
}

inline UnaryKernel real_activation(ActivationFunction function, ComputeType type) {
  switch (function) {
    case ActivationFunction::Sigmoid: return unary_of<InDouble<library_logistic>>(type);
    case ActivationFunction::Gelu: return unary_of<InDouble<library_gelu>>(type);
    case ActivationFunction::GeluTanh: return unary_of<InDouble<library_gelu_tanh>>(type);
    case ActivationFunction::Silu: return unary_of<InDouble<library_silu>>(type);
    case ActivationFunction::Tanh: return unary_of<InDouble<std::tanh>>(type);
    case ActivationFunction::Softplus: return unary_of<InDouble<library_softplus>>(type);
    case ActivationFunction::Erf: return unary_of<InDouble<std::erf>>(type);
    case ActivationFunction::Exp: return unary_of<InDouble<std::exp>>(type);
    case ActivationFunction::Log: return unary_of<InDouble<std::log>>(type);
    case ActivationFunction::Sin:
    case ActivationFunction::Sine: return unary_of<InDouble<std::sin>>(type);
    case ActivationFunction::Arctan: return unary_of<InDouble<std::atan>>(type);
    case ActivationFunction::Acos: return unary_of<InDouble<std::acos>>(type);
    case ActivationFunction::Acosh: return unary_of<InDouble<std::acosh>>(type);
    case ActivationFunction::Asin: return unary_of<InDouble<std::asin>>(type);
    case ActivationFunction::Asinh: return unary_of<InDouble<std::asinh>>(type);
    case ActivationFunction::Atanh: return unary_of<InDouble<std::atanh>>(type);
    case ActivationFunction::Cbrt: return unary_of<InDouble<std::cbrt>>(type);
    case ActivationFunction::Ceil: return unary_of<InDouble<std::ceil>>(type);
    case ActivationFunction::Cosh: return unary_of<InDouble<std::cosh>>(type);
    case ActivationFunction::Cosine: return unary_of<InDouble<std::cos>>(type);
    case ActivationFunction::Digamma: return unary_of<InDouble<digamma>>(type);
    case ActivationFunction::ErfInv: return unary_of<InDouble<erf_inv>>(type);
    case ActivationFunction::Erfc: return unary_of<InDouble<std::erfc>>(type);
    case ActivationFunction::ExponentialMinusOne: return unary_of<InDouble<std::expm1>>(type);
    case ActivationFunction::Floor: return unary_of<InDouble<std::floor>>(type);
    case ActivationFunction::Lgamma: return unary_of<InDouble<log_gamma>>(type);
    case ActivationFunction::LogPlusOne: return unary_of<InDouble<std::log1p>>(type);
    case ActivationFunction::RoundNearestAfz: return unary_of<InDouble<std::round>>(type);
    case ActivationFunction::RoundNearestEven: return unary_of<InDouble<std::nearbyint>>(type);
    case ActivationFunction::Sinh: return unary_of<InDouble<std::sinh>>(type);
    case ActivationFunction::Tan: return unary_of<InDouble<std::tan>>(type);
    default: return nullptr;
  }
}

inline UnaryKernel complex_activation(ActivationFunction function, ComputeType type) {
  switch (function) {
    case ActivationFunction::Sigmoid: return unary_of<InComplex<complex_functions::logistic>>(type);
    case ActivationFunction::Tanh: return unary_of<ComplexLibrary<std::tanh<double>>>(type);
    case ActivationFunction::Exp: return unary_of<ComplexLibrary<std::exp<double>>>(type);
    case ActivationFunction::Log: return unary_of<ComplexLibrary<std::log<double>>>(type);
    case ActivationFunction::Sin:
    case ActivationFunction::Sine: return unary_of<ComplexLibrary<std::sin<double>>>(type);
    case ActivationFunction::Sqrt: return unary_of<ComplexLibrary<std::sqrt<double>>>(type);
    case ActivationFunction::Arctan: return unary_of<ComplexLibrary<std::atan<double>>>(type);
    case ActivationFunction::Acos: return unary_of<ComplexLibrary<std::acos<double>>>(type);
    case ActivationFunction::Acosh: return unary_of<ComplexLibrary<std::acosh<double>>>(type);
    case ActivationFunction::Asin: return unary_of<ComplexLibrary<std::asin<double>>>(type);
    case ActivationFunction::Asinh: return unary_of<ComplexLibrary<std::asinh<double>>>(type);
    case ActivationFunction::Atanh: return unary_of<ComplexLibrary<std::atanh<double>>>(type);
    case ActivationFunction::Cbrt: return unary_of<InComplex<complex_functions::cbrt>>(type);
    case ActivationFunction::Cosh: return unary_of<ComplexLibrary<std::cosh<double>>>(type);
    case ActivationFunction::Cosine: return unary_of<ComplexLibrary<std::cos<double>>>(type);
    case ActivationFunction::ExponentialMinusOne: return unary_of<InComplex<complex_functions::expm1>>(type);
    case ActivationFunction::LogPlusOne: return unary_of<InComplex<complex_functions::log1p>>(type);
    case ActivationFunction::Sinh: return unary_of<ComplexLibrary<std::sinh<double>>>(type);
    case ActivationFunction::Tan: return unary_of<ComplexLibrary<std::tan<double>>>(type);
    default: return nullptr;
  }
}

inline UnaryKernel find_activation(ActivationFunction function, ComputeType type) {
  const bool complex = type == ComputeType::C64 || type == ComputeType::C128;
  if (const UnaryKernel fast = type == ComputeType::F32 ? float_activation(function) : nullptr) return fast;
  if (const UnaryKernel own = complex ? complex_activation(function, type) : real_activation(function, type))
    return own;
  return exact_activation(function, type);
}
