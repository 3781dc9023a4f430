// Losses and their gradients.
#include <array>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;

/// The values of the schema's `reduction`.
enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Dims all_dims(const Dims& shape) {
  Dims dims(shape.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
  return dims;
}

Results reduced(Context& c, Value loss, DType dtype) {
  const int64_t reduction = c.integer("reduction");
  if (reduction == kMean) loss = mean_over(c.b, loss, all_dims(c.b.shape(loss)));
  if (reduction == kSum) loss = c.b.reduce(loss, Op::Add, all_dims(c.b.shape(loss)));
  return {c.b.convert(loss, dtype)};
}

/// The incoming gradient, divided by the number of elements when the loss was their mean.
Value outer_gradient(Context& c, const Operands& operands) {
  const Value gradient = operands.values[0];
  if (c.integer("reduction") != kMean) return gradient;
  const double count = static_cast<double>(element_count(operands.shape));
  return c.b.divide(gradient, c.b.splat_like(gradient, count));
}

Value scaled(Builder& b, Value x, double factor) { return b.multiply(x, b.splat_like(x, factor)); }

// --- mse, smooth l1, huber: operands self, target, (beta or delta)

Results mse(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  const Value difference = c.b.subtract(operands.values[0], operands.values[1]);
  return reduced(c, c.b.multiply(difference, difference), operands.dtype);
}

Results mse_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  const Value difference = c.b.subtract(operands.values[1], operands.values[2]);
  const Value result = scaled(c.b, c.b.multiply(outer_gradient(c, operands), difference), 2.0);
  return {c.b.convert(result, operands.dtype)};
}

/// The static shape of the loss argument `name`, checked at run time against `accepted`.
Value checked_bound(Context& c, std::string_view name, Direction accepted, Value like, std::string_view message) {
  const Value scalar = c.scalar_value(name, c.b.dtype(like));
  const Value checked = c.b.check(compare_with(c.b, accepted, scalar, 0.0), scalar, message);
  return c.b.broadcast_to(checked, c.b.shape(like));
}

Results smooth_l1(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Builder& b = c.b;
  const Value distance = b.abs(b.subtract(operands.values[0], operands.values[1]));
  const Value beta = checked_bound(c, "beta", Direction::GE, distance,
                                   "[smooth_l1_loss] smooth_l1_loss does not support negative values for beta");
  const Value curved = b.divide(b.multiply(scaled(b, distance, 0.5), distance), beta);
  const Value straight = b.subtract(distance, scaled(b, beta, 0.5));
  return reduced(c, b.select(b.compare(Direction::LT, distance, beta), curved, straight), operands.dtype);
}

Results smooth_l1_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Builder& b = c.b;
  const Value gradient = outer_gradient(c, operands);
  const Value difference = b.subtract(operands.values[1], operands.values[2]);
  const Value beta = operands.values[3];
  const Value inside = b.divide(b.multiply(difference, gradient), beta);
  const Value above = b.select(b.compare(Direction::GE, difference, beta), gradient, inside);
  const Value result = b.select(b.compare(Direction::LE, difference, b.negate(beta)), b.negate(gradient), above);
  return {b.convert(result, operands.dtype)};
}

Results huber(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Builder& b = c.b;
  const Value distance = b.abs(b.subtract(operands.values[0], operands.values[1]));
  const Value delta = checked_bound(c, "delta", Direction::GT, distance,
                                    "[huber_loss] huber_loss does not support non-positive values for delta");
  const Value curved = b.multiply(scaled(b, distance, 0.5), distance);
  const Value straight = b.multiply(delta, b.subtract(distance, scaled(b, delta, 0.5)));
  return reduced(c, b.select(b.compare(Direction::LT, distance, delta), curved, straight), operands.dtype);
}

Results huber_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "f", true);
  Builder& b = c.b;
  const Value gradient = outer_gradient(c, operands);
  const Value difference = b.subtract(operands.values[1], operands.values[2]);
  const Value delta = operands.values[3];
  const Value outside = b.multiply(gradient, delta);
  const Value above = b.select(b.compare(Direction::GT, difference, delta), outside, b.multiply(difference, gradient));
  const Value below = b.compare(Direction::LT, difference, b.negate(delta));
  return {b.convert(b.select(below, b.negate(outside), above), operands.dtype)};
}

// --- binary cross entropy

