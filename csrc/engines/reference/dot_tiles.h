// The innermost kernels of the blocked matrix product, one set for each instruction set.
#pragma once

#include <cstdint>

namespace opentrn::engines::reference {

/// Multiplies a panel of A (k rows of `rows` elements) with a panel of B (k rows of `columns` elements) and stores the
/// tile to C, or adds it there. Panels are aligned to 64 bytes and dense; C's rows are `c_stride` elements apart.
template <typename T>
struct TileKernel {
  int64_t rows;
  int64_t columns;
  void (*multiply)(int64_t k, const T* a, const T* b, T* c, int64_t c_stride, bool add);
};

/// The best kernel this processor can run. T is float or double.
template <typename T>
const TileKernel<T>& tile_kernel();

}  // namespace opentrn::engines::reference
