#include "lowering/strides.h"

#include <algorithm>
#include <numeric>

#include "lowering/memory_format.h"

namespace opentrn::lowering {
namespace {

using Permutation = std::vector<size_t>;  // dimensions from the innermost in memory to the outermost

/// Negative: `inner` stays inside `outer`; positive: they swap; 0: this tensor cannot tell.
int compare_dimensions(const Dims& shape, const Dims& strides, size_t inner, size_t outer) {
  if (strides[inner] == 0 || strides[outer] == 0) return 0;
  if (strides[inner] != strides[outer]) return strides[inner] < strides[outer] ? -1 : 1;
  return shape[inner] > shape[outer] ? 1 : 0;
}

/// Insertion sort, because the comparison is not transitive and its outcome is part of PyTorch's behaviour.
Permutation memory_order(const Dims& shape, const std::vector<Dims>& voters) {
  Permutation order(shape.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  const auto compare = [&](size_t inner, size_t outer) {
    for (const Dims& strides : voters) {
      if (const int result = compare_dimensions(shape, strides, inner, outer)) return result;
    }
    return 0;
  };
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t other = i; other-- > 0;) {
      const int result = compare(order[other], order[moving]);
      if (result < 0) break;
      if (result == 0) continue;
      std::swap(order[other], order[moving]);
      moving = other;
    }
  }
  return order;
}

bool is_row_major(const Permutation& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != order.size() - 1 - i) return false;
  }
  return true;
}

Dims strides_in_order(const Dims& shape, const Permutation& order) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (const size_t dim : order) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

/// The strides an operand has inside the iteration: 0 along every dimension it is broadcast over.
Dims broadcast_strides(const Dims& shape, const TensorArgument& operand) {
  Dims strides(shape.size(), 0);
  const Dims& own = operand.type.shape;
  const size_t shift = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    const bool broadcast = own[i] == 1 && shape[shift + i] != 1;
    strides[shift + i] = broadcast ? 0 : operand.strides[i];
  }
  return strides;
}

bool is_channels_last(const Dims& shape, const Dims& strides) {
  if (shape.size() != 4) return false;
  int64_t expected = 1;
  for (const size_t dim : {1u, 3u, 2u, 0u}) {
    if (shape[dim] == 1) continue;
    if (strides[dim] != expected) return false;
    expected *= shape[dim];
  }
  return true;
}

bool is_dense(const Dims& shape, const Dims& strides) {
  if (is_contiguous(shape, strides)) return true;
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) steps.emplace_back(strides[i], shape[i]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : steps) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

/// The short cuts TensorIterator takes before it looks at the memory order. Empty when none applies.
std::optional<Dims> shared_strides(const Dims& shape, std::span<const TensorArgument> operands) {
  const auto all = [&](auto&& predicate) { return std::all_of(operands.begin(), operands.end(), predicate); };
  if (!all([&](const TensorArgument& tensor) { return tensor.type.shape == shape; })) return std::nullopt;
  if (all([&](const TensorArgument& tensor) { return is_contiguous(shape, tensor.strides); })) {
    return contiguous_strides(shape);
  }
  if (all([&](const TensorArgument& tensor) { return is_channels_last(shape, tensor.strides); })) {
    return channels_last_strides(shape);
  }
  const Dims& first = operands.front().strides;
  if (!is_dense(shape, first)) return std::nullopt;
  if (!all([&](const TensorArgument& tensor) { return tensor.strides == first; })) return std::nullopt;
  return first;
}

}  // namespace

Dims elementwise_strides(const Dims& shape, std::span<const TensorArgument> operands) {
  if (operands.empty()) return contiguous_strides(shape);
  if (auto strides = shared_strides(shape, operands)) return *strides;
  std::vector<Dims> voters;
  for (const TensorArgument& operand : operands) {
    if (operand.type.shape.size() > shape.size()) return contiguous_strides(shape);
    voters.push_back(broadcast_strides(shape, operand));
  }
  const Permutation order = memory_order(shape, voters);
  return is_row_major(order) ? contiguous_strides(shape) : strides_in_order(shape, order);
}

Dims preserved_strides(const Dims& shape, const Dims& strides) {
  if (is_dense(shape, strides)) return strides;
  Dims result(shape.size());
  int64_t stride = 1;
  for (const size_t dim : memory_order(shape, {strides})) {
    result[dim] = stride;
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  return result;
}

}  // namespace opentrn::lowering
