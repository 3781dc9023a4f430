// Contractions, reductions and the rest.
#include "ir/custom_calls.h"
#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

// Products and sums must not lose anything but the last rounding to the result.
bool accumulates(DType operand, DType result) {
  if (is_bool(operand) || operand == result) return !is_bool(operand);
  const bool same_kind = category(operand) == category(result) || (is_integer(operand) && is_integer(result));
  return same_kind && size_of(result) > size_of(operand);
}

void require_same_sizes(const InferenceQuery& query, std::string_view kind, const Dims& left, const Dims& right) {
  require_length(query.op, concat("rhs_", kind), right, left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    const int64_t left_size = at(query.operands[0]->shape, left[i]);
    const int64_t right_size = at(query.operands[1]->shape, right[i]);
    if (left_size == right_size) continue;
    refuse(query.op, concat(kind, " ", i, " has two sizes"), concat(left_size, " and ", right_size), "equal sizes");
  }
}

void append_free_sizes(const TensorType& type, const Dims& batching, const Dims& contracting, Dims& shape) {
  for (int64_t i = 0; i < type.rank(); ++i) {
    if (!contains(batching, i) && !contains(contracting, i)) shape.push_back(at(type.shape, i));
  }
}

void require_dot_dimensions(const InferenceQuery& query, std::string_view side, size_t index, const Dims& batching,
                            const Dims& contracting) {
  Dims both = batching;
  both.insert(both.end(), contracting.begin(), contracting.end());
  require_dimensions(query.op, concat(side, "_batching_dimensions with ", side, "_contracting_dimensions"), both,
                     query.operands[index]->rank());
}

TensorType infer_dot(const InferenceQuery& query) {
  const TensorType& lhs = *query.operands[0];
  const TensorType& rhs = *query.operands[1];
  const auto& [lhs_batching, rhs_batching, lhs_contracting, rhs_contracting] = attributes_of<DotAttributes>(query);
  const DType dtype = declared_type(query).dtype;
  if (lhs.dtype != rhs.dtype) {
    refuse(query.op, "operand 1 has another element type than operand 0", to_string(rhs),
           concat("element type ", name(lhs.dtype)), "convert it first");
  }
  if (!accumulates(lhs.dtype, dtype)) {
    refuse(query.op, "the result has a wrong element type", concat(name(dtype), " from ", name(lhs.dtype)),
           "that of the operands, or a wider one of the same kind");
  }
  require_dot_dimensions(query, "lhs", 0, lhs_batching, lhs_contracting);
  require_dot_dimensions(query, "rhs", 1, rhs_batching, rhs_contracting);
  require_same_sizes(query, "batching_dimensions", lhs_batching, rhs_batching);
  require_same_sizes(query, "contracting_dimensions", lhs_contracting, rhs_contracting);
  TensorType result{dtype, {}};
  for (const int64_t dimension : lhs_batching) result.shape.push_back(at(lhs.shape, dimension));
  append_free_sizes(lhs, lhs_batching, lhs_contracting, result.shape);
  append_free_sizes(rhs, rhs_batching, rhs_contracting, result.shape);
  return result;
}

void require_reducer(const InferenceQuery& query, Op reducer) {
  if (query.operands.size() != 2) {
    refuse(query.op, "wrong number of operands", std::to_string(query.operands.size()), "2");
  }
  const TensorType& operand = *query.operands[0];
  require_scalar(query.op, 1, *query.operands[1], operand.dtype);
  if (is_reducer(reducer, operand.dtype)) return;
  refuse(query.op, "the reducer does not work on the element type", concat(name(reducer), " on ", name(operand.dtype)),
         "add, multiply, maximum, minimum, and, or, xor on a type they take");
}

TensorType infer_reduce(const InferenceQuery& query) {
  const auto& attributes = attributes_of<ReduceAttributes>(query);
  require_reducer(query, attributes.reducer);
  const TensorType& operand = *query.operands[0];
  require_dimensions(query.op, "dimensions", attributes.dimensions, operand.rank());
  TensorType result{operand.dtype, {}};
  append_free_sizes(operand, attributes.dimensions, {}, result.shape);
  return result;
}

TensorType infer_reduce_window(const InferenceQuery& query) {
  const auto& attributes = attributes_of<ReduceWindowAttributes>(query);
  require_reducer(query, attributes.reducer);
  const TensorType& operand = *query.operands[0];
  return {operand.dtype, windowed_shape(query.op, operand.shape, attributes)};
}

TensorType infer_random_bits(const InferenceQuery& query) {
  const TensorType& state = *query.operands[0];
  const TensorType& bits = declared_type(query);
  if (state != TensorType{DType::U64, {2}}) {
    refuse(query.op, "operand 0 has a wrong type", to_string(state), "tensor<2xui64>");
  }
  if (bits.dtype != DType::U32 && bits.dtype != DType::U64) {
    refuse(query.op, "the result has a wrong element type", to_string(bits), "ui32 or ui64 elements");
  }
  return bits;
}

