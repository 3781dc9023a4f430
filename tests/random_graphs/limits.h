// What the element types can hold, and how large the random graphs get.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace opentrn::random_graphs {

inline constexpr int64_t kMostElements = 40000;
inline constexpr double kParameterBound = 4;

inline double spacing(DType dtype) {
  switch (dtype) {
    case DType::F32: return 0x1p-23;
    case DType::F64: return 0x1p-52;
    case DType::F16: return 0x1p-10;
    case DType::BF16: return 0x1p-7;
    default: return 0;
  }
}

// Integers up to this magnitude are exact and do not overflow.
inline double exact_limit(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 1;
    case DType::I8:
    case DType::U8: return 127;
    case DType::BF16: return 256;
    case DType::F16: return 2048;
    case DType::F32: return 0x1p24;
    case DType::I32: return 0x1p31 - 1;
    default: return 0x1p52;
  }
}

inline double largest(DType dtype) {
  if (dtype == DType::F16) return 60000;
  return is_float(dtype) ? 1e30 : exact_limit(dtype);
}

}  // namespace opentrn::random_graphs
