// Random fills: `self` gives shape and type, its content is not read.
#include <cmath>
#include <limits>
#include <numbers>

#include "lowering/arguments.h"
#include "lowering/distributions.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;

struct Target {
  DType dtype;
  DType drawing;
  Dims shape;
};

Target target_of(Context& context, std::string_view types) {
  const ir::TensorType& type = context.tensor("self").type;
  check_types(context, type.dtype, types);
  return {type.dtype, drawing_dtype(type.dtype), type.shape};
}

/// A runtime parameter as float64, once the condition on it holds.
ir::Value parameter(Context& context, std::string_view name) { return context.scalar_value(name, DType::F64); }

ir::Value positive(Context& context, std::string_view name, std::string_view message) {
  const ir::Value value = parameter(context, name);
  return check_all(context, is_greater(context.b, value, 0), value, message);
}

/// A 0-dimensional value in the type and shape of `like`.
ir::Value spread(ir::Builder& b, ir::Value scalar, ir::Value like) {
  return b.broadcast_to(b.convert(scalar, b.dtype(like)), b.shape(like));
}

ir::Value shifted(ir::Builder& b, ir::Value x, ir::Value factor, ir::Value offset) {
  return b.add(b.multiply(x, spread(b, factor, x)), spread(b, offset, x));
}

Results uniform(Context& context) {
  ir::Builder& b = context.b;
  const Target target = target_of(context, "f");
  const ir::Value from = parameter(context, "from");
  const ir::Value to = parameter(context, "to");
  const ir::Value ordered = b.compare(ComparisonDirection::LE, from, to);
  const ir::Value low =
      check_all(context, ordered, from, "uniform_ expects to return a [from, to) range, but found from > to");
  const ir::Value unit = unit_interval(context, target.shape, target.dtype);
  const ir::Value numbers = b.convert(shifted(b, unit, b.subtract(to, low), low), target.dtype);
  // Rounding may reach the excluded end.
  const ir::Value compared = b.convert(numbers, target.drawing);
  const ir::Value reached = b.compare(ComparisonDirection::GE, compared, spread(b, to, compared));
  return {b.select(reached, b.broadcast_to(b.convert(low, target.dtype), target.shape), numbers)};
}

/// Complex numbers have two independent parts, each with half the variance.
ir::Value normal_of(Context& context, const Target& target) {
  ir::Builder& b = context.b;
  if (!is_complex(target.dtype)) return standard_normal(context, target.shape, target.drawing);
  const ir::Value real = standard_normal(context, target.shape, target.drawing);
  const ir::Value imag = standard_normal(context, target.shape, target.drawing);
  const ir::Value half = b.splat_like(real, std::numbers::sqrt2 / 2);
  return b.complex(b.multiply(real, half), b.multiply(imag, half));
}

ir::Value deviation(Context& context) {
  const ir::Value std = parameter(context, "std");
  return check_all(context, compare_with(context.b, ComparisonDirection::GE, std, 0), std, "normal expects std >= 0.0");
}

Results normal(Context& context) {
  const Target target = target_of(context, "fc");
  const ir::Value numbers = normal_of(context, target);
  return {context.b.convert(shifted(context.b, numbers, deviation(context), parameter(context, "mean")), target.dtype)};
}

Results log_normal(Context& context) {
  ir::Builder& b = context.b;
  const Target target = target_of(context, "f");
  const ir::Value std = positive(context, "std", "log_normal_ expects std > 0.0");
  const ir::Value numbers = standard_normal(context, target.shape, target.drawing);
  return {b.convert(b.exponential(shifted(b, numbers, std, parameter(context, "mean"))), target.dtype)};
}

/// A tensor of means or deviations, in the type and shape of `like`.
ir::Value spread_tensor(Context& context, std::string_view name, ir::Value like) {
  return context.b.broadcast_to(context.value(name, context.b.dtype(like)), context.b.shape(like));
}

ir::Value deviations(Context& context, ir::Value like) {
  const ir::Value std = spread_tensor(context, "std", like);
  const ir::Value valid = compare_with(context.b, ComparisonDirection::GE, std, 0);
  return check_all(context, valid, std, "normal expects all elements of std >= 0.0");
}

ir::Value normal_like(Context& context, std::string_view name, Dims shape) {
  const DType dtype = context.tensor(name).type.dtype;
  check_types(context, dtype, "f");
  return standard_normal(context, shape, drawing_dtype(dtype));
}

