#include "ir/view.h"

#include <utility>

namespace opentrn::ir {

View contiguous_view(const TensorType& type) { return {type.dtype, type.shape, contiguous_strides(type.shape), 0}; }

bool same_places(const View& left, const View& right) {
  if (left.shape != right.shape || left.offset != right.offset || left.item_size() != right.item_size()) return false;
  for (size_t i = 0; i < left.shape.size(); ++i) {
    if (left.shape[i] != 1 && left.strides[i] != right.strides[i]) return false;
  }
  return true;
}

View broadcast_view(const View& operand, const Dims& shape, const Dims& broadcast_dimensions) {
  View result{operand.dtype, shape, Dims(shape.size(), 0), operand.offset};
  for (size_t i = 0; i < broadcast_dimensions.size(); ++i) {
    const auto target = static_cast<size_t>(broadcast_dimensions[i]);
    if (operand.shape[i] != 1) result.strides[target] = operand.strides[i];
  }
  return result;
}

View transpose_view(const View& operand, const Dims& permutation) {
  View result{operand.dtype, operand.shape, operand.strides, operand.offset};
  for (size_t i = 0; i < permutation.size(); ++i) {
    const auto source = static_cast<size_t>(permutation[i]);
    result.shape[i] = operand.shape[source];
    result.strides[i] = operand.strides[source];
  }
  return result;
}

View slice_view(const View& operand, const SliceAttributes& slice) {
  View result = operand;
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    const int64_t length = slice.limit_indices[i] - slice.start_indices[i];
    result.shape[i] = (length + slice.strides[i] - 1) / slice.strides[i];
    result.strides[i] = operand.strides[i] * slice.strides[i];
    result.offset += slice.start_indices[i] * operand.strides[i] * operand.item_size();
  }
  return result;
}

View reverse_view(const View& operand, const Dims& dimensions) {
  View result = operand;
  if (operand.elements() == 0) return result;
  for (const int64_t dimension : dimensions) {
    const auto i = static_cast<size_t>(dimension);
    result.offset += (operand.shape[i] - 1) * operand.strides[i] * operand.item_size();
    result.strides[i] = -operand.strides[i];
  }
  return result;
}

std::optional<View> reshape_view(const View& operand, const Dims& shape) {
  if (operand.elements() == 0) return View{operand.dtype, shape, contiguous_strides(shape), operand.offset};
  View result{operand.dtype, shape, Dims(shape.size(), 0), operand.offset};
  // Walks both shapes from the innermost dimension and matches runs of old dimensions that step evenly with new ones.
  size_t target = shape.size();
  size_t source = operand.shape.size();
  while (source > 0) {
    const int64_t run_stride = operand.strides[source - 1];
    int64_t run_size = operand.shape[source - 1];
    --source;
    if (run_size == 1) continue;
    while (source > 0 && (operand.shape[source - 1] == 1 || operand.strides[source - 1] == run_stride * run_size)) {
      run_size *= operand.shape[source - 1];
      --source;
    }
    int64_t filled = 1;
    while (target > 0 && filled < run_size) {
      --target;
      result.strides[target] = run_stride * filled;
      filled *= shape[target];
    }
    if (filled != run_size) return std::nullopt;
  }
  while (target > 0) result.strides[--target] = 1;  // only dimensions of size 1 are left
  return result;
}

View window_view(const View& operand, const Dims& sizes) {
  View result = operand;
  result.shape = sizes;
  return result;
}

}  // namespace opentrn::ir
