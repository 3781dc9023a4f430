// The C++ types behind ComputeType, and what operations are defined for which of them.

template <typename T>
concept Real = std::is_floating_point_v<T>;
template <typename T>
concept Integer = std::is_integral_v<T>;
template <typename T>
inline constexpr bool is_complex_number = false;
template <typename T>
inline constexpr bool is_complex_number<std::complex<T>> = true;
template <typename T>
concept Complex = is_complex_number<T>;
template <typename T>
concept Ordered = Real<T> || Integer<T>;

/// Calls `function.operator()<T>()` with the type that arithmetic is done in.
template <typename Function>
auto visit_compute_type(ComputeType type, Function function) {
  switch (type) {
    case ComputeType::F32: return function.template operator()<float>();
    case ComputeType::I32: return function.template operator()<int32_t>();
    case ComputeType::U32: return function.template operator()<uint32_t>();
    case ComputeType::I64: return function.template operator()<int64_t>();
    case ComputeType::U64: return function.template operator()<uint64_t>();
    case ComputeType::F64: return function.template operator()<double>();
    case ComputeType::C64: return function.template operator()<std::complex<float>>();
    case ComputeType::C128: return function.template operator()<std::complex<double>>();
  }
  __builtin_unreachable();
}

template <typename T>
OPENTRN_INLINE T* as(std::byte* address) {
  return reinterpret_cast<T*>(address);
}
template <typename T>
OPENTRN_INLINE const T* as(const std::byte* address) {
  return reinterpret_cast<const T*>(address);
}

// Vectors from and to memory of any alignment.
template <typename V>
OPENTRN_INLINE V load_vector(const void* from) {
  V vector;
  std::memcpy(&vector, from, sizeof(V));
  return vector;
}
template <typename V>
OPENTRN_INLINE void store_vector(void* to, V vector) {
  std::memcpy(to, &vector, sizeof(V));
}
