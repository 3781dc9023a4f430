// Sums over the rows of a block of columns, in the very order in which the reduction kernel adds the elements of one
// row (kernels.h); lanes are folded in half until one is left, and that is added to the sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "neuroncore/emulator/kernels.h"

namespace opentrn::neuroncore::emulator {

inline constexpr int64_t kMostColumns = 128;

/// Rows of a column block lie far apart: the processor does not see by itself which one comes next.
inline constexpr int64_t kRowsAhead = 16;
inline void prefetch_row(const std::byte* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
}

class ColumnSums {
 public:
  /// Adds rows of `columns` floats, `step` bytes apart: in order, and no more than kSumBlock before a fold.
  void add(int64_t rows, int64_t columns, const std::byte* in, int64_t step);

  /// out[c] += the sum of column c; starts anew.
  void fold(int64_t columns, double* out);

 private:
  void close_groups(int64_t columns);

  int64_t rows_ = 0;  // since the last fold
  // Lanes beyond min(rows_, kSumLanes) are not initialised.
  alignas(64) std::array<std::array<float, kMostColumns>, kSumLanes> groups_;
  alignas(64) std::array<std::array<double, kMostColumns>, kSumLanes> lanes_;
};

}  // namespace opentrn::neuroncore::emulator
