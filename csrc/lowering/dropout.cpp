#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/strides.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Value;
using Direction = ir::ComparisonDirection;

Results native_dropout(Context& c) {
  const TensorArgument& input = c.tensor("input");
  const DType dtype = input.type.dtype;
  check_types(c, dtype, "fc");
  Builder& b = c.b;
  const Dims& shape = input.type.shape;
  TensorArgument kept = input;
  kept.strides = preserved_strides(shape, input.strides);
  c.result_strides = {kept.strides, kept.strides};
  if (c.has("train") && !c.flag("train")) return {c.value("input"), b.splat({DType::Bool, shape}, 1.0)};
  c.result_strides.front() = elementwise_strides(shape, std::array{input, kept});
  const Value drop = c.scalar_value("p", DType::F64);
  const Value inside = b.and_(compare_with(b, Direction::GE, drop, 0.0), compare_with(b, Direction::LE, drop, 1.0));
  const Value keep = b.subtract(b.scalar(DType::F64, 1.0), drop);
  const Value checked = b.check(inside, keep, "[native_dropout] p must be in [0, 1]");
  const Value scale = select_constant(b, compare_with(b, Direction::EQ, checked, 0.0), 0.0,
                                      b.divide(b.scalar(DType::F64, 1.0), checked));
  const Value x = compute_value(c, "input");
  const DType uniform_type = real_dtype(b.dtype(x));
  const Value uniform = c.random_uniform({uniform_type, shape});
  const Value mask = b.compare(Direction::LT, uniform, b.broadcast_to(b.convert(checked, uniform_type), shape));
  const Value masked = b.multiply(x, b.convert(mask, b.dtype(x)));
  const Value result = b.multiply(masked, b.broadcast_to(b.convert(scale, b.dtype(x)), shape));
  return {b.convert(result, dtype), mask};
}

Results native_dropout_backward(Context& c) {
  const DType dtype = inexact_dtype(c, c.tensor("grad_output").type.dtype);
  check_types(c, dtype, "fc");
  const Value gradient = c.value("grad_output", compute_dtype(dtype));
  const Value mask = c.value("mask", c.b.dtype(gradient));
  const Value masked = c.b.multiply(gradient, c.b.broadcast_to(mask, c.b.shape(gradient)));
  return {c.b.convert(c.b.multiply(masked, scalar_like(c, "scale", gradient)), dtype)};
}

const std::array kRules = {
    general("native_dropout", native_dropout),
    general("native_dropout_backward", native_dropout_backward, StrideRule::Elementwise),
};

}  // namespace

std::span<const Rule> dropout_rules() { return kRules; }

}  // namespace opentrn::lowering
