#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/custom_calls.h"

namespace opentrn::ir {

Value Builder::dot_general(Value lhs, Value rhs, DotAttributes attributes, DType result_dtype) {
  const TensorType declared{result_dtype, {}};
  return append(Op::DotGeneral, {lhs, rhs}, std::move(attributes), &declared);
}

Value Builder::reduce(Value operand, Value initial_value, Op reducer, const Dims& dimensions) {
  return append(Op::Reduce, {operand, initial_value}, ReduceAttributes{reducer, dimensions});
}

Value Builder::reduce(Value operand, Op reducer, const Dims& dimensions) {
  const DType element = dtype(operand);
  const Value neutral = constant(TensorType{element, {}}, neutral_element(reducer, element));
  return reduce(operand, neutral, reducer, dimensions);
}

Value Builder::reduce_window(Value operand, Value initial_value, ReduceWindowAttributes attributes) {
  return append(Op::ReduceWindow, {operand, initial_value}, std::move(attributes));
}

std::vector<Value> Builder::sort(std::span<const Value> operands, SortAttributes attributes) {
  return append_all(Op::Sort, {operands.begin(), operands.end()}, attributes, nullptr);
}

std::pair<Value, Value> Builder::rng_bit_generator(Value state, TensorType type) {
  const std::vector<Value> results = append_all(Op::RngBitGenerator, {state}, {}, &type);
  return {results[0], results[1]};
}

Value Builder::checked_index(Value index, int64_t size, int64_t dimension, std::string_view operator_name,
                             IndexRule rule) {
  Dims integers = {size, dimension};
  if (rule != IndexRule::WrapNegative) integers.push_back(static_cast<int64_t>(rule));
  return append(Op::CustomCall, {index},
                CustomCallAttributes{std::string(kCheckedIndex), std::move(integers), std::string(operator_name)});
}

Value Builder::check(Value condition, Value value, std::string_view message) {
  return append(Op::CustomCall, {condition, value},
                CustomCallAttributes{std::string(kCheck), {}, std::string(message)});
}

}  // namespace opentrn::ir
