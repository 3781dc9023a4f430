#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ir/builder.h"
#include "ir/constants.h"

namespace opentrn::ir {

namespace {

bool all_equal(const Dims& dims, int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [value](int64_t entry) { return entry == value; });
}

}  // namespace

// One form per value: an equal constant must have equal attributes whichever way it was made.
Value Builder::constant(TensorType type, std::vector<std::byte> data) {
  return append(Op::Constant, {}, ConstantAttributes{normalised_data(type, std::move(data))}, &type);
}

Value Builder::splat(TensorType type, double value) { return constant(type, element_bytes(type.dtype, value)); }

Value Builder::iota(TensorType type, int64_t dimension) {
  return append(Op::Iota, {}, IotaAttributes{dimension}, &type);
}

Value Builder::broadcast_in_dim(Value operand, const Dims& shape, const Dims& broadcast_dimensions) {
  if (shape == this->shape(operand) && broadcast_dimensions.size() == shape.size() &&
      is_identity(broadcast_dimensions)) {
    return operand;
  }
  const TensorType declared{dtype(operand), shape};
  return append(Op::BroadcastInDim, {operand}, BroadcastAttributes{broadcast_dimensions}, &declared);
}

Value Builder::reshape(Value operand, const Dims& shape) {
  if (shape == this->shape(operand)) return operand;
  const TensorType declared{dtype(operand), shape};
  return append(Op::Reshape, {operand}, {}, &declared);
}

Value Builder::transpose(Value operand, const Dims& permutation) {
  if (is_identity(permutation) && static_cast<int64_t>(permutation.size()) == rank(operand)) return operand;
  return append(Op::Transpose, {operand}, TransposeAttributes{permutation});
}

Value Builder::slice(Value operand, const Dims& start, const Dims& limit, const Dims& strides) {
  const bool same_length = start.size() == limit.size() && strides.size() == limit.size();
  if (same_length && limit == shape(operand) && all_equal(start, 0) && all_equal(strides, 1)) return operand;
  return append(Op::Slice, {operand}, SliceAttributes{start, limit, strides});
}

Value Builder::pad(Value operand, Value padding_value, const Dims& low, const Dims& high, const Dims& interior) {
  return append(Op::Pad, {operand, padding_value}, PadAttributes{low, high, interior});
}

Value Builder::concatenate(std::span<const Value> operands, int64_t dimension) {
  return append(Op::Concatenate, {operands.begin(), operands.end()}, ConcatenateAttributes{dimension});
}

Value Builder::reverse(Value operand, const Dims& dimensions) {
  return append(Op::Reverse, {operand}, ReverseAttributes{dimensions});
}

Value Builder::dynamic_slice(Value operand, std::span<const Value> starts, const Dims& slice_sizes) {
  std::vector<Value> operands{operand};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return append(Op::DynamicSlice, std::move(operands), DynamicSliceAttributes{slice_sizes});
}

Value Builder::dynamic_update_slice(Value operand, Value update, std::span<const Value> starts) {
  std::vector<Value> operands{operand, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return append(Op::DynamicUpdateSlice, std::move(operands));
}

Value Builder::gather(Value operand, Value start_indices, GatherAttributes attributes) {
  return append(Op::Gather, {operand, start_indices}, std::move(attributes));
}

Value Builder::scatter(Value operand, Value scatter_indices, Value updates, ScatterAttributes attributes) {
  return append(Op::Scatter, {operand, scatter_indices, updates}, std::move(attributes));
}

Value Builder::broadcast_to(Value operand, const Dims& shape) {
  const int64_t missing = static_cast<int64_t>(shape.size()) - rank(operand);
  if (missing < 0) {
    raise(ErrorKind::Runtime, {.where = "broadcast_to",
                               .what = "operand 0 has more dimensions than the result",
                               .got = to_string(type(operand)),
                               .expected = "at most " + std::to_string(shape.size())});
  }
  Dims dimensions(static_cast<size_t>(rank(operand)));
  std::iota(dimensions.begin(), dimensions.end(), missing);
  return broadcast_in_dim(operand, shape, dimensions);
}

}  // namespace opentrn::ir
