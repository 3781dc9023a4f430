// Element type conversion: the one place where a value of one type becomes a value of another, as CPU PyTorch's `.to()`
// does.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"
#include "base/shape.h"

namespace opentrn {

template <typename T>
inline constexpr bool is_complex_type = false;
template <typename T>
inline constexpr bool is_complex_type<std::complex<T>> = true;
template <>
inline constexpr bool is_complex_type<ComplexHalf> = true;

/// True for the types that are stored narrow and computed in float.
template <typename T>
inline constexpr bool is_narrow_float_type = false;
template <>
inline constexpr bool is_narrow_float_type<Half> = true;
template <>
inline constexpr bool is_narrow_float_type<BFloat16> = true;
template <SmallFormat format>
inline constexpr bool is_narrow_float_type<SmallFloat<format>> = true;

namespace detail {

// What the x86 conversion instruction gives: the smallest integer for NaN and whatever does not fit.
template <typename To, typename From>
To truncate_or_smallest(From value) {
  constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
  // -low is the first value that does not fit. One comparison keeps low - 0.5 in range for the wider float.
  const bool fits = value < -low && (value >= low || (sizeof(From) > sizeof(To) && value > low - From(1)));
  return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
}

template <typename To, typename From>
To float_to_integer(From value) {
  if constexpr (std::is_same_v<To, int64_t> || std::is_same_v<To, int32_t>) {
    return truncate_or_smallest<To>(value);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr From two_63 = static_cast<From>(0x1p63);
    if (!(value >= two_63)) return static_cast<uint64_t>(truncate_or_smallest<int64_t>(value));
    return static_cast<uint64_t>(truncate_or_smallest<int64_t>(value - two_63)) ^ (uint64_t{1} << 63);
  } else if constexpr (std::is_signed_v<To> || std::is_same_v<To, uint16_t>) {
    return static_cast<To>(truncate_or_smallest<int32_t>(value));
  } else {
    return static_cast<To>(truncate_or_smallest<int64_t>(value));
  }
}

template <typename From>
auto real_part(From value) {
  if constexpr (std::is_same_v<From, ComplexHalf>) {
    return value.real;
  } else {
    return value.real();
  }
}

template <typename From>
auto imag_part(From value) {
  if constexpr (std::is_same_v<From, ComplexHalf>) {
    return value.imag;
  } else {
    return value.imag();
  }
}

template <typename To, typename Real>
To make_complex(Real real, Real imag);

}  // namespace detail

/// One element converted: non-zero and NaN become true, complex to real drops the imaginary part, integers wrap, floats
/// out of an integer's range give what x86 gives.
template <typename To, typename From>
To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_narrow_float_type<From>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (is_complex_type<To>) {
    if constexpr (is_complex_type<From>) {
      return detail::make_complex<To>(detail::real_part(value), detail::imag_part(value));
    } else {
      return detail::make_complex<To>(value, From{});
    }
  } else if constexpr (is_complex_type<From> && std::is_same_v<To, bool>) {
    return convert_element<bool>(detail::real_part(value)) || convert_element<bool>(detail::imag_part(value));
  } else if constexpr (is_complex_type<From>) {
    return convert_element<To>(detail::real_part(value));
  } else if constexpr (is_narrow_float_type<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::float_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

namespace detail {

template <typename To, typename Real>
To make_complex(Real real, Real imag) {
  if constexpr (std::is_same_v<To, ComplexHalf>) {
    ComplexHalf result;
    result.real = convert_element<Half>(real);
    result.imag = convert_element<Half>(imag);
    return result;
  } else {
    using Part = typename To::value_type;
    return To(convert_element<Part>(real), convert_element<Part>(imag));
  }
}

}  // namespace detail

/// Copies `shape` elements between two strided tensors (strides in elements, the pointers at the first element),
/// converting each. The two must not overlap, except that they may be the very same elements when the types have the
/// same size.
void convert_strided(const void* source, DType source_dtype, const Dims& source_strides, void* destination,
                     DType destination_dtype, const Dims& destination_strides, const Dims& shape);

}  // namespace opentrn
