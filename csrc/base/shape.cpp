#include "base/shape.h"

#include <algorithm>
#include <cstdlib>

namespace opentrn {

int64_t element_count(const Dims& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_contiguous(const Dims& shape, const Dims& strides) {
  if (element_count(shape) == 0) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

bool is_non_overlapping(const Dims& shape, const Dims& strides) {
  if (is_contiguous(shape, strides)) return true;
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) steps.emplace_back(std::abs(strides[i]), shape[i]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;  // distance from the first to the last element of the dimensions seen so far
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

int64_t span_in_bytes(const Dims& shape, const Dims& strides, int64_t element_size) {
  if (element_count(shape) == 0) return 0;
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
  return (last + 1) * element_size;
}

bool broadcast_shapes(const Dims& left, const Dims& right, Dims& result) {
  const Dims& longer = left.size() >= right.size() ? left : right;
  const Dims& shorter = left.size() >= right.size() ? right : left;
  Dims merged = longer;
  const size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = merged[shift + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1) return false;
    size = shorter[i];
  }
  result = std::move(merged);
  return true;
}

bool is_identity(const Dims& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace opentrn
