// Primitives that make and move data, but for those that index with values.
#include <algorithm>

#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

TensorType infer_broadcast(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const Dims& dimensions = attributes_of<BroadcastAttributes>(query).broadcast_dimensions;
  const TensorType result{operand.dtype, declared_type(query).shape};
  require_length(query.op, "broadcast_dimensions", dimensions, operand.shape.size());
  require_dimensions(query.op, "broadcast_dimensions", dimensions, result.rank());
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t target = result.shape[static_cast<size_t>(dimensions[i])];
    if (operand.shape[i] == 1 || operand.shape[i] == target) continue;
    refuse(query.op, concat("dimension ", i, " of operand 0 does not broadcast"), to_string(operand),
           concat("size 1 or ", target, " there"));
  }
  return result;
}

TensorType infer_concatenate(const InferenceQuery& query) {
  if (query.operands.empty()) refuse(query.op, "there are no operands", "", "at least one operand");
  const TensorType& first = *query.operands[0];
  const int64_t dimension = attributes_of<ConcatenateAttributes>(query).dimension;
  require_dimensions(query.op, "dimension", {dimension}, first.rank());
  TensorType result = first;
  int64_t& size = result.shape[static_cast<size_t>(dimension)];
  size = 0;
  for (size_t i = 0; i < query.operands.size(); ++i) {
    TensorType other = *query.operands[i];
    if (other.rank() == first.rank()) {
      size += other.shape[static_cast<size_t>(dimension)];
      other.shape[static_cast<size_t>(dimension)] = first.shape[static_cast<size_t>(dimension)];
    }
    if (other == first) continue;
    refuse(query.op, operand_name(i) + " does not fit operand 0", to_string(*query.operands[i]),
           concat(to_string(first), " but for dimension ", dimension));
  }
  return result;
}

TensorType infer_constant(const InferenceQuery& query) {
  const TensorType& result = declared_type(query);
  const auto size = static_cast<int64_t>(attributes_of<ConstantAttributes>(query).data.size());
  const bool splat = size == size_of(result.dtype) && result.elements() > 0;
  if (!splat && size != result.bytes()) {
    refuse(query.op, "the data has a wrong size", concat(size, " bytes"),
           concat(result.bytes(), " bytes for ", to_string(result), ", or one element of it"));
  }
  return result;
}

TensorType infer_iota(const InferenceQuery& query) {
  const TensorType& result = declared_type(query);
  require_dimensions(query.op, "iota_dimension", {attributes_of<IotaAttributes>(query).iota_dimension}, result.rank());
  if (is_bool(result.dtype)) refuse(query.op, "the result has a wrong element type", to_string(result), "numbers");
  return result;
}

TensorType infer_pad(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const auto& attributes = attributes_of<PadAttributes>(query);
  const size_t rank = operand.shape.size();
  require_scalar(query.op, 1, *query.operands[1], operand.dtype);
  require_length(query.op, "edge_padding_low", attributes.edge_padding_low, rank);
  require_length(query.op, "edge_padding_high", attributes.edge_padding_high, rank);
  require_length(query.op, "interior_padding", attributes.interior_padding, rank);
  TensorType result = operand;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t interior = attributes.interior_padding[i];
    if (interior < 0) refuse(query.op, "interior_padding is negative", to_string(attributes.interior_padding), ">= 0");
    int64_t& size = result.shape[i];
    size +=
        attributes.edge_padding_low[i] + attributes.edge_padding_high[i] + std::max<int64_t>(size - 1, 0) * interior;
    if (size >= 0) continue;
    refuse(query.op, concat("the padding of dimension ", i, " cuts off more than there is"), to_string(result.shape),
           "sizes of at least 0");
  }
  return result;
}

TensorType infer_reshape(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  TensorType result{operand.dtype, declared_type(query).shape};
  if (result.elements() == operand.elements()) return result;
  refuse(query.op, "operand 0 has another number of elements than the result", to_string(operand),
         concat(result.elements(), " elements for shape ", to_string(result.shape)));
}

TensorType infer_reverse(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  require_dimensions(query.op, "dimensions", attributes_of<ReverseAttributes>(query).dimensions, operand.rank());
  return operand;
}

TensorType infer_slice(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const auto& [start, limit, strides] = attributes_of<SliceAttributes>(query);
  const size_t rank = operand.shape.size();
  require_length(query.op, "start_indices", start, rank);
  require_length(query.op, "limit_indices", limit, rank);
  require_length(query.op, "strides", strides, rank);
  TensorType result = operand;
  for (size_t i = 0; i < rank; ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > operand.shape[i] || strides[i] < 1) {
      refuse(query.op, concat("the bounds of dimension ", i, " are wrong"),
             concat("start ", start[i], ", limit ", limit[i], ", stride ", strides[i]),
             concat("0 <= start <= limit <= ", operand.shape[i], " and a positive stride"));
    }
    const int64_t length = limit[i] - start[i];
    result.shape[i] = length == 0 ? 0 : (length - 1) / strides[i] + 1;
  }
  return result;
}

TensorType infer_transpose(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const Dims& permutation = attributes_of<TransposeAttributes>(query).permutation;
  require_length(query.op, "permutation", permutation, operand.shape.size());
  require_dimensions(query.op, "permutation", permutation, operand.rank());
  TensorType result = operand;
  for (size_t i = 0; i < permutation.size(); ++i) result.shape[i] = operand.shape[static_cast<size_t>(permutation[i])];
  return result;
}

}  // namespace

std::vector<TensorType> infer_data(const InferenceQuery& query) {
  switch (query.op) {
    case Op::BroadcastInDim: return {infer_broadcast(query)};
    case Op::Concatenate: return {infer_concatenate(query)};
    case Op::Constant: return {infer_constant(query)};
    case Op::Iota: return {infer_iota(query)};
    case Op::Pad: return {infer_pad(query)};
    case Op::Reshape: return {infer_reshape(query)};
    case Op::Reverse: return {infer_reverse(query)};
    case Op::Slice: return {infer_slice(query)};
    case Op::Transpose: return {infer_transpose(query)};
    default: return infer_indexing(query);
  }
}

}  // namespace opentrn::ir
