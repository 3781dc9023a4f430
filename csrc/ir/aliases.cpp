#include "ir/aliases.h"

#include "ir/custom_calls.h"

namespace opentrn::ir {

namespace {

// A complex number is two of its parts, one after the other.
View part_view(const View& operand, DType part, int64_t which) {
  View result = operand;
  result.dtype = part;
  for (int64_t& stride : result.strides) stride *= 2;
  result.offset += which * size_of(part);
  return result;
}

std::optional<View> same_size_bitcast(const View& operand, DType dtype) {
  if (size_of(dtype) != operand.item_size()) return std::nullopt;
  View result = operand;
  result.dtype = dtype;
  return result;
}

std::optional<View> before_broadcast(const Dims& operand_shape, const Dims& broadcast_dimensions, const View& result) {
  if (element_count(operand_shape) != result.elements()) return std::nullopt;
  View operand{result.dtype, operand_shape, Dims(operand_shape.size(), 1), result.offset};
  for (size_t i = 0; i < operand_shape.size(); ++i) {
    operand.strides[i] = result.strides[static_cast<size_t>(broadcast_dimensions[i])];
  }
  return operand;
}

View before_transpose(const Dims& permutation, const View& result) {
  View operand = result;
  for (size_t i = 0; i < permutation.size(); ++i) {
    operand.shape[static_cast<size_t>(permutation[i])] = result.shape[i];
    operand.strides[static_cast<size_t>(permutation[i])] = result.strides[i];
  }
  return operand;
}

}  // namespace

bool is_check(const Node& node) {
  return node.op == Op::CustomCall && node.as<CustomCallAttributes>().target == kCheck;
}

Value aliased_operand(const Node& node) { return is_check(node) ? node.operands[1] : node.operands[0]; }

bool may_alias(const Node& node) {
  switch (node.op) {
    case Op::BroadcastInDim:
    case Op::Transpose:
    case Op::Slice:
    case Op::Reshape:
    case Op::Reverse:
    case Op::Real:
    case Op::Imag:
    case Op::BitcastConvert: return true;
    default: return is_check(node);
  }
}

std::optional<View> alias_of(const Graph& graph, const Node& node, const View& operand) {
  const TensorType& type = graph.type(node.results[0]);
  switch (node.op) {
    case Op::BroadcastInDim:
      return broadcast_view(operand, type.shape, node.as<BroadcastAttributes>().broadcast_dimensions);
    case Op::Transpose: return transpose_view(operand, node.as<TransposeAttributes>().permutation);
    case Op::Slice: return slice_view(operand, node.as<SliceAttributes>());
    case Op::Reshape: return reshape_view(operand, type.shape);
    case Op::Reverse: return reverse_view(operand, node.as<ReverseAttributes>().dimensions);
    case Op::Real: return is_complex(operand.dtype) ? part_view(operand, type.dtype, 0) : operand;
    case Op::Imag:
      if (!is_complex(operand.dtype)) return std::nullopt;  // zero
      return part_view(operand, type.dtype, 1);
    case Op::BitcastConvert: return same_size_bitcast(operand, type.dtype);
    default: return is_check(node) ? std::optional(operand) : std::nullopt;
  }
}

std::optional<View> operand_for(const Graph& graph, const Node& node, const View& result) {
  const Dims& shape = graph.type(node.operands[0]).shape;
  switch (node.op) {
    case Op::BroadcastInDim:
      return before_broadcast(shape, node.as<BroadcastAttributes>().broadcast_dimensions, result);
    case Op::Transpose: return before_transpose(node.as<TransposeAttributes>().permutation, result);
    case Op::Reshape: return reshape_view(result, shape);
    default: return std::nullopt;
  }
}

}  // namespace opentrn::ir
