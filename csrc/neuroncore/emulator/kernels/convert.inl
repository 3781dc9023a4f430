// Loads and stores: element types to the types arithmetic is done in, and back, rounded once.

/// A byte that holds a bool; any value but 0 is true.
struct Flag {
  uint8_t byte = 0;
};

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, Flag, T>;

template <typename T>
inline constexpr bool is_small_float = false;
template <SmallFormat format>
inline constexpr bool is_small_float<SmallFloat<format>> = true;
template <typename T>
inline constexpr bool is_narrow_float = is_small_float<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool is_any_complex = Complex<T> || std::is_same_v<T, ComplexHalf>;

// Half to even, saturating; NaN, for which the hardware's documents name no integer, gives 0.
template <Integer To>
OPENTRN_INLINE To round_to_integer(double value) {
  constexpr double kRounder = 0x1.8p52;
  if constexpr (sizeof(To) < 8) {
    constexpr auto low = static_cast<double>(std::numeric_limits<To>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<To>::max());
    double clamped = value > low ? value : low;
    clamped = clamped < high ? clamped : high;
    const double rounded = (clamped + kRounder) - kRounder;
    const double number = value == value ? rounded : 0.0;
    if constexpr (std::is_same_v<To, uint32_t>) return static_cast<To>(static_cast<int64_t>(number));
    return static_cast<To>(static_cast<int32_t>(number));
  } else {
    constexpr double low = std::is_signed_v<To> ? -0x1p63 : 0.0;
    constexpr double high = std::is_signed_v<To> ? 0x1p63 : 0x1p64;  // the first that does not fit
    const double rounded = std::abs(value) < 0x1p51 ? (value + kRounder) - kRounder : value;
    if (!(rounded > low)) return rounded == rounded ? std::numeric_limits<To>::min() : To{0};
    return rounded < high ? static_cast<To>(rounded) : std::numeric_limits<To>::max();
  }
}

template <typename To, typename From>
OPENTRN_INLINE To convert(From value);

template <typename To, typename Part>
OPENTRN_INLINE To convert_parts(Part real, Part imag) {
  if constexpr (std::is_same_v<To, ComplexHalf>) {
    ComplexHalf result;
    result.real = convert<Half>(real);
    result.imag = convert<Half>(imag);
    return result;
  } else {
    using ToPart = typename To::value_type;
    return To(convert<ToPart>(real), convert<ToPart>(imag));
  }
}

// Complex to real drops the imaginary part; integers wrap; whatever is not zero is true. Doubles and 64-bit integers
// become narrow floats by way of float32, as in PyTorch.
template <typename To, typename From>
OPENTRN_INLINE To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Flag>) {
    return convert<To>(static_cast<uint32_t>(value.byte != 0));
  } else if constexpr (is_narrow_float<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, ComplexHalf>) {
    return convert<To>(std::complex<float>(value));
  } else if constexpr (Complex<From> && std::is_same_v<To, Flag>) {
    return Flag{static_cast<uint8_t>(value.real() != 0 || value.imag() != 0)};
  } else if constexpr (Complex<From> && is_any_complex<To>) {
    return convert_parts<To>(value.real(), value.imag());
  } else if constexpr (Complex<From>) {
    return convert<To>(value.real());
  } else if constexpr (is_any_complex<To>) {
    return convert_parts<To>(value, From{});
  } else if constexpr (std::is_same_v<To, Flag>) {
    return Flag{static_cast<uint8_t>(value != From{})};
  } else if constexpr (is_narrow_float<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (Integer<To> && Real<From>) {
    return round_to_integer<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Decoding an 8-bit float is a look-up; the address of the table is found once for each call of a kernel.
template <typename From>
struct Reader {
  From operator()(From value) const { return value; }
};
template <SmallFormat format>
struct Reader<SmallFloat<format>> {
  const float* codes = small_values(format);
  float operator()(SmallFloat<format> value) const { return codes[value.bits]; }
};

template <typename To, typename From>
void load_row(int64_t n, std::byte* out, const std::byte* in, int64_t in_step) {
  const Reader<From> read{};
  To* to = as<To>(out);
  if (in_step == sizeof(From)) {
    const From* from = as<From>(in);
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(read(from[i]));
    return;
  }
  if (in_step == 0 && n > 0) {
    const To value = convert<To>(read(*as<From>(in)));
    for (int64_t i = 0; i < n; ++i) to[i] = value;
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(read(*as<From>(in + i * in_step)));
}

template <typename To, typename From>
void store_row(int64_t n, std::byte* out, int64_t out_step, const std::byte* in) {
  const From* from = as<From>(in);
  if (out_step == sizeof(To)) {
    To* to = as<To>(out);
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) *as<To>(out + i * out_step) = convert<To>(from[i]);
}

inline LoadKernel find_load(DType from, ComputeType to) {
  return visit_dtype(from, [to]<typename From>() {
    return visit_compute_type(to, []<typename To>() -> LoadKernel { return load_row<To, Stored<From>>; });
  });
}

inline StoreKernel find_store(ComputeType from, DType to) {
  return visit_dtype(to, [from]<typename To>() {
    return visit_compute_type(from, []<typename From>() -> StoreKernel { return store_row<Stored<To>, From>; });
  });
}