void check_same_types(const Context& c, std::span<const std::string_view> names) {
  const DType expected = c.tensor("self").type.dtype;
  for (const std::string_view name : names) {
    if (!c.has(name) || c.tensor(name).type.dtype == expected) continue;
    c.refuse(ErrorKind::Runtime, {.what = concat("Found dtype ", scalar_type_name(c.tensor(name).type.dtype), " for '",
                                                 name, "' but expected ", scalar_type_name(expected)),
                                  .action = "convert it first"});
  }
}

constexpr std::array<std::string_view, 2> kTargetAndWeight{"target", "weight"};

Value between_zero_and_one(Context& c, Value x, std::string_view name) {
  const Value inside = c.b.and_(compare_with(c.b, Direction::GE, x, 0.0), compare_with(c.b, Direction::LE, x, 1.0));
  return check_all(c, inside, x, concat("all elements of ", name, " should be between 0 and 1"));
}

Results binary_cross_entropy(Context& c) {
  check_same_types(c, kTargetAndWeight);
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  Builder& b = c.b;
  const Value x = between_zero_and_one(c, operands.values[0], "input");
  const Value target = between_zero_and_one(c, operands.values[1], "target");
  const Value floor = b.splat_like(x, -100.0);
  const Value off = b.maximum(b.log_plus_one(b.negate(x)), floor);
  const Value on = b.maximum(b.log(x), floor);
  const Value rest = b.subtract(target, b.splat_like(target, 1.0));
  Value loss = b.subtract(b.multiply(rest, off), b.multiply(target, on));
  if (c.has("weight")) loss = b.multiply(loss, operands.values[2]);
  return reduced(c, loss, operands.dtype);
}

Results binary_cross_entropy_backward(Context& c) {
  check_same_types(c, kTargetAndWeight);
  const Operands operands = promote_operands(c, Promotion::Common, "f");
  Builder& b = c.b;
  const Value x = operands.values[1];
  const Value spread = b.multiply(b.subtract(b.splat_like(x, 1.0), x), x);
  const Value numerator = b.multiply(outer_gradient(c, operands), b.subtract(x, operands.values[2]));
  Value result = b.divide(numerator, b.maximum(spread, b.splat_like(spread, 1e-12)));
  if (c.has("weight")) result = b.multiply(result, operands.values[3]);
  return {b.convert(result, operands.dtype)};
}

// --- negative log likelihood: classes in dimension 0 of a vector, else in dimension 1

struct Classification {
  Value target;   // int64, the shape of the input without its classes; 0 where ignored
  Value ignored;  // bool, same shape
  int64_t axis = 0;
  int64_t classes = 0;
};

void check_classification(const Context& c, int64_t axis) {
  const ir::TensorType& input = c.tensor("self").type;
  const ir::TensorType& target = c.tensor("target").type;
  check_types(c, input.dtype, "f");
  if (target.dtype != DType::I64 && target.dtype != DType::U8) {
    c.refuse(ErrorKind::Runtime,
             {.what = "expected target dtype to be Long or Byte", .got = std::string(scalar_type_name(target.dtype))});
  }
  const Dims samples = reduced_shape(input.shape, {axis}, false);
  const bool single = input.rank() == 1 && target.elements() == 1 && target.rank() <= 1;
  if (!single && samples != target.shape) {
    c.refuse(ErrorKind::Runtime,
             {.what = "size mismatch",
              .got = concat("input: ", to_string(input.shape), ", target: ", to_string(target.shape))});
  }
  if (!c.has("weight")) return;
  const ir::TensorType& weight = c.tensor("weight").type;
  const int64_t classes = input.shape[static_cast<size_t>(axis)];
  if (weight.rank() == 1 && weight.elements() == classes) return;
  c.refuse(ErrorKind::Runtime,
           {.what = concat("weight tensor should be defined either for all ", classes, " classes or no classes"),
            .got = "weight tensor of shape: " + to_string(weight.shape)});
}

Classification classification(Context& c) {
  const ir::TensorType& input = c.tensor("self").type;
  if (input.rank() != 1 && input.rank() != 2 && input.rank() != 4) {
    c.refuse(ErrorKind::Runtime,
             {.what = "input tensor should be 1D or 2D (4D for the 2d loss)", .got = to_string(input.shape)});
  }
  Classification result;
  result.axis = input.rank() == 1 ? 0 : 1;
  check_classification(c, result.axis);
  result.classes = input.shape[static_cast<size_t>(result.axis)];
  Builder& b = c.b;
  const Dims samples = reduced_shape(input.shape, {result.axis}, false);
  const Value target = b.reshape(c.value("target", DType::I64), samples);
  const Value ignore = integer_splat(b, b.type(target), c.integer("ignore_index"));
  result.ignored = b.compare(Direction::EQ, target, ignore);
  const Value kept = select_constant(b, result.ignored, 0.0, target);
  result.target = b.checked_index(kept, result.classes, result.axis, c.call.operator_name, ir::IndexRule::NonNegative);
  return result;
}

