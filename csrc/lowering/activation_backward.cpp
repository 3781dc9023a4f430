// Gradients of the activation functions, in the formulas CPU PyTorch uses.
#include <array>
#include <limits>
#include <numbers>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

Value scaled(Builder& b, Value x, double factor) { return b.multiply(x, b.splat_like(x, factor)); }
Value shifted(Builder& b, Value x, double offset) { return b.add(x, b.splat_like(x, offset)); }
Value one_minus(Builder& b, Value x) { return b.subtract(b.splat_like(x, 1.0), x); }
Value conjugate(Builder& b, Value x) { return is_complex(b.dtype(x)) ? b.complex(b.real(x), b.negate(b.imag(x))) : x; }

Value sigmoid_backward(Builder& b, Values v) {
  const Value gradient = v[0], output = v[1];
  if (is_complex(b.dtype(output))) {
    return b.multiply(gradient, conjugate(b, b.multiply(one_minus(b, output), output)));
  }
  return b.multiply(b.multiply(gradient, one_minus(b, output)), output);
}

Value tanh_backward(Builder& b, Values v) {
  return b.multiply(v[0], conjugate(b, one_minus(b, b.multiply(v[1], v[1]))));
}

Value silu_backward(Builder& b, Values v) {
  const Value gradient = v[0], x = v[1];
  const Value sigmoid = b.logistic(x);
  const Value slope = b.multiply(sigmoid, shifted(b, b.multiply(x, one_minus(b, sigmoid)), 1.0));
  return b.multiply(gradient, slope);
}

Value softplus_backward(Builder& b, Values v) {
  const Value gradient = v[0], x = v[1], beta = v[2], threshold = v[3];
  const Value product = b.multiply(x, beta);
  const Value power = b.exponential(product);
  const Value soft = b.divide(b.multiply(gradient, power), shifted(b, power, 1.0));
  return b.select(b.compare(Direction::GT, product, threshold), gradient, soft);
}

Value mish_backward(Builder& b, Values v) {
  const Value gradient = v[0], x = v[1];
  const Value tanh = b.tanh(b.log_plus_one(b.exponential(x)));
  const Value bend = b.multiply(b.multiply(x, b.logistic(x)), one_minus(b, b.multiply(tanh, tanh)));
  return b.multiply(gradient, b.add(tanh, bend));
}

Value hardswish_backward(Builder& b, Values v) {
  const Value gradient = v[0], x = v[1];
  const Value three = b.splat_like(x, 3.0);
  const Value slope = b.multiply(gradient, shifted(b, b.divide(x, three), 0.5));
  const Value above = b.select(compare_with(b, Direction::GE, x, 3.0), gradient, slope);
  return select_constant(b, compare_with(b, Direction::LT, x, -3.0), 0.0, above);
}

/// CPU PyTorch rounds this to float32 whatever the type.
constexpr double kOneSixth = 1.0f / 6.0f;

Value hardsigmoid_backward(Builder& b, Values v) {
  const Value inside = b.and_(compare_with(b, Direction::GT, v[1], -3.0), compare_with(b, Direction::LT, v[1], 3.0));
  return b.select(inside, scaled(b, v[0], kOneSixth), b.splat_like(v[0], 0.0));
}

Value hardtanh_backward(Builder& b, Values v) {
  const Value outside = b.or_(b.compare(Direction::LE, v[1], v[2]), b.compare(Direction::GE, v[1], v[3]));
  return select_constant(b, outside, 0.0, v[0]);
}

/// hardshrink and softshrink have the same one.
Value shrink_backward(Builder& b, Values v) {
  const Value inside = b.and_(b.compare(Direction::GE, v[1], b.negate(v[2])), b.compare(Direction::LE, v[1], v[2]));
  return select_constant(b, inside, 0.0, v[0]);
}

// --- those with static arguments

Results leaky_relu_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Value slope = operands.values[2];
  if (c.flag("self_is_result")) {
    const Value scalar = c.scalar_value("negative_slope", DType::F64);
    slope =
        c.b.check(compare_with(c.b, Direction::GE, scalar, 0.0), slope,
                  "[leaky_relu_backward] In-place leakyReLu backward calculation is triggered with a negative slope, "
                  "which is not supported");
  }
  c.result_strides = {strides_by(c, operands.shape, std::array<std::string_view, 2>{"self", "grad_output"})};
  const Value positive = compare_with(c.b, Direction::GT, operands.values[1], 0.0);
  const Value result = c.b.select(positive, operands.values[0], c.b.multiply(operands.values[0], slope));
  return {c.b.convert(result, operands.dtype)};
}

Results elu_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Builder& b = c.b;
  const Value gradient = operands.values[0], alpha = operands.values[1], scale = operands.values[2],
              input_scale = operands.values[3], x = operands.values[4];
  const Value negative_scale = b.multiply(alpha, scale);
  const Value inner = b.multiply(gradient, input_scale);
  const Value negative = c.flag("is_result")
                             ? b.multiply(inner, b.add(x, negative_scale))
                             : b.multiply(b.multiply(inner, negative_scale), b.exponential(b.multiply(x, input_scale)));
  const Value result = b.select(compare_with(b, Direction::LE, x, 0.0), negative, b.multiply(gradient, scale));
  return {b.convert(result, operands.dtype)};
}

Value gelu_erf_backward(Builder& b, Value gradient, Value x) {
  const double beta = std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2.0;
  const Value cdf = scaled(b, shifted(b, b.erf(scaled(b, x, std::numbers::sqrt2 / 2.0)), 1.0), 0.5);
  const Value pdf = scaled(b, b.exponential(scaled(b, b.multiply(x, x), -0.5)), beta);
  return b.multiply(gradient, b.add(cdf, b.multiply(x, pdf)));
}

