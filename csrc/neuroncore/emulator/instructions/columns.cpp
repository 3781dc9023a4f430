#include "neuroncore/emulator/instructions/columns.h"

#include "base/vector_clones.h"

namespace opentrn::neuroncore::emulator {

namespace {

OPENTRN_VECTOR_CLONES void add_row(int64_t columns, double* sums, const float* row) {
  for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(row[c]);
}

// A whole block: the number of columns is known.
OPENTRN_VECTOR_CLONES void add_full_rows(int64_t rows, double* lanes, const std::byte* in, int64_t step,
                                         int64_t position) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = reinterpret_cast<const float*>(in + r * step);
    if (step != 0) prefetch_row(in + (r + kRowsAhead) * step, kMostColumns * 4);
    double* sums = lanes + (position + r) % 32 * kMostColumns;
    for (int64_t c = 0; c < kMostColumns; ++c) sums[c] += static_cast<double>(row[c]);
  }
}

OPENTRN_VECTOR_CLONES void fold_half(int64_t width, int64_t columns, double* lanes) {
  for (int64_t j = 0; j < width; ++j) {
    double* to = lanes + j * kMostColumns;
    const double* from = lanes + (j + width) * kMostColumns;
    for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
  }
}

}  // namespace

void ColumnSums::add(int64_t rows, int64_t columns, const std::byte* in, int64_t step, int64_t position) {
  if (columns == kMostColumns) return add_full_rows(rows, lanes_[0].data(), in, step, position);
  for (int64_t r = 0; r < rows; ++r) {
    double* sums = lanes_[static_cast<size_t>((position + r) % kLanes)].data();
    if (step != 0) prefetch_row(in + (r + kRowsAhead) * step, columns * 4);
    add_row(columns, sums, reinterpret_cast<const float*>(in + r * step));
  }
}

void ColumnSums::fold(int64_t columns, float* out) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2) fold_half(width, columns, lanes_[0].data());
  for (int64_t c = 0; c < columns; ++c) {
    out[c] = static_cast<float>(static_cast<double>(out[c]) + lanes_[0][static_cast<size_t>(c)]);
  }
  clear();
}

}  // namespace opentrn::neuroncore::emulator
