// Activation functions; their gradients are in activation_backward.cpp.
#include <array>
#include <numbers>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/strides.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

Value scaled(Builder& b, Value x, double factor) { return b.multiply(x, b.splat_like(x, factor)); }
Value shifted(Builder& b, Value x, double offset) { return b.add(x, b.splat_like(x, offset)); }

Value relu(Builder& b, Values v) { return b.maximum(v[0], b.splat_like(v[0], 0.0)); }
Value sigmoid(Builder& b, Values v) { return b.logistic(v[0]); }
Value silu(Builder& b, Values v) { return b.multiply(v[0], b.logistic(v[0])); }

Value leaky_relu(Builder& b, Values v) {
  return b.select(compare_with(b, Direction::GT, v[0], 0.0), v[0], b.multiply(v[0], v[1]));
}

Value elu(Builder& b, Values v) {
  const Value x = v[0], alpha = v[1], scale = v[2], input_scale = v[3];
  const Value negative = b.multiply(b.exponential_minus_one(b.multiply(x, input_scale)), b.multiply(alpha, scale));
  return b.select(compare_with(b, Direction::LE, x, 0.0), negative, b.multiply(x, scale));
}

Value softplus(Builder& b, Values v) {
  const Value x = v[0], beta = v[1], threshold = v[2];
  const Value product = b.multiply(x, beta);
  const Value soft = b.divide(b.log_plus_one(b.exponential(product)), beta);
  return b.select(b.compare(Direction::GT, product, threshold), x, soft);
}

Value mish(Builder& b, Values v) { return b.multiply(v[0], b.tanh(b.log_plus_one(b.exponential(v[0])))); }

/// min(max(x + 3, 0), 6)
Value clipped_line(Builder& b, Value x) {
  return b.minimum(b.maximum(shifted(b, x, 3.0), b.splat_like(x, 0.0)), b.splat_like(x, 6.0));
}

Value hardswish(Builder& b, Values v) {
  return b.divide(b.multiply(v[0], clipped_line(b, v[0])), b.splat_like(v[0], 6.0));
}
Value hardsigmoid(Builder& b, Values v) { return b.divide(clipped_line(b, v[0]), b.splat_like(v[0], 6.0)); }

Value hardshrink(Builder& b, Values v) {
  const Value inside = b.and_(b.compare(Direction::GE, v[0], b.negate(v[1])), b.compare(Direction::LE, v[0], v[1]));
  return select_constant(b, inside, 0.0, v[0]);
}

Value shrink_towards_zero(Builder& b, Value x, Value lambda) {
  const Value zero = b.splat_like(x, 0.0);
  const Value below = b.select(b.compare(Direction::LT, x, b.negate(lambda)), b.add(x, lambda), zero);
  const Value shrunk = b.select(b.compare(Direction::GT, x, lambda), b.subtract(x, lambda), below);
  return b.select(b.is_nan(x), x, shrunk);
}

Results softshrink(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, "f");
  const Value x = compute_value(c, "self");
  const Value lambda = c.scalar_value("lambd", c.b.dtype(x));
  const Value checked = c.b.check(compare_with(c.b, Direction::GE, lambda, 0.0), lambda,
                                  "[softshrink] lambda must be in range [0, the largest number of the type]");
  return {c.b.convert(shrink_towards_zero(c.b, x, c.b.broadcast_to(checked, c.b.shape(x))), dtype)};
}

// --- gelu

Value gelu_erf(Builder& b, Value x) {
  const Value erf = b.erf(scaled(b, x, std::numbers::sqrt2 / 2.0));
  return b.multiply(scaled(b, x, 0.5), shifted(b, erf, 1.0));
}

Value gelu_tanh(Builder& b, Value x) {
  const double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Value cube = b.multiply(b.multiply(x, x), x);
  const Value inner = scaled(b, b.add(x, scaled(b, cube, 0.044715)), beta);
  return b.multiply(scaled(b, x, 0.5), shifted(b, b.tanh(inner), 1.0));
}

