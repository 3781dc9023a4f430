// Dimensions and strides: the arithmetic of strided tensors. Sizes and strides count elements and are 64-bit
// throughout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opentrn {

using Dims = std::vector<int64_t>;

/// Number of elements of a tensor of shape `shape`; 1 for a 0-dimensional tensor.
int64_t element_count(const Dims& shape);

/// Row-major strides of `shape`. Dimensions of size 0 or 1 are counted as 1, as PyTorch does.
Dims contiguous_strides(const Dims& shape);

/// True when a tensor of this shape and strides lies in memory in row-major order without gaps.
bool is_contiguous(const Dims& shape, const Dims& strides);

/// True when no two elements share a memory location. May say false for exotic layouts that do not overlap.
bool is_non_overlapping(const Dims& shape, const Dims& strides);

/// Bytes from the first to one past the last element of a view; 0 when it has no elements.
int64_t span_in_bytes(const Dims& shape, const Dims& strides, int64_t element_size);

/// The shape that `left` and `right` broadcast to by PyTorch's rules. Returns false when they do not broadcast.
bool broadcast_shapes(const Dims& left, const Dims& right, Dims& result);

/// True for [0, 1, 2, ...]: the permutation that moves nothing.
bool is_identity(const Dims& permutation);

/// "[2, 3]"
std::string to_string(const Dims& dims);

}  // namespace opentrn