std::vector<TensorType> infer_sort(const InferenceQuery& query) {
  if (query.operands.empty()) refuse(query.op, "there are no operands", "", "at least one operand");
  const TensorType& keys = *query.operands[0];
  require_dimensions(query.op, "dimension", {attributes_of<SortAttributes>(query).dimension}, keys.rank());
  if (is_complex(keys.dtype)) refuse(query.op, "complex numbers have no order", to_string(keys), "real elements");
  std::vector<TensorType> results;
  for (size_t i = 0; i < query.operands.size(); ++i) {
    const TensorType& operand = *query.operands[i];
    if (operand.shape != keys.shape) {
      refuse(query.op, operand_name(i) + " has another shape than operand 0", to_string(operand),
             concat("shape ", to_string(keys.shape)));
    }
    results.push_back(operand);
  }
  return results;
}

void require_call(const InferenceQuery& query, const CustomCallAttributes& call, size_t operands, size_t integers) {
  if (query.operands.size() != operands) {
    refuse(query.op, call.target + " has a wrong number of operands", std::to_string(query.operands.size()),
           std::to_string(operands));
  }
  require_length(query.op, "the integers of " + call.target, call.integers, integers);
}

// A check compares two tensors and has no result.
void require_expectation(const InferenceQuery& query, const CustomCallAttributes& call) {
  require_call(query, call, 2, call.target == kExpectClose ? 2 : 0);
  if (*query.operands[0] != *query.operands[1]) {
    refuse(query.op, call.target + " compares different types", to_string(*query.operands[1]),
           to_string(*query.operands[0]));
  }
  const DType dtype = query.operands[0]->dtype;
  if (call.target == kExpectEqual || is_float(dtype) || is_complex(dtype)) return;
  refuse(query.op, call.target + " compares inexact numbers", to_string(*query.operands[0]),
         "float or complex elements");
}

std::vector<TensorType> infer_custom_call(const InferenceQuery& query) {
  const auto& call = attributes_of<CustomCallAttributes>(query);
  if (call.target == kCheckedIndex) {
    const bool has_rule = call.integers.size() == 3;
    require_call(query, call, 1, has_rule ? 3 : 2);
    require_index(query.op, 0, *query.operands[0]);
    if (call.integers[0] < 0) refuse(query.op, "the size is negative", std::to_string(call.integers[0]), ">= 0");
    return {*query.operands[0]};
  }
  if (call.target == kCheck) {
    require_call(query, call, 2, 0);
    require_scalar(query.op, 0, *query.operands[0], DType::Bool);
    return {*query.operands[1]};
  }
  if (is_expectation(call.target)) {
    require_expectation(query, call);
    return {};
  }
  refuse(query.op, "unknown target", call.target,
         concat(kCheckedIndex, ", ", kCheck, ", ", kExpectEqual, ", ", kExpectAlmostEqual, " or ", kExpectClose));
}

bool is_decided_by_region(const InferenceQuery& query) {
  if (const auto* reduce = std::get_if<ReduceAttributes>(&query.attributes)) return reduce->reducer == Op::Map;
  if (const auto* window = std::get_if<ReduceWindowAttributes>(&query.attributes)) return window->reducer == Op::Map;
  const auto* sort = std::get_if<SortAttributes>(&query.attributes);
  return sort != nullptr && sort->comparator;
}

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

}  // namespace

void require_positive(Op op, std::string_view list, const Dims& values) {
  for (const int64_t value : values) {
    if (value < 1) refuse(op, concat(list, " is not positive"), to_string(values), "entries of at least 1");
  }
}

Dims windowed_shape(Op op, const Dims& shape, const ReduceWindowAttributes& window) {
  const std::pair<std::string_view, const Dims&> positive[] = {{"window_dimensions", window.window_dimensions},
                                                               {"window_strides", window.window_strides},
                                                               {"base_dilations", window.base_dilations},
                                                               {"window_dilations", window.window_dilations}};
  for (const auto& [list, values] : positive) {
    require_length(op, list, values, shape.size());
    require_positive(op, list, values);
  }
  require_length(op, "padding_low", window.padding_low, shape.size());
  require_length(op, "padding_high", window.padding_high, shape.size());
  Dims result(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t padded = window.padding_low[i] + dilated(shape[i], window.base_dilations[i]) + window.padding_high[i];
    const int64_t extent = dilated(window.window_dimensions[i], window.window_dilations[i]);
    result[i] = padded < extent ? 0 : (padded - extent) / window.window_strides[i] + 1;
  }
  return result;
}

std::vector<TensorType> infer_compute(const InferenceQuery& query) {
  if (is_decided_by_region(query)) return infer_with_regions(query);
  switch (query.op) {
    case Op::Case:
    case Op::If:
    case Op::Map:
    case Op::SelectAndScatter:
    case Op::While: return infer_with_regions(query);
    case Op::Cholesky:
    case Op::Convolution:
    case Op::Fft:
    case Op::TriangularSolve: return {infer_numeric(query)};
    case Op::CustomCall: return infer_custom_call(query);
    case Op::DotGeneral: return {infer_dot(query)};
    case Op::Reduce: return {infer_reduce(query)};
    case Op::ReduceWindow: return {infer_reduce_window(query)};
    case Op::RngBitGenerator: return {*query.operands[0], infer_random_bits(query)};
    case Op::Sort: return infer_sort(query);
    default: break;
  }
  __builtin_unreachable();
}

}  // namespace opentrn::ir