Value gelu_tanh_backward(Builder& b, Value gradient, Value x) {
  constexpr double kappa = 0.044715;
  const double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Value square = b.multiply(x, x);
  const Value tanh = b.tanh(scaled(b, b.add(x, scaled(b, b.multiply(square, x), kappa)), beta));
  const Value inner_slope = scaled(b, shifted(b, scaled(b, square, 3.0 * kappa), 1.0), beta);
  const Value tanh_slope = one_minus(b, b.multiply(tanh, tanh));
  const Value left = scaled(b, shifted(b, tanh, 1.0), 0.5);
  const Value right = b.multiply(b.multiply(scaled(b, x, 0.5), tanh_slope), inner_slope);
  return b.multiply(gradient, b.add(left, right));
}

Results gelu_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  const Value gradient = operands.values[0], x = operands.values[1];
  const Value result =
      c.text("approximate") == "tanh" ? gelu_tanh_backward(c.b, gradient, x) : gelu_erf_backward(c.b, gradient, x);
  return {c.b.convert(result, operands.dtype)};
}

Results log_sigmoid_backward(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  for (const auto* name : {"grad_output", "buffer"}) {
    if (c.tensor(name).type.dtype == dtype) continue;
    c.refuse(ErrorKind::Runtime, {.what = concat("Found dtype ", scalar_type_name(c.tensor(name).type.dtype), " for '",
                                                 name, "' but expected ", scalar_type_name(dtype))});
  }
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  Builder& b = c.b;
  const Value gradient = operands.values[0], x = operands.values[1], buffer = operands.values[2];
  const Value negative = compare_with(b, Direction::LT, x, 0.0);
  const Value fraction = b.divide(buffer, shifted(b, buffer, 1.0));
  const Value slope = b.select(negative, one_minus(b, fraction), fraction);
  return {b.convert(b.multiply(slope, gradient), dtype)};
}

Results prelu_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  Builder& b = c.b;
  const Value gradient = operands.values[0], x = operands.values[1], weight = operands.values[2];
  const Value positive = compare_with(b, Direction::GT, x, 0.0);
  const Value input_gradient = b.select(positive, gradient, b.multiply(weight, gradient));
  const Value weight_gradient = select_constant(b, positive, 0.0, b.multiply(x, gradient));
  return {b.convert(input_gradient, operands.dtype), b.convert(weight_gradient, operands.dtype)};
}

Results glu_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  check_types(c, self.type.dtype, "f");
  const auto dim = static_cast<size_t>(c.dimension(c.integer("dim"), self.type.rank()));
  Builder& b = c.b;
  const Value x = compute_value(c, "self");
  const Value gradient = c.value("grad_output", b.dtype(x));
  Dims start(self.type.shape.size(), 0), limit = self.type.shape;
  const Dims steps(self.type.shape.size(), 1);
  limit[dim] /= 2;
  const Value left = b.slice(x, start, limit, steps);
  start[dim] = limit[dim];
  limit[dim] = self.type.shape[dim];
  const Value sigmoid = b.logistic(b.slice(x, start, limit, steps));
  const Value left_gradient = b.multiply(sigmoid, gradient);
  const Value right_gradient = b.multiply(b.multiply(b.multiply(one_minus(b, sigmoid), sigmoid), gradient), left);
  const std::array parts{left_gradient, right_gradient};
  return {b.convert(b.concatenate(parts, static_cast<int64_t>(dim)), self.type.dtype)};
}

Results logit_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  Builder& b = c.b;
  const Value gradient = operands.values[0], x = operands.values[1];
  const Value slope = b.divide(gradient, b.multiply(x, one_minus(b, x)));
  const double outside = c.has("eps") ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  const Value low = c.has("eps") ? operands.values[2] : b.splat_like(x, 0.0);
  const Value inside = b.and_(b.compare(Direction::GE, x, low), b.compare(Direction::LE, x, one_minus(b, low)));
  return {b.convert(b.select(inside, slope, b.splat_like(slope, outside)), operands.dtype)};
}

Rule gradient(std::string_view name, ElementwiseFunction function, std::string_view types = "f") {
  Rule rule = elementwise(name, function, Promotion::Common, types);
  rule.wide_scalars = true;
  return rule;
}

const std::array kRules = {
    general("_prelu_kernel_backward", prelu_backward, StrideRule::Elementwise),
    general("elu_backward", elu_backward, StrideRule::Elementwise),
    general("gelu_backward", gelu_backward, StrideRule::Elementwise),
    general("glu_backward", glu_backward),
    elementwise("hardshrink_backward", shrink_backward, Promotion::Common, "f"),
    gradient("hardsigmoid_backward", hardsigmoid_backward),
    gradient("hardswish_backward", hardswish_backward),
    gradient("hardtanh_backward", hardtanh_backward),
    general("leaky_relu_backward", leaky_relu_backward, StrideRule::Elementwise),
    general("log_sigmoid_backward", log_sigmoid_backward, StrideRule::Elementwise),
    general("logit_backward", logit_backward, StrideRule::Elementwise),
    gradient("mish_backward", mish_backward),
    gradient("sigmoid_backward", sigmoid_backward, "fc"),
    gradient("silu_backward", silu_backward, "fc"),
    gradient("softplus_backward", softplus_backward),
    elementwise("softshrink_backward", shrink_backward, Promotion::Common, "f"),
    gradient("tanh_backward", tanh_backward, "fc"),
};

}  // namespace

std::span<const Rule> activation_backward_rules() { return kRules; }

}  // namespace opentrn::lowering