Results normal_tensor_float(Context& context) {
  ir::Builder& b = context.b;
  const ir::TensorType& type = context.tensor("mean").type;
  const ir::Value numbers = normal_like(context, "mean", type.shape);
  const ir::Value scaled = b.multiply(numbers, spread(b, deviation(context), numbers));
  return {b.convert(b.add(scaled, spread_tensor(context, "mean", numbers)), type.dtype)};
}

Results normal_float_tensor(Context& context) {
  ir::Builder& b = context.b;
  const ir::TensorType& type = context.tensor("std").type;
  const ir::Value numbers = normal_like(context, "std", type.shape);
  const ir::Value scaled = b.multiply(numbers, deviations(context, numbers));
  return {b.convert(b.add(scaled, spread(b, parameter(context, "mean"), numbers)), type.dtype)};
}

Results normal_tensor_tensor(Context& context) {
  ir::Builder& b = context.b;
  const DType dtype = context.tensor("mean").type.dtype;
  const ir::Value numbers = normal_like(context, "mean", broadcast_of_tensors(context.call));
  const ir::Value scaled = b.multiply(numbers, deviations(context, numbers));
  return {b.convert(b.add(scaled, spread_tensor(context, "mean", numbers)), dtype)};
}

/// 1 with the probabilities given, of the uniform numbers' shape.
Results bernoulli_of(Context& context, ir::Value uniform, ir::Value probabilities, DType dtype) {
  ir::Builder& b = context.b;
  const ir::Value at_least_0 = compare_with(b, ComparisonDirection::GE, probabilities, 0);
  const ir::Value valid = b.and_(at_least_0, compare_with(b, ComparisonDirection::LE, probabilities, 1));
  const ir::Value checked = check_all(context, valid, probabilities, "bernoulli expects p to be in [0, 1]");
  const ir::Value spread = b.broadcast_to(b.convert(checked, b.dtype(uniform)), b.shape(uniform));
  return {b.convert(b.compare(ComparisonDirection::LT, uniform, spread), dtype)};
}

Results bernoulli(Context& context) {
  const Target target = target_of(context, "f");
  const ir::Value uniform = context.random_uniform({target.drawing, target.shape});
  return bernoulli_of(context, uniform, context.value("self", target.drawing), target.dtype);
}

Results bernoulli_number(Context& context) {
  const Target target = target_of(context, "bif");
  const ir::Value uniform = context.random_uniform({target.drawing, target.shape});
  return bernoulli_of(context, uniform, parameter(context, "p"), target.dtype);
}

Results bernoulli_tensor(Context& context) {
  const Target target = target_of(context, "bif");
  const ir::TensorType& p = context.tensor("p").type;
  check_types(context, p.dtype, "f");
  Dims expanded;
  require(broadcast_shapes(p.shape, target.shape, expanded) && expanded == target.shape, context, ErrorKind::Runtime,
          {.what = "the probabilities do not expand to the shape of self",
           .got = to_string(p.shape) + " and " + to_string(target.shape),
           .action = "reshape them"});
  const DType drawing = drawing_dtype(p.dtype);
  const ir::Value uniform = context.random_uniform({drawing, target.shape});
  return bernoulli_of(context, uniform, context.value("p", drawing), target.dtype);
}

Results exponential(Context& context) {
  ir::Builder& b = context.b;
  const Target target = target_of(context, "f");
  const ir::Value rate = positive(context, "lambd", "exponential_ expects lambda > 0.0");
  const ir::Value numbers = standard_exponential(context, target.shape, target.drawing);
  return {b.convert(b.divide(numbers, spread(b, rate, numbers)), target.dtype)};
}

/// The number of trials up to the first success.
Results geometric(Context& context) {
  ir::Builder& b = context.b;
  const Target target = target_of(context, "if");
  const ir::Value p = parameter(context, "p");
  const ir::Value inside = b.and_(is_greater(b, p, 0), is_less(b, p, 1));
  const ir::Value valid = check_all(context, inside, p, "geometric_ expects p to be in (0, 1)");
  const ir::Value numbers = b.log(positive_unit_interval(context, target.shape, DType::F64));
  const ir::Value trials = b.ceil(b.divide(numbers, spread(b, b.log_plus_one(b.negate(valid)), numbers)));
  return {b.convert(b.maximum(trials, b.splat_like(trials, 1)), target.dtype)};
}

