// Loop nests over several strided operands at once: dimensions are ordered, merged where they can be, and split over
// threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "ir/view.h"

namespace opentrn::engines::reference {

using ir::View;

inline constexpr size_t kMaxPointers = 4;

/// One step in each operand, in bytes.
using Steps = std::array<int64_t, kMaxPointers>;
using Pointers = std::array<std::byte*, kMaxPointers>;

struct LoopDimension {
  int64_t size = 1;
  Steps steps{};
};

/// Dimensions innermost first; never empty. `elements` is the product of the sizes.
struct Nest {
  std::vector<LoopDimension> dimensions;
  int64_t elements = 0;
};

/// A nest over views of equal shape. The innermost dimension is the one in which the first views step least.
Nest make_nest(std::span<const View* const> views);

/// The same nest for dimensions that are given as such (outermost first), with their order kept.
Nest make_ordered_nest(std::span<const LoopDimension> outermost_first);

/// Drops dimensions of size 1 and merges neighbours that step evenly. The order is kept.
void merge_dimensions(std::vector<LoopDimension>& innermost_first);

/// The offset, in bytes, of element `index` of the nest, counted with the innermost dimension fastest.
Steps offset_at(const Nest& nest, int64_t index);

/// Elements below which a loop of cheap operations is not worth a second thread.
inline constexpr int64_t kGrain = 32768;

namespace detail {

inline void advance(Pointers& pointers, const Steps& steps, int64_t count) {
  for (size_t i = 0; i < kMaxPointers; ++i) pointers[i] += steps[i] * count;
}

/// Runs rows [begin, end) of the nest, a row being the innermost dimension.
template <typename Body>
void run_rows(const Nest& nest, Pointers pointers, int64_t begin, int64_t end, const Body& body) {
  constexpr size_t kMaxRank = 64;
  std::array<int64_t, kMaxRank> index;
  const size_t rank = nest.dimensions.size();
  int64_t rest = begin;
  for (size_t i = 1; i < rank; ++i) {
    const LoopDimension& dimension = nest.dimensions[i];
    index[i] = rest % dimension.size;
    rest /= dimension.size;
    advance(pointers, dimension.steps, index[i]);
  }
  const LoopDimension& inner = nest.dimensions[0];
  for (int64_t row = begin; row < end; ++row) {
    body(inner.size, pointers.data(), inner.steps.data());
    for (size_t i = 1; i < rank; ++i) {
      const LoopDimension& dimension = nest.dimensions[i];
      advance(pointers, dimension.steps, 1);
      if (++index[i] < dimension.size) break;
      advance(pointers, dimension.steps, -dimension.size);
      index[i] = 0;
    }
  }
}

}  // namespace detail

/// Calls `body(n, pointers, steps)` for every row of the nest, on this thread.
template <typename Body>
void run_sequential(const Nest& nest, const Pointers& pointers, const Body& body) {
  if (nest.elements == 0) return;
  detail::run_rows(nest, pointers, 0, nest.elements / nest.dimensions[0].size, body);
}

/// The same, split over the thread pool when there is enough work; `grain` is the number of elements worth a thread.
template <typename Body>
void run_parallel(const Nest& nest, const Pointers& pointers, int64_t grain, const Body& body) {
  const LoopDimension& inner = nest.dimensions[0];
  if (nest.elements <= grain) return run_sequential(nest, pointers, body);
  const int64_t rows = nest.elements / inner.size;
  if (rows > 1) {
    const int64_t row_grain = std::max<int64_t>(1, grain / inner.size);
    return parallel_for(0, rows, row_grain,
                        [&](int64_t begin, int64_t end) { detail::run_rows(nest, pointers, begin, end, body); });
  }
  parallel_for(0, inner.size, grain, [&](int64_t begin, int64_t end) {
    Pointers part = pointers;
    detail::advance(part, inner.steps, begin);
    body(end - begin, part.data(), inner.steps.data());
  });
}

}  // namespace opentrn::engines::reference
