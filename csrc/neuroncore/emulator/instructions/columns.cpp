#include "neuroncore/emulator/instructions/columns.h"

#include <algorithm>

#include "base/vector_clones.h"

namespace opentrn::neuroncore::emulator {

namespace {

// The first of a group replaces what the lane held.
OPENTRN_VECTOR_CLONES void add_rows(int64_t rows, int64_t columns, float* groups, const std::byte* in, int64_t step,
                                    bool first) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = reinterpret_cast<const float*>(in + r * step);
    if (step != 0) prefetch_row(in + (r + kRowsAhead) * step, columns * 4);
    float* group = groups + r * kMostColumns;
    if (first) {
      for (int64_t c = 0; c < columns; ++c) group[c] = row[c];
    } else {
      for (int64_t c = 0; c < columns; ++c) group[c] += row[c];
    }
  }
}

OPENTRN_VECTOR_CLONES void add_groups(int64_t columns, double* sums, const float* groups) {
  for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(groups[c]);
}

OPENTRN_VECTOR_CLONES void add_sums(int64_t columns, double* sums, const double* others) {
  for (int64_t c = 0; c < columns; ++c) sums[c] += others[c];
}

}  // namespace

void ColumnSums::add(int64_t rows, int64_t columns, const std::byte* in, int64_t step) {
  for (int64_t done = 0; done < rows;) {
    const int64_t lane = rows_ % kSumLanes;
    const int64_t member = rows_ / kSumLanes % kSumGroup;
    const int64_t n = std::min(rows - done, kSumLanes - lane);
    add_rows(n, columns, groups_[static_cast<size_t>(lane)].data(), in + done * step, step, member == 0);
    rows_ += n;
    done += n;
    if (member == kSumGroup - 1 && lane + n == kSumLanes) close_groups(columns);
  }
}

// Adds what the lanes' groups hold to the lanes.
void ColumnSums::close_groups(int64_t columns) {
  const bool first = rows_ <= kSumLanes * kSumGroup;
  for (int64_t lane = 0; lane < std::min(rows_, kSumLanes); ++lane) {
    std::array<double, kMostColumns>& sums = lanes_[static_cast<size_t>(lane)];
    if (first) sums.fill(0);
    add_groups(columns, sums.data(), groups_[static_cast<size_t>(lane)].data());
  }
}

void ColumnSums::fold(int64_t columns, double* out) {
  const int64_t open = rows_ % (kSumLanes * kSumGroup);
  if (open > 0) {
    // Lanes that the open step has not reached hold groups that are in the sums already.
    for (int64_t lane = open; lane < std::min(rows_, kSumLanes); ++lane) groups_[static_cast<size_t>(lane)].fill(0);
    close_groups(columns);
  }
  int64_t used = std::min(rows_, kSumLanes);
  for (int64_t width = kSumLanes / 2; width > 0; width /= 2) {
    // Lanes that hold nothing would add zeros.
    for (int64_t j = 0; j + width < used; ++j) {
      add_sums(columns, lanes_[static_cast<size_t>(j)].data(), lanes_[static_cast<size_t>(j + width)].data());
    }
    used = std::min(used, width);
  }
  if (used > 0) add_sums(columns, out, lanes_[0].data());
  rows_ = 0;
}

}  // namespace opentrn::neuroncore::emulator
