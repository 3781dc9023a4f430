// Conversion of one strided row, for every pair of element types: for loops that bring their own nest.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace opentrn {

/// Strides and length in elements.
using ConvertRow = void (*)(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                            int64_t length);

/// The function that converts from `source` to `destination`.
ConvertRow convert_row(DType source, DType destination);

}  // namespace opentrn