Results gelu(Context& c) {
  const std::string& approximate = c.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    c.refuse(ErrorKind::Runtime,
             {.what = "approximate argument must be either none or tanh", .got = "'" + approximate + "'"});
  }
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, "f");
  const Value x = compute_value(c, "self");
  return {c.b.convert(approximate == "tanh" ? gelu_tanh(c.b, x) : gelu_erf(c.b, x), dtype)};
}

// --- those with checks or several results

Results hardtanh(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  if (is_bool(dtype)) {
    c.refuse(ErrorKind::Runtime, {.what = "Bool inputs not supported for hardtanh", .action = "convert the input"});
  }
  check_types(c, dtype, "if");
  if (dtype == DType::U8) decline("hardtanh of unsigned integers");
  const Value x = c.value("self");
  const Dims shape = c.b.shape(x);
  const Value low = c.b.broadcast_to(checked_scalar(c, "min_val", dtype), shape);
  const Value high = c.b.broadcast_to(checked_scalar(c, "max_val", dtype), shape);
  return {c.b.minimum(c.b.maximum(x, low), high)};
}

Results log_sigmoid(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, "f");
  const Value x = compute_value(c, "self");
  const Value buffer = c.b.exponential(c.b.negate(c.b.abs(x)));
  const Value smaller = c.b.minimum(x, c.b.splat_like(x, 0.0));
  const Value output = c.b.subtract(smaller, c.b.log_plus_one(buffer));
  return {c.b.convert(output, dtype), c.b.convert(buffer, dtype)};
}

Value prelu(Builder& b, Values v) {
  return b.select(compare_with(b, Direction::GT, v[0], 0.0), v[0], b.multiply(v[0], v[1]));
}

Results glu(Context& c) {
  const TensorArgument& self = c.tensor("self");
  check_types(c, self.type.dtype, "f");
  if (self.type.shape.empty()) {
    c.refuse(ErrorKind::Runtime, {.what = "glu does not support 0-dimensional tensors", .action = "add a dimension"});
  }
  const auto dim = static_cast<size_t>(c.dimension(c.integer("dim"), self.type.rank()));
  const int64_t size = self.type.shape[dim];
  if (size % 2 != 0) {
    c.refuse(ErrorKind::Runtime,
             {.what = "Halving dimension must be even", .got = concat("dimension ", dim, " of size ", size)});
  }
  const Value x = compute_value(c, "self");
  Dims start(self.type.shape.size(), 0), limit = self.type.shape;
  const Dims steps(self.type.shape.size(), 1);
  limit[dim] = size / 2;
  const Value left = c.b.slice(x, start, limit, steps);
  start[dim] = size / 2;
  limit[dim] = size;
  const Value right = c.b.slice(x, start, limit, steps);
  TensorArgument half = self;
  half.type.shape[dim] = size / 2;
  c.result_strides = {elementwise_strides(half.type.shape, std::array{half, half})};
  return {c.b.convert(c.b.multiply(left, c.b.logistic(right)), self.type.dtype)};
}

Rule activation(std::string_view name, ElementwiseFunction function, std::string_view types = "f") {
  Rule rule = elementwise(name, function, Promotion::Common, types);
  rule.wide_scalars = true;
  return rule;
}

const std::array kRules = {
    activation("_prelu_kernel", prelu),
    activation("elu", elu),
    general("gelu", gelu, StrideRule::Elementwise),
    general("glu", glu),
    elementwise("hardshrink", hardshrink, Promotion::Common, "f"),
    activation("hardsigmoid", hardsigmoid),
    activation("hardswish", hardswish),
    general("hardtanh", hardtanh, StrideRule::Elementwise),
    activation("leaky_relu", leaky_relu),
    general("log_sigmoid_forward", log_sigmoid),
    activation("mish", mish),
    activation("relu", relu, "if"),
    elementwise("sigmoid", sigmoid, Promotion::Float, "fc"),
    activation("silu", silu, "fc"),
    activation("softplus", softplus),
    general("softshrink", softshrink, StrideRule::Elementwise),
};

}  // namespace

std::span<const Rule> activation_rules() { return kRules; }

}  // namespace opentrn::lowering
