#include "neuroncore/emulator/instructions/columns.h"

#include <algorithm>

#include "base/vector_clones.h"

namespace opentrn::neuroncore::emulator {

namespace {

OPENTRN_VECTOR_CLONES void add_row(int64_t columns, double* sums, const float* row) {
  for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(row[c]);
}

// A whole block: the number of columns is known.
OPENTRN_VECTOR_CLONES void add_full_rows(int64_t rows, double* lanes, const std::byte* in, int64_t step) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = reinterpret_cast<const float*>(in + r * step);
    if (step != 0) prefetch_row(in + (r + kRowsAhead) * step, kMostColumns * 4);
    double* sums = lanes + r * kMostColumns;
    for (int64_t c = 0; c < kMostColumns; ++c) sums[c] += static_cast<double>(row[c]);
  }
}

OPENTRN_VECTOR_CLONES void add_sums(int64_t columns, double* sums, const double* others) {
  for (int64_t c = 0; c < columns; ++c) sums[c] += others[c];
}

}  // namespace

void ColumnSums::add(int64_t rows, int64_t columns, const std::byte* in, int64_t step, int64_t position) {
  for (int64_t done = 0; done < rows;) {
    const int64_t lane = (position + done) % kSumLanes;
    const int64_t n = std::min(rows - done, kSumLanes - lane);
    for (; used_ < std::min(lane + n, kSumLanes); ++used_) lanes_[static_cast<size_t>(used_)].fill(0);
    const std::byte* from = in + done * step;
    double* lanes = lanes_[static_cast<size_t>(lane)].data();
    if (columns == kMostColumns) {
      add_full_rows(n, lanes, from, step);
    } else {
      for (int64_t r = 0; r < n; ++r) {
        if (step != 0) prefetch_row(from + (r + kRowsAhead) * step, columns * 4);
        add_row(columns, lanes + r * kMostColumns, reinterpret_cast<const float*>(from + r * step));
      }
    }
    done += n;
  }
}

// Lanes that hold nothing would add zeros.
void ColumnSums::fold(int64_t columns, double* out) {
  for (int64_t width = kSumLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j + width < used_; ++j) {
      add_sums(columns, lanes_[static_cast<size_t>(j)].data(), lanes_[static_cast<size_t>(j + width)].data());
    }
    used_ = std::min(used_, width);
  }
  if (used_ > 0) add_sums(columns, out, lanes_[0].data());
  used_ = 0;
}

}  // namespace opentrn::neuroncore::emulator