Results cauchy(Context& context) {
  ir::Builder& b = context.b;
  const Target target = target_of(context, "f");
  const ir::Value scale = positive(context, "sigma", "cauchy_ expects sigma > 0.0");
  const ir::Value unit = context.random_uniform({target.drawing, target.shape});
  const ir::Value centred = b.subtract(unit, b.splat_like(unit, 0.5));
  const ir::Value numbers = b.unary(ir::Op::Tan, b.multiply(centred, b.splat_like(unit, std::numbers::pi)));
  return {b.convert(shifted(b, numbers, scale, parameter(context, "median")), target.dtype)};
}

/// One more than the largest integer up to which a type holds every integer; 0 stands for 2^63.
int64_t integers_end(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 2;
    case DType::BF16: return (int64_t{1} << 8) + 1;
    case DType::F16: return (int64_t{1} << 11) + 1;
    case DType::F32: return (int64_t{1} << 24) + 1;
    case DType::F64: return (int64_t{1} << 53) + 1;
    default: break;
  }
  const int64_t bits = size_of(dtype) * 8 - (category(dtype) == Category::Signed ? 1 : 0);
  return bits >= 63 ? 0 : int64_t{1} << bits;
}

/// The lowest value `from` may have.
double lowest(DType dtype) {
  if (is_bool(dtype) || category(dtype) == Category::Unsigned) return 0;
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return -std::ldexp(1.0, static_cast<int>(size_of(dtype)) * 8 - 1);
}

bool holds(DType dtype, int64_t value) {
  if (is_float(dtype)) return true;
  const int64_t end = integers_end(dtype);
  return static_cast<double>(value) >= lowest(dtype) && (end == 0 || value < end);
}

/// Integers in [from, end); an `end` of 0 with `unbounded` stands for 2^63.
Results random_between(Context& context, int64_t from, int64_t end, bool unbounded) {
  const Target target = target_of(context, "bif");
  require(unbounded || from < end, context, ErrorKind::Runtime,
          {.what = concat("random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", end),
           .action = "swap the bounds"});
  require(holds(target.dtype, from), context, ErrorKind::Runtime,
          {.what = concat("from is out of bounds for ", info(target.dtype).torch_name),
           .got = concat(from),
           .action = "give a bound the type can hold"});
  require(unbounded || holds(target.dtype, end - 1), context, ErrorKind::Runtime,
          {.what = concat("to - 1 is out of bounds for ", info(target.dtype).torch_name),
           .got = concat(end),
           .action = "give a bound the type can hold"});
  const uint64_t stop = unbounded ? uint64_t{1} << 63 : static_cast<uint64_t>(end);
  const ir::Value integers = random_integers(context, target.shape, from, stop - static_cast<uint64_t>(from));
  return {context.b.convert(integers, target.dtype)};
}

Results random_up_to_largest(Context& context, int64_t from) {
  const int64_t end = integers_end(context.tensor("self").type.dtype);
  return random_between(context, from, end, end == 0);
}

Results random(Context& context) { return random_up_to_largest(context, 0); }
Results random_to(Context& context) { return random_between(context, 0, context.integer("to"), false); }
Results random_from(Context& context) {
  const int64_t from = context.integer("from");
  if (context.has("to")) return random_between(context, from, context.integer("to"), false);
  return random_up_to_largest(context, from);
}

}  // namespace

std::span<const Rule> random_rules() {
  static const Rule rules[] = {
      general("bernoulli", bernoulli),
      general("bernoulli.Tensor", bernoulli_tensor),
      general("bernoulli.p", bernoulli_number),
      general("cauchy", cauchy, StrideRule::LikeSelf),
      general("exponential", exponential, StrideRule::LikeSelf),
      general("geometric", geometric, StrideRule::LikeSelf),
      general("log_normal", log_normal, StrideRule::LikeSelf),
      general("normal.Tensor_Tensor", normal_tensor_tensor),
      general("normal.Tensor_float", normal_tensor_float),
      general("normal.float_Tensor", normal_float_tensor),
      general("normal_functional", normal, StrideRule::LikeSelf),
      general("random", random, StrideRule::LikeSelf),
      general("random.from", random_from, StrideRule::LikeSelf),
      general("random.to", random_to, StrideRule::LikeSelf),
      general("uniform", uniform, StrideRule::LikeSelf),
  };
  return rules;
}

}  // namespace opentrn::lowering
