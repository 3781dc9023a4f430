// Sums over the rows of a block of columns, in the very order in which the reduction kernel adds the elements of one
// row: element i goes to lane i % 32, carried in double, and lanes are folded in half until one is left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace opentrn::neuroncore::emulator {

inline constexpr int64_t kMostColumns = 64;

/// Rows of a column block lie far apart: the processor does not see by itself which one comes next.
inline constexpr int64_t kRowsAhead = 16;
inline void prefetch_row(const std::byte* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
}

class ColumnSums {
 public:
  ColumnSums() { clear(); }

  /// Adds rows of `columns` floats, `step` bytes apart. The first row is number `position` since the last fold.
  void add(int64_t rows, int64_t columns, const std::byte* in, int64_t step, int64_t position);

  /// out[c] += the sum of column c; starts anew.
  void fold(int64_t columns, float* out);

 private:
  void clear() { lanes_ = {}; }

  static constexpr int64_t kLanes = 32;
  alignas(64) std::array<std::array<double, kMostColumns>, kLanes> lanes_;
};

}  // namespace opentrn::neuroncore::emulator
