#include "lowering/memory_format.h"

#include <algorithm>

namespace opentrn::lowering {
namespace {

/// Dimensions from the innermost in memory to the outermost.
std::vector<size_t> channels_last_order(size_t rank) {
  std::vector<size_t> order = {1};
  for (size_t dim = rank - 1; dim > 1; --dim) order.push_back(dim);
  order.push_back(0);
  return order;
}

}  // namespace

bool is_channels_last_like(const Dims& shape, const Dims& strides) {
  const size_t rank = shape.size();
  if ((rank != 4 && rank != 5) || strides[1] == 0) return false;
  int64_t smallest = 0;
  for (const size_t dim : channels_last_order(rank)) {
    if (shape[dim] == 0 || strides[dim] < smallest) return false;
    // A batch of single elements lies the same way in both formats; PyTorch then takes the row-major one.
    if (dim == 0 && smallest == strides[1]) return false;
    smallest = strides[dim] * std::max<int64_t>(shape[dim], 1);
  }
  return true;
}

Dims channels_last_strides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (const size_t dim : channels_last_order(shape.size())) {
    strides[dim] = stride;
    stride *= shape[dim];  // unlike row-major strides, where PyTorch counts sizes of 0 as 1
  }
  return strides;
}

Dims format_strides(const TensorArgument& like, const Dims& shape) {
  const bool channels_last = is_channels_last_like(like.type.shape, like.strides);
  return channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
}

}  // namespace opentrn::lowering
