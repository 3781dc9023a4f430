#include "base/convert_rows.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/convert.h"
#include "base/vector_clones.h"

namespace opentrn {

namespace {

// A byte that holds a bool may be any number in memory that came from elsewhere; as a C++ bool it would be undefined.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// The conversions of mixed precision, for which the baseline instruction set is several times too slow. No templates:
// those cannot be cloned.
OPENTRN_VECTOR_CLONES void widen_row(const Half* from, float* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = from[i];
}
OPENTRN_VECTOR_CLONES void widen_row(const BFloat16* from, float* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = from[i];
}
OPENTRN_VECTOR_CLONES void narrow_row(const float* from, Half* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = from[i];
}
OPENTRN_VECTOR_CLONES void narrow_row(const float* from, BFloat16* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = from[i];
}

template <typename T>
inline constexpr bool is_float16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename To, typename From>
void convert_one_row(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                     int64_t length) {
  const auto* from = static_cast<const Stored<From>*>(source);
  auto* to = static_cast<To*>(destination);
  const auto convert = [](Stored<From> value) {
    if constexpr (std::is_same_v<From, bool>) {
      return convert_element<To>(value != 0);
    } else {
      return convert_element<To>(value);
    }
  };
  if (source_stride == 1 && destination_stride == 1) {
    if constexpr (is_float16<From> && std::is_same_v<To, float>) return widen_row(from, to, length);
    if constexpr (is_float16<To> && std::is_same_v<From, float>) return narrow_row(from, to, length);
    for (int64_t i = 0; i < length; ++i) to[i] = convert(from[i]);
    return;
  }
  for (int64_t i = 0; i < length; ++i) to[i * destination_stride] = convert(from[i * source_stride]);
}

// Elements as they are, whatever they mean.
template <typename Word>
void copy_one_row(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                  int64_t length) {
  if (source_stride == 1 && destination_stride == 1) {
    if (source != destination && length > 0)
      std::memcpy(destination, source, static_cast<size_t>(length) * sizeof(Word));
    return;
  }
  const auto* from = static_cast<const Word*>(source);
  auto* to = static_cast<Word*>(destination);
  for (int64_t i = 0; i < length; ++i) to[i * destination_stride] = from[i * source_stride];
}

struct Word16 {
  uint64_t low, high;
};

ConvertRow copy_row(int64_t size) {
  switch (size) {
    case 1: return copy_one_row<uint8_t>;
    case 2: return copy_one_row<uint16_t>;
    case 4: return copy_one_row<uint32_t>;
    case 8: return copy_one_row<uint64_t>;
    case 16: return copy_one_row<Word16>;
    default: break;
  }
  __builtin_unreachable();
}

}  // namespace

ConvertRow convert_row(DType source, DType destination) {
  if (source == destination) return copy_row(size_of(source));
  return visit_dtype(source, [destination]<typename From>() {
    return visit_dtype(destination, []<typename To>() -> ConvertRow { return convert_one_row<To, From>; });
  });
}

}  // namespace opentrn
