// Powers. Exponents that are one number for all elements have cheaper and, for the roots, more accurate forms.

struct Power {
  template <Real T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(pow_of(static_cast<double>(x), static_cast<double>(y)));
    } else {
      return std::pow(x, y);
    }
  }
  template <typename Part>
  std::complex<Part> operator()(std::complex<Part> x, std::complex<Part> y) const {
    using Wide = std::complex<double>;
    return static_cast<std::complex<Part>>(complex_functions::power(static_cast<Wide>(x), static_cast<Wide>(y)));
  }
  // Wraps; a negative exponent gives the integer part of the true result.
  template <Integer T>
  T operator()(T base, T exponent) const {
    using Bits = std::make_unsigned_t<T>;
    if (std::is_signed_v<T> && exponent < 0) {
      if (base == 1) return T{1};
      if (base != static_cast<T>(-1)) return T{0};
      return exponent % 2 == 0 ? T{1} : base;
    }
    Bits result{1};
    Bits factor = static_cast<Bits>(base);
    for (Bits rest = static_cast<Bits>(exponent); rest != 0; rest = static_cast<Bits>(rest >> 1)) {
      if (rest & 1) result = static_cast<Bits>(result * factor);
      factor = static_cast<Bits>(factor * factor);
    }
    return static_cast<T>(result);
  }
};

struct Cube {
  template <typename T>
  OPENTRN_INLINE T operator()(T x) const {
    return x * x * x;
  }
};

template <Real T>
UnaryKernel power_by(T exponent) {
  if (exponent == 2) return unary_row<T, Square>;
  if (exponent == 3) return unary_row<T, Cube>;
  if (exponent == 1) return unary_row<T, Bypass>;
  if (exponent == -1) return unary_row<T, Reciprocal>;
  return nullptr;
}

template <Real T>
void power_row(int64_t n, std::byte* out, const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step) {
  const UnaryKernel special = n > 0 && b_step == 0 && a_step != 0 ? power_by(*as<T>(b)) : nullptr;
  if (special != nullptr) return special(n, out, a);
  binary_row<T, Power>(n, out, a, a_step, b, b_step);
}

inline BinaryKernel find_power(ComputeType type) {
  if (type == ComputeType::F32) return power_row<float>;
  if (type == ComputeType::F64) return power_row<double>;
  return binary_of<Power>(type);
}