/// The weight of each sample's class; 0 where ignored.
Value sample_weights(Context& c, const Classification& samples, DType compute) {
  Builder& b = c.b;
  const Value ones = b.splat({compute, b.shape(samples.target)}, 1.0);
  const Value weights = c.has("weight") ? gather_slices(b, c.value("weight", compute), 0, samples.target) : ones;
  return select_constant(b, samples.ignored, 0.0, weights);
}

Value chosen(Builder& b, Value x, const Classification& samples) {
  const Dims shape = b.shape(samples.target);
  // Nothing to choose from: the check of the targets raises, or there are none.
  if (samples.classes == 0) return b.convert(samples.target, b.dtype(x));
  Dims single = b.shape(x);
  single[static_cast<size_t>(samples.axis)] = 1;
  return b.reshape(gather_elements(b, x, samples.axis, b.reshape(samples.target, single)), shape);
}

Results nll_loss(Context& c) {
  const Classification samples = classification(c);
  Builder& b = c.b;
  const DType dtype = c.tensor("self").type.dtype;
  const DType compute = compute_dtype(dtype);
  const Value weights = sample_weights(c, samples, compute);
  const Value score = b.convert(chosen(b, c.value("self"), samples), compute);
  const Value picked = select_constant(b, samples.ignored, 0.0, b.negate(score));
  const Value losses = b.multiply(picked, weights);
  const Dims dims = all_dims(b.shape(losses));
  const int64_t reduction = c.integer("reduction");
  const bool separate = reduction == kNone && !dims.empty();
  if (separate) return {b.convert(losses, dtype), b.scalar(dtype, 0.0)};
  const Value total = b.reduce(weights, Op::Add, dims);
  Value loss = b.reduce(losses, Op::Add, dims);
  if (reduction == kMean) loss = b.divide(loss, total);
  return {b.convert(loss, dtype), b.convert(total, dtype)};
}

Results nll_loss_backward(Context& c) {
  const Classification samples = classification(c);
  Builder& b = c.b;
  const ir::TensorType& input = c.tensor("self").type;
  const DType compute = compute_dtype(input.dtype);
  Value gradient = c.value("grad_output", compute);
  if (c.integer("reduction") == kMean) gradient = b.divide(gradient, b.reshape(c.value("total_weight", compute), {}));
  const Value weights = sample_weights(c, samples, compute);
  const Value each = b.multiply(b.negate(weights), b.broadcast_to(gradient, b.shape(weights)));
  const Value classes = b.iota({DType::I64, input.shape}, samples.axis);
  const Value hit = b.compare(Direction::EQ, classes, expand_reduced(b, samples.target, input.shape, {samples.axis}));
  const Value kept = b.and_(hit, b.not_(expand_reduced(b, samples.ignored, input.shape, {samples.axis})));
  const Value spread = expand_reduced(b, each, input.shape, {samples.axis});
  return {b.convert(b.select(kept, spread, b.splat_like(spread, 0.0)), input.dtype)};
}

const std::array kRules = {
    general("binary_cross_entropy", binary_cross_entropy, StrideRule::Elementwise),
    general("binary_cross_entropy_backward", binary_cross_entropy_backward),
    general("huber_loss", huber, StrideRule::Elementwise),
    general("huber_loss_backward", huber_backward),
    general("mse_loss", mse, StrideRule::Elementwise),
    general("mse_loss_backward", mse_backward),
    general("nll_loss2d_backward", nll_loss_backward),
    general("nll_loss2d_forward", nll_loss),
    general("nll_loss_backward", nll_loss_backward),
    general("nll_loss_forward", nll_loss),
    general("smooth_l1_loss", smooth_l1, StrideRule::Elementwise),
    general("smooth_l1_loss_backward", smooth_l1_backward),
};

}  // namespace

std::span<const Rule> loss_rules() { return kRules; }

}  // namespace opentrn::lowering
