#include "engines/reference/nest.h"

#include <cstdlib>

namespace opentrn::engines::reference {

namespace {

// True when `left` is to lie inside `right`: decided by the first operand whose steps differ.
bool steps_less(const LoopDimension& left, const LoopDimension& right, size_t pointers) {
  for (size_t i = 0; i < pointers; ++i) {
    const int64_t a = std::abs(left.steps[i]);
    const int64_t b = std::abs(right.steps[i]);
    if (a != b && a != 0 && b != 0) return a < b;
  }
  return false;
}

// Insertion sort, because steps_less is not a strict weak ordering when some steps are 0. Stable.
void order_dimensions(std::vector<LoopDimension>& innermost_first, size_t pointers) {
  for (size_t i = 1; i < innermost_first.size(); ++i) {
    for (size_t j = i; j > 0 && steps_less(innermost_first[j], innermost_first[j - 1], pointers); --j) {
      std::swap(innermost_first[j], innermost_first[j - 1]);
    }
  }
}

bool steps_evenly(const LoopDimension& inner, const LoopDimension& outer) {
  for (size_t i = 0; i < kMaxPointers; ++i) {
    if (outer.steps[i] != inner.steps[i] * inner.size) return false;
  }
  return true;
}

int64_t product_of_sizes(const std::vector<LoopDimension>& dimensions) {
  int64_t product = 1;
  for (const LoopDimension& dimension : dimensions) product *= dimension.size;
  return product;
}

}  // namespace

void merge_dimensions(std::vector<LoopDimension>& innermost_first) {
  std::vector<LoopDimension> merged;
  merged.reserve(innermost_first.size() + 1);
  for (const LoopDimension& dimension : innermost_first) {
    if (dimension.size == 1) continue;
    if (!merged.empty() && steps_evenly(merged.back(), dimension)) {
      merged.back().size *= dimension.size;
    } else {
      merged.push_back(dimension);
    }
  }
  if (merged.empty()) merged.emplace_back();
  innermost_first = std::move(merged);
}

Nest make_nest(std::span<const View* const> views) {
  Nest nest;
  const Dims& shape = views[0]->shape;
  nest.dimensions.reserve(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    LoopDimension dimension{shape[i], {}};
    for (size_t p = 0; p < views.size(); ++p) dimension.steps[p] = views[p]->strides[i] * views[p]->item_size();
    nest.dimensions.push_back(dimension);
  }
  nest.elements = product_of_sizes(nest.dimensions);
  order_dimensions(nest.dimensions, views.size());
  merge_dimensions(nest.dimensions);
  return nest;
}

Nest make_ordered_nest(std::span<const LoopDimension> outermost_first) {
  Nest nest;
  nest.dimensions.assign(outermost_first.rbegin(), outermost_first.rend());
  nest.elements = product_of_sizes(nest.dimensions);
  merge_dimensions(nest.dimensions);
  return nest;
}

Steps offset_at(const Nest& nest, int64_t index) {
  Steps offset{};
  for (const LoopDimension& dimension : nest.dimensions) {
    const int64_t position = index % dimension.size;
    index /= dimension.size;
    for (size_t i = 0; i < kMaxPointers; ++i) offset[i] += position * dimension.steps[i];
  }
  return offset;
}

}  // namespace opentrn::engines::reference
