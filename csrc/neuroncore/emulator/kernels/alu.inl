// The operations of the arithmetic units on dense arrays. An operation is a function object; the types it can be called
// with are those it is defined for.

// Wrapping arithmetic goes through the unsigned type.
template <Integer T>
OPENTRN_INLINE auto bits_of(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}
template <Integer T>
OPENTRN_INLINE bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

struct First {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T) const {
    return x;
  }
};
struct Add {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (Integer<T>)
      return static_cast<T>(bits_of(x) + bits_of(y));
    else
      return x + y;
  }
};
struct Subtract {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (Integer<T>)
      return static_cast<T>(bits_of(x) - bits_of(y));
    else
      return x - y;
  }
};
struct Multiply {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (Integer<T>)
      return static_cast<T>(bits_of(x) * bits_of(y));
    else if constexpr (Complex<T>)
      return textbook_product(x, y);
    else
      return x * y;
  }
};
struct Divide {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (Integer<T>) {
      if (y == 0) raise_zero_division();
      return is_minus_one(y) ? Subtract{}(T{0}, x) : static_cast<T>(x / y);
    } else {
      return x / y;
    }
  }
};
struct Remainder {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    if constexpr (Integer<T>) {
      if (y == 0) raise_zero_division();
      return is_minus_one(y) ? T{0} : static_cast<T>(x % y);
    } else {
      return std::fmod(x, y);
    }
  }
};
// A NaN on either side is the result.
struct Max {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    const T larger = x > y ? x : y;
    return x != x ? x : larger;
  }
};
struct Min {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    const T smaller = x < y ? x : y;
    return x != x ? x : smaller;
  }
};

struct Abs {
  template <typename T>
  OPENTRN_INLINE T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (Integer<T>)
      return x < 0 ? Subtract{}(T{0}, x) : x;
    else if constexpr (Complex<T>)
      return T(modulus(x));
    else
      return std::abs(x);
  }

 private:
  template <typename Part>
  static Part modulus(std::complex<Part> x) {
    return static_cast<Part>(std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag())));
  }
};
struct AbsMax {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return Max{}(Abs{}(x), Abs{}(y));
  }
};
struct AbsMin {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return Min{}(Abs{}(x), Abs{}(y));
  }
};

// Comparisons and logic give 1 and 0 in the type they compare.
struct IsEqual {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x == y ? T(1) : T(0);
  }
};
struct NotEqual {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x != y ? T(1) : T(0);
  }
};
struct GreaterEqual {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x >= y ? T(1) : T(0);
  }
};
struct GreaterThan {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x > y ? T(1) : T(0);
  }
};
struct LessEqual {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x <= y ? T(1) : T(0);
  }
};
struct LessThan {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x < y ? T(1) : T(0);
  }
};
struct LogicalAnd {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x != T(0) && y != T(0) ? T(1) : T(0);
  }
};
struct LogicalOr {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x != T(0) || y != T(0) ? T(1) : T(0);
  }
};
struct LogicalXor {
  template <typename T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return (x != T(0)) != (y != T(0)) ? T(1) : T(0);
  }
};

struct BitwiseAnd {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x & y;
  }
};
struct BitwiseOr {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x | y;
  }
};
struct BitwiseXor {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return x ^ y;
  }
};

// A count below 0 or not below the width shifts everything out.
template <Integer T>
OPENTRN_INLINE bool shifts_out(T count) {
  return bits_of(count) >= sizeof(T) * 8;
}
template <Integer T>
OPENTRN_INLINE T count_within(T count) {
  return static_cast<T>(bits_of(count) & (sizeof(T) * 8 - 1));
}
struct ShiftLeft {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T count) const {
    return shifts_out(count) ? T{0} : static_cast<T>(bits_of(x) << count_within(count));
  }
};
struct LogicalShiftRight {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T count) const {
    return shifts_out(count) ? T{0} : static_cast<T>(bits_of(x) >> count_within(count));
  }
};
struct ArithmeticShiftRight {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x, T count) const {
    const auto value = static_cast<std::make_signed_t<T>>(x);
    return static_cast<T>(value >> (shifts_out(count) ? static_cast<T>(sizeof(T) * 8 - 1) : count_within(count)));
  }
};

struct Atan2 {
  template <Real T>
  T operator()(T x, T y) const {
    return static_cast<T>(std::atan2(static_cast<double>(x), static_cast<double>(y)));
  }
  template <typename Part>
  std::complex<Part> operator()(std::complex<Part> x, std::complex<Part> y) const {
    using Wide = std::complex<double>;
    return static_cast<std::complex<Part>>(complex_functions::atan2(static_cast<Wide>(x), static_cast<Wide>(y)));
  }
};
struct NextAfter {
  template <Real T>
  OPENTRN_INLINE T operator()(T x, T y) const {
    return std::nextafter(x, y);
  }
};

struct Bypass {
  template <typename T>
  OPENTRN_INLINE T operator()(T x) const {
    return x;
  }
};
struct Square {
  template <typename T>
  OPENTRN_INLINE T operator()(T x) const {
    return Multiply{}(x, x);
  }
};
struct Relu {
  template <Ordered T>
  OPENTRN_INLINE T operator()(T x) const {
    return Max{}(x, T{0});
  }
};
struct Reciprocal {
  template <typename T>
    requires(Real<T> || Complex<T>)
  OPENTRN_INLINE T operator()(T x) const {
    return T(1) / x;
  }
};
struct Rsqrt {
  template <Real T>
  OPENTRN_INLINE T operator()(T x) const {
    return 1 / std::sqrt(x);
  }
  template <typename Part>
  std::complex<Part> operator()(std::complex<Part> x) const {
    return static_cast<std::complex<Part>>(complex_functions::rsqrt(static_cast<std::complex<double>>(x)));
  }
};
struct Invert {
  template <Integer T>
  OPENTRN_INLINE T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

template <typename T, typename Function>
void unary_row(int64_t n, std::byte* out, const std::byte* in) {
  const Function function{};
  T* to = as<T>(out);
  const T* from = as<T>(in);
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) to[i] = function(from[i]);
}

template <typename T, typename Function>
void binary_row(int64_t n, std::byte* out, const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step) {
  const Function function{};
  T* to = as<T>(out);
  const T* left = as<T>(a);
  const T* right = as<T>(b);
  if (n == 0) return;
  if (a_step != 0 && b_step != 0) {
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = function(left[i], right[i]);
  } else if (a_step != 0) {
    const T value = *right;
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = function(left[i], value);
  } else if (b_step != 0) {
    const T value = *left;
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = function(value, right[i]);
  } else {
    const T value = function(*left, *right);
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  }
}

template <typename Function>
UnaryKernel unary_of(ComputeType type) {
  return visit_compute_type(type, []<typename T>() -> UnaryKernel {
    if constexpr (std::is_invocable_v<Function, T>) return unary_row<T, Function>;
    return nullptr;
  });
}

template <typename Function>
BinaryKernel binary_of(ComputeType type) {
  return visit_compute_type(type, []<typename T>() -> BinaryKernel {
    if constexpr (std::is_invocable_v<Function, T, T>) return binary_row<T, Function>;
    return nullptr;
  });
}
