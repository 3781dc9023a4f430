// Reductions: sums, products, extremes, logic, variance, norms.
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Dims& self_shape(const Context& c) { return c.tensor("self").type.shape; }
DType self_dtype(const Context& c) { return c.tensor("self").type.dtype; }
int64_t self_rank(const Context& c) { return static_cast<int64_t>(self_shape(c).size()); }

Dims all_dimensions(const Context& c) {
  Dims dims(self_shape(c).size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
  return dims;
}

/// The dtype argument, else that of the output to write, else `otherwise`.
DType requested_dtype(const Context& c, DType otherwise) {
  if (c.has("dtype")) return c.dtype("dtype");
  if (!c.call.destinations.empty()) return c.call.destinations.front().type.dtype;
  return otherwise;
}

DType sum_dtype(const Context& c) {
  return requested_dtype(c, is_integral(self_dtype(c)) ? DType::I64 : self_dtype(c));
}

/// Reduces `x` in the computation type of `dtype` and brings the result to it.
Value reduce_as(Context& c, Value x, Op op, const Dims& dims, DType dtype, bool keepdim) {
  const Dims shape = c.b.shape(x);
  const Value reduced = c.b.reduce(c.b.convert(x, compute_dtype(dtype)), op, dims);
  return keep_dims(c.b, c.b.convert(reduced, dtype), shape, dims, keepdim);
}

// --- sum, nansum, mean, prod

Value sum_of(Context& c, Value x, const Dims& dims, DType dtype, bool keepdim) {
  if (is_bool(dtype)) return reduce_as(c, truthy(c.b, x), Op::Or, dims, dtype, keepdim);
  return reduce_as(c, c.b.convert(x, dtype), Op::Add, dims, dtype, keepdim);
}

Results sum(Context& c) {
  check_types(c, self_dtype(c), kAllTypes);
  return {sum_of(c, c.value("self"), all_dimensions(c), sum_dtype(c), false)};
}

Results sum_dims(Context& c) {
  check_types(c, self_dtype(c), kAllTypes);
  return {sum_of(c, c.value("self"), c.dimensions("dim", self_rank(c)), sum_dtype(c), c.flag("keepdim"))};
}

Results nansum(Context& c) {
  const DType dtype = self_dtype(c);
  const Dims dims = c.dimensions("dim", self_rank(c));
  if (is_complex(dtype)) {
    c.refuse(ErrorKind::Runtime, {.what = "nansum does not support complex inputs", .action = "use sum"});
  }
  check_types(c, dtype, "bif");
  if (is_float(dtype)) check_types(c, sum_dtype(c), "bif");
  Value x = c.value("self");
  if (is_float(dtype)) x = select_constant(c.b, c.b.is_nan(x), 0.0, x);
  return {sum_of(c, x, dims, sum_dtype(c), c.flag("keepdim"))};
}

DType mean_dtype(const Context& c) {
  const bool given = c.has("dtype");
  const DType dtype = requested_dtype(c, self_dtype(c));
  if (is_float(dtype) || is_complex(dtype)) return dtype;
  c.refuse(ErrorKind::Runtime, {.what = concat("mean(): could not infer output dtype. ", given ? "Optional" : "Input",
                                               " dtype must be either a floating point or complex dtype"),
                                .got = std::string(scalar_type_name(dtype)),
                                .action = "convert the input or pass dtype=torch.float32"});
}

Value mean_of(Context& c, const Dims& dims, bool keepdim) {
  const DType dtype = mean_dtype(c);
  check_types(c, dtype, "fc");
  const Value mean = mean_over(c.b, c.value("self", compute_dtype(dtype)), dims);
  return keep_dims(c.b, c.b.convert(mean, dtype), self_shape(c), dims, keepdim);
}

Results mean(Context& c) { return {mean_of(c, all_dimensions(c), false)}; }

Results mean_dims(Context& c) {
  mean_dtype(c);  // raises before a bad dimension does, as in PyTorch
  return {mean_of(c, c.dimensions("dim", self_rank(c)), c.flag("keepdim"))};
}

Value product_of(Context& c, const Dims& dims, bool keepdim) {
  check_types(c, self_dtype(c), kAllTypes);
  const DType dtype = sum_dtype(c);
  if (is_bool(dtype)) return reduce_as(c, truthy(c.b, c.value("self")), Op::And, dims, dtype, keepdim);
  return reduce_as(c, c.value("self", dtype), Op::Multiply, dims, dtype, keepdim);
}

Results prod(Context& c) { return {product_of(c, all_dimensions(c), false)}; }
Results prod_dim(Context& c) { return {product_of(c, c.dimensions("dim", self_rank(c)), c.flag("keepdim"))}; }

// --- all, any, count_nonzero

Value logic_of(Context& c, Op op, const Dims& dims, bool keepdim) {
  const DType result = self_dtype(c) == DType::U8 ? DType::U8 : DType::Bool;
  const Value reduced = c.b.reduce(truthy(c.b, c.value("self")), op, dims);
  return keep_dims(c.b, c.b.convert(reduced, result), self_shape(c), dims, keepdim);
}

template <Op op>
Results logic(Context& c) {
  return {logic_of(c, op, all_dimensions(c), false)};
}

template <Op op>
Results logic_dims(Context& c) {
  return {logic_of(c, op, c.dimensions("dim", self_rank(c), false), c.flag("keepdim"))};
}

Results count_nonzero(Context& c) {
  check_types(c, self_dtype(c), kAllTypes);
  const Value ones = c.b.convert(truthy(c.b, c.value("self")), DType::I64);
  return {c.b.reduce(ones, Op::Add, c.dimensions("dim", self_rank(c)))};
}

// --- amax, amin, max, min, aminmax

void check_not_empty(const Context& c, std::string_view name, const Dims& dims, ErrorKind kind = ErrorKind::Index) {
  for (const int64_t dim : dims) {
    if (self_shape(c)[static_cast<size_t>(dim)] != 0) continue;
    c.refuse(kind, {.what = concat(name, "(): Expected reduction dim ", dim, " to have non-zero size"),
                    .got = to_string(self_shape(c)),
                    .action = "reduce over a dimension that has elements"});
  }
}

void check_has_elements(const Context& c, std::string_view name, ErrorKind kind = ErrorKind::Runtime) {
  if (element_count(self_shape(c)) != 0) return;
  c.refuse(kind, {.what = concat(name, "(): Expected reduction dim to be specified for input.numel() == 0"),
                  .action = "specify the reduction dim with the 'dim' argument"});
}

Value extreme_of(Context& c, Op op, const Dims& dims, bool keepdim) {
  const DType dtype = self_dtype(c);
  const Dims shape = reduced_shape(self_shape(c), dims, keepdim);
  if (element_count(shape) == 0) return c.b.splat({dtype, shape}, 0.0);
  return reduce_as(c, c.value("self"), extreme_op(op, dtype), dims, dtype, keepdim);
}

template <Op op>
Results extremes(Context& c) {
  const std::string_view name = op == Op::Maximum ? "amax" : "amin";
  const Dims dims = c.dimensions("dim", self_rank(c));
  if (c.integers("dim").empty()) check_has_elements(c, name);
  check_not_empty(c, name, dims);
  if (element_count(self_shape(c)) != 0) check_types(c, self_dtype(c), "bif");
  return {extreme_of(c, op, dims, c.flag("keepdim"))};
}

template <Op op>
Results extreme(Context& c) {
  check_types(c, self_dtype(c), "bif");
  check_has_elements(c, op == Op::Maximum ? "max" : "min");
  return {extreme_of(c, op, all_dimensions(c), false)};
}

Results both_extremes(Context& c) {
  const Dims dims = c.dimensions("dim", self_rank(c));
  if (c.has("dim")) check_not_empty(c, "aminmax", dims);
  check_types(c, self_dtype(c), "bif");
  if (!c.has("dim") && element_count(self_shape(c)) == 0) {
    c.refuse(ErrorKind::Runtime, {.what = "aminmax(): cannot compute aminmax over an empty dimension as the operation "
                                          "has no identity"});
  }
  return {extreme_of(c, Op::Minimum, dims, c.flag("keepdim")), extreme_of(c, Op::Maximum, dims, c.flag("keepdim"))};
}

// --- positions of extremes: the first element that equals the extreme, or is NaN

/// The smallest index along `dim` at which `x` attains `extreme` (without `dim`), int64.
Value first_position(Builder& b, Value x, Value extreme, int64_t dim) {
  const Dims shape = b.shape(x);
  Value found = b.compare(Direction::EQ, x, expand_reduced(b, extreme, shape, {dim}));
  if (is_float(b.dtype(x))) found = b.or_(found, b.is_nan(x));
  const Value index = b.iota({DType::I64, shape}, dim);
  const Value beyond = b.splat_like(index, static_cast<double>(shape[static_cast<size_t>(dim)]));
  return b.reduce(b.select(found, index, beyond), Op::Minimum, {dim});
}

template <Op op>
Results extreme_with_index(Context& c) {
  const DType dtype = self_dtype(c);
  const int64_t dim = c.dimension(c.integer("dim"), self_rank(c));
  if (self_rank(c) > 0) check_not_empty(c, op == Op::Maximum ? "max" : "min", {dim});
  check_types(c, dtype, "bif");
  if (self_rank(c) == 0) return {c.value("self"), c.b.scalar(DType::I64, 0.0)};
  const Value x = c.value("self");
  const Value value = c.b.reduce(x, extreme_op(op, dtype), {dim});
  const bool keepdim = c.flag("keepdim");
  return {keep_dims(c.b, value, self_shape(c), {dim}, keepdim),
          keep_dims(c.b, first_position(c.b, x, value, dim), self_shape(c), {dim}, keepdim)};
}

template <Op op>
Results arg_extreme(Context& c) {
  const std::string_view name = op == Op::Maximum ? "argmax" : "argmin";
  const DType dtype = self_dtype(c);
  if (is_bool(dtype) || is_complex(dtype)) {
    c.refuse(ErrorKind::Runtime,
             {.what = concat(name, "(): does not support ", is_bool(dtype) ? "bool" : "complex", " input"),
              .action = "convert the input"});
  }
  check_types(c, dtype, "if");
  const bool keepdim = c.flag("keepdim");
  Value x = c.value("self");
  if (!c.has("dim")) {
    check_has_elements(c, name, ErrorKind::Index);
    x = c.b.reshape(x, {element_count(self_shape(c))});
    const Value position = first_position(c.b, x, c.b.reduce(x, op, {0}), 0);
    return {keep_dims(c.b, position, self_shape(c), all_dimensions(c), keepdim)};
  }
  const int64_t dim = c.dimension(c.integer("dim"), self_rank(c));
  if (self_rank(c) == 0) return {c.b.scalar(DType::I64, 0.0)};
  check_not_empty(c, name, {dim});
  const Value position = first_position(c.b, x, c.b.reduce(x, op, {dim}), dim);
  return {keep_dims(c.b, position, self_shape(c), {dim}, keepdim)};
}

// --- variance

struct Variance {
  Value variance, mean, rough_mean;  // of the numbers divided by the scale
  std::optional<Value> scale;
};

void check_variance_type(const Context& c) {
  const DType dtype = self_dtype(c);
  if (!is_float(dtype) && !is_complex(dtype)) {
    c.refuse(ErrorKind::Runtime, {.what = "std and var only support floating point and complex dtypes",
                                  .got = std::string(scalar_type_name(dtype)),
                                  .action = "convert the input"});
  }
  if (is_complex(dtype)) decline("variance of complex numbers");
  check_types(c, dtype, "f");
}

/// A power of two near the largest magnitude, and its inverse. Squares of float32 numbers overflow or vanish long
/// before the numbers do; those of what is left after a division by it do not, and no bit is lost.
struct PowersOfTwo {
  Value scale, inverse;
};

PowersOfTwo scale_of(Builder& b, Value x, const Dims& dims) {
  const Value largest = b.bitcast_convert(b.reduce(b.abs(x), Op::Maximum, dims), DType::I32);
  const auto bits = [&](int32_t pattern) { return b.splat_like(largest, pattern); };
  constexpr int32_t kExponent = 0x7F800000, kLeast = 0x00800000, kMost = 0x7E800000;  // 2^-126 and 2^126
  const Value exponent = b.clamp(bits(kLeast), b.and_(largest, bits(kExponent)), bits(kMost));
  return {b.bitcast_convert(exponent, DType::F32),
          b.bitcast_convert(b.subtract(bits(kLeast + kMost), exponent), DType::F32)};
}

Variance variance_of(Context& c, const Dims& dims) {
  Builder& b = c.b;
  Value x = compute_value(c, "self");
  std::optional<Value> scale;
  if (b.dtype(x) == DType::F32) {
    const PowersOfTwo powers = scale_of(b, x, dims);
    x = b.multiply(x, expand_reduced(b, powers.inverse, b.shape(x), dims));
    scale = powers.scale;
  }
  const Moments both = moments(b, x, dims);
  const double count = static_cast<double>(count_of(b.shape(x), dims));
  Value degrees = b.scalar(DType::F64, std::max(count - 1.0, 0.0));
  if (c.has("correction")) {
    degrees = b.subtract(b.scalar(DType::F64, count), c.scalar_value("correction", DType::F64));
    degrees = b.maximum(degrees, b.scalar(DType::F64, 0.0));
  }
  const Value divisor = b.broadcast_to(b.convert(degrees, b.dtype(x)), b.shape(both.squares));
  return {b.divide(both.squares, divisor), both.mean, mean_over(b, x, dims), scale};
}

template <bool root, bool with_mean>
Results variance(Context& c) {
  const DType dtype = self_dtype(c);
  check_variance_type(c);
  const Dims dims = c.dimensions("dim", self_rank(c));
  const bool keepdim = c.flag("keepdim");
  const Variance both = variance_of(c, dims);
  const auto finish = [&](Value value) {
    return keep_dims(c.b, c.b.convert(value, dtype), self_shape(c), dims, keepdim);
  };
  const auto unscaled = [&](Value value) { return both.scale ? c.b.multiply(value, *both.scale) : value; };
  Results results{finish(root ? unscaled(c.b.sqrt(both.variance)) : unscaled(unscaled(both.variance)))};
  if (!with_mean) return results;
  // An infinite mean has no rounding error to correct.
  const Value mean = c.b.select(c.b.is_finite(both.rough_mean), both.mean, both.rough_mean);
  results.push_back(finish(unscaled(mean)));
  return results;
}

// --- norms and logsumexp

enum class Order : int64_t { Other, Zero, One, Two, Infinity, MinusInfinity, Negative };

Dims classify_order(std::span<const ScalarValue> scalars) {
  for (const ScalarValue& scalar : scalars) {
    if (scalar.name != "ord" && scalar.name != "p") continue;
    const double order = scalar.number.real();
    if (order == 0.0) return {static_cast<int64_t>(Order::Zero)};
    if (order == 1.0) return {static_cast<int64_t>(Order::One)};
    if (order == 2.0) return {static_cast<int64_t>(Order::Two)};
    if (order == kInfinity) return {static_cast<int64_t>(Order::Infinity)};
    if (order == -kInfinity) return {static_cast<int64_t>(Order::MinusInfinity)};
    if (order < 0.0) return {static_cast<int64_t>(Order::Negative)};
  }
  return {static_cast<int64_t>(Order::Other)};
}

Value power_norm(Context& c, Value x, const Dims& dims, std::string_view name) {
  const Value order = c.scalar_value(name, c.b.dtype(x));
  const Value sum = c.b.reduce(c.b.power(x, c.b.broadcast_to(order, c.b.shape(x))), Op::Add, dims);
  const Value inverse = c.b.divide(c.b.splat_like(order, 1.0), order);
  return c.b.power(sum, c.b.broadcast_to(inverse, c.b.shape(sum)));
}

/// `name`: the argument that holds the order.
Value norm_of(Context& c, Value x, const Dims& dims, Order order, std::string_view name = "ord") {
  Builder& b = c.b;
  switch (order) {
    case Order::Zero: return b.reduce(b.convert(truthy(b, x), b.dtype(x)), Op::Add, dims);
    case Order::One: return b.reduce(x, Op::Add, dims);
    case Order::Two: return b.sqrt(b.reduce(b.multiply(x, x), Op::Add, dims));
    case Order::Infinity: return b.reduce(x, Op::Maximum, dims);
    case Order::MinusInfinity: return b.reduce(x, Op::Minimum, dims);
    case Order::Negative:
    case Order::Other: return power_norm(c, x, dims, name);
  }
  __builtin_unreachable();
}

void check_norm(const Context& c, DType dtype, const Dims& dims, Order order) {
  const DType self = self_dtype(c);
  if (is_integral(self)) {
    c.refuse(ErrorKind::Runtime, {.what = "linalg.vector_norm: Expected a floating point or complex tensor as input",
                                  .got = std::string(scalar_type_name(self))});
  }
  check_types(c, self, "fch");
  if (is_complex(dtype) && !is_complex(self)) {
    c.refuse(ErrorKind::Runtime, {.what = "linalg.vector_norm: dtype should be real for real inputs",
                                  .got = std::string(scalar_type_name(dtype))});
  }
  if (promote_types(self, dtype) != dtype || is_integral(dtype)) {
    c.refuse(ErrorKind::Runtime, {.what = concat("linalg.vector_norm: the dtype of the input (", scalar_type_name(self),
                                                 ") should be convertible without narrowing to the specified dtype (",
                                                 scalar_type_name(dtype), ")")});
  }
  const bool has_identity = order != Order::Infinity && order != Order::MinusInfinity && order != Order::Negative;
  if (!has_identity && count_of(self_shape(c), dims) == 0) {
    c.refuse(ErrorKind::Runtime, {.what = "linalg.vector_norm cannot compute this norm on an empty tensor or dimension "
                                          "because the operation does not have an identity"});
  }
}

Results norm_over_dims(Context& c, Order order, std::string_view name) {
  const Dims dims = c.dimensions("dim", self_rank(c));
  const DType dtype = is_given(c, "dtype") ? c.dtype("dtype") : self_dtype(c);
  check_norm(c, dtype, dims, order);
  const Value x = c.b.abs(c.value("self", compute_dtype(dtype)));
  const Value norm = c.b.convert(norm_of(c, x, dims, order, name), real_dtype(dtype));
  return {keep_dims(c.b, norm, self_shape(c), dims, c.flag("keepdim"))};
}

Results vector_norm(Context& c) { return norm_over_dims(c, static_cast<Order>(c.call.derived.at(0)), "ord"); }

Results norm(Context& c) {
  require(is_given(c, "dtype") || !is_integral(self_dtype(c)), c, ErrorKind::Runtime,
          {.what = "input dtype should be either floating point or complex",
           .got = std::string(scalar_type_name(self_dtype(c))),
           .action = "convert the input"});
  return norm_over_dims(c, c.has("p") ? static_cast<Order>(c.call.derived.at(0)) : Order::Two, "p");
}

/// Slices whose norm is too large are brought down to it.
Results renorm(Context& c) {
  Builder& b = c.b;
  const auto order = static_cast<Order>(c.call.derived.at(0));
  const bool positive = order != Order::Zero && order != Order::Negative && order != Order::MinusInfinity;
  require(positive, c, ErrorKind::Runtime, {.what = "non-positive-norm not supported", .action = "give a positive p"});
  require(self_rank(c) > 1, c, ErrorKind::Runtime,
          {.what = concat("input needs at least 2 dimensions, got ", self_rank(c), " dimensions")});
  const int64_t dim = c.dimension(c.integer("dim"), self_rank(c));
  Dims others = all_dimensions(c);
  others.erase(others.begin() + dim);
  const DType dtype = self_dtype(c);
  check_norm(c, dtype, others, order);
  if (c.tensor("self").type.elements() == 0) return {c.value("self")};
  const Value x = compute_value(c, "self");
  const Value norm = norm_of(c, b.abs(x), others, order, "p");
  const Value limit = c.scalar_value("maxnorm", b.dtype(norm));
  const Value valid = b.compare(Direction::GE, limit, b.splat_like(limit, 0.0));
  const Value most = b.broadcast_to(b.check(valid, limit, "[renorm] expected maxnorm to be >= 0"), b.shape(norm));
  const Value down = b.divide(most, b.add(norm, b.splat_like(norm, 1e-7)));
  const Value factor = b.select(b.compare(Direction::GT, norm, most), down, b.splat_like(norm, 1.0));
  return {b.convert(b.multiply(x, expand_reduced(b, b.convert(factor, b.dtype(x)), b.shape(x), others)), dtype)};
}

Results logsumexp(Context& c) {
  const DType dtype = inexact_dtype(c, self_dtype(c));
  if (is_complex(dtype)) decline("logsumexp of complex numbers");
  check_types(c, dtype, "f");
  Builder& b = c.b;
  const Dims dims = c.dimensions("dim", self_rank(c));
  const Value x = b.convert(c.value("self", dtype), compute_dtype(dtype));
  const Dims shape = b.shape(x);
  const Value extreme = b.reduce(x, Op::Maximum, dims);
  const Value largest = select_constant(b, compare_with(b, Direction::EQ, b.abs(extreme), kInfinity), 0.0, extreme);
  const Value powers = b.exponential(b.subtract(x, expand_reduced(b, largest, shape, dims)));
  const Value result = b.add(b.log(b.reduce(powers, Op::Add, dims)), largest);
  return {keep_dims(b, b.convert(result, dtype), shape, dims, c.flag("keepdim"))};
}

Rule norm_rule(std::string_view name, RuleFunction function) {
  Rule rule = general(name, function);
  rule.derive = classify_order;
  return rule;
}

const std::array kRules = {
    general("all", logic<Op::And>),
    general("all.dim", logic_dims<Op::And>),
    general("all.dims", logic_dims<Op::And>),
    general("amax", extremes<Op::Maximum>),
    general("amin", extremes<Op::Minimum>),
    general("aminmax", both_extremes),
    general("any", logic<Op::Or>),
    general("any.dim", logic_dims<Op::Or>),
    general("any.dims", logic_dims<Op::Or>),
    general("argmax", arg_extreme<Op::Maximum>),
    general("argmin", arg_extreme<Op::Minimum>),
    general("count_nonzero", count_nonzero),
    general("count_nonzero.dim_IntList", count_nonzero),
    norm_rule("linalg_vector_norm", vector_norm),
    general("logsumexp", logsumexp),
    general("max", extreme<Op::Maximum>),
    general("max.dim", extreme_with_index<Op::Maximum>),
    converting(general("mean", mean)),
    converting(general("mean.dim", mean_dims)),
    general("min", extreme<Op::Minimum>),
    general("min.dim", extreme_with_index<Op::Minimum>),
    converting(general("nansum", nansum)),
    norm_rule("norm.ScalarOpt_dim", norm),
    norm_rule("norm.ScalarOpt_dim_dtype", norm),
    converting(general("prod", prod)),
    converting(general("prod.dim_int", prod_dim)),
    norm_rule("renorm", renorm),
    converting(general("std.correction", variance<true, false>)),
    general("std_mean.correction", variance<true, true>),
    converting(general("sum", sum)),
    converting(general("sum.dim_IntList", sum_dims)),
    converting(general("var.correction", variance<false, false>)),
    general("var_mean.correction", variance<false, true>),
};

}  // namespace

std::span<const Rule> reduction_rules() { return kRules; }

}  // namespace opentrn::lowering
