// Arithmetic of two and three operands, and the unary operators that belong to it.
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

constexpr std::string_view kWithHalfComplex = "bifch";

Value product(Builder& b, Value x, Value y) { return is_bool(b.dtype(x)) ? b.and_(x, y) : b.multiply(x, y); }
Value sum(Builder& b, Value x, Value y) { return is_bool(b.dtype(x)) ? b.or_(x, y) : b.add(x, y); }

// --- add, sub, rsub: self + alpha * other

Dims derive_alpha(std::span<const ScalarValue> scalars) { return is_one(scalars, "alpha"); }

void check_alpha(const Context& c, DType dtype) {
  const DType alpha = c.scalar("alpha").dtype;
  const auto refuse = [&](std::string what) {
    c.refuse(ErrorKind::Runtime,
             {.what = std::move(what), .got = std::string("alpha of type ") + std::string(info(alpha).torch_name)});
  };
  if (is_bool(alpha) && !is_bool(dtype)) refuse("Boolean alpha only supported for Boolean results");
  if (is_integral(dtype) && !is_integral(alpha)) {
    refuse("For integral input tensors, argument alpha must not be a floating point number");
  }
  if (is_complex(alpha) && !is_complex(dtype)) {
    refuse("For non-complex input tensors, argument alpha must not be a complex number");
  }
}

bool is_bool_argument(const Argument& argument) {
  if (const auto* tensor = std::get_if<TensorArgument>(&argument)) return is_bool(tensor->type.dtype);
  const auto* scalar = std::get_if<ScalarArgument>(&argument);
  return scalar && is_bool(scalar->dtype);
}

void check_no_bool(const Context& c) {
  const bool left = is_bool_argument(c.call.argument("self"));
  const bool right = is_bool_argument(c.call.argument("other"));
  if (!left && !right) return;
  c.refuse(ErrorKind::Runtime,
           {.what = left && right ? "Subtraction, the `-` operator, with two bool tensors is not supported"
                                  : "Subtraction, the `-` operator, with a bool tensor is not supported",
            .action = left && right ? "use the `^` or `logical_xor()` operator instead"
                                    : "use the `~` or `logical_not()` operator to invert a mask"});
}

/// A factor of 1 changes only complex numbers with NaN or infinite parts.
bool needs_factor(const Context& c, DType dtype) { return c.call.derived.at(0) == 0 || is_complex(dtype); }

Operands scaled_operands(Context& c, size_t scaled) {
  Operands operands = promote_operands(c, Promotion::Common, kWithHalfComplex);
  check_alpha(c, operands.dtype);
  if (needs_factor(c, operands.dtype)) {
    operands.values[scaled] = product(c.b, operands.values[scaled], operands.values[2]);
  }
  return operands;
}

Results add(Context& c) {
  const Operands operands = scaled_operands(c, 1);
  return {c.b.convert(sum(c.b, operands.values[0], operands.values[1]), operands.dtype)};
}

Results subtract(Context& c) {
  check_no_bool(c);
  const Operands operands = scaled_operands(c, 1);
  return {c.b.convert(c.b.subtract(operands.values[0], operands.values[1]), operands.dtype)};
}

Results reverse_subtract(Context& c) {
  check_no_bool(c);
  const Operands operands = scaled_operands(c, 0);
  return {c.b.convert(c.b.subtract(operands.values[1], operands.values[0]), operands.dtype)};
}

// --- products and quotients

Value multiply(Builder& b, Values v) { return product(b, v[0], v[1]); }
Value divide(Builder& b, Values v) { return b.divide(v[0], v[1]); }

/// Whether a non-zero remainder has another sign than the divisor.
Value needs_floor_step(Builder& b, Value remainder, Value divisor) {
  const Value opposite =
      b.xor_(compare_with(b, Direction::LT, remainder, 0.0), compare_with(b, Direction::LT, divisor, 0.0));
  return b.and_(compare_with(b, Direction::NE, remainder, 0.0), opposite);
}

Value remainder(Builder& b, Values v) {
  const Value truncated = b.remainder(v[0], v[1]);
  return b.select(needs_floor_step(b, truncated, v[1]), b.add(truncated, v[1]), truncated);
}

Value fmod(Builder& b, Values v) { return b.remainder(v[0], v[1]); }

Value floor_divide_integers(Builder& b, Value x, Value y) {
  const Value quotient = b.divide(x, y);
  const Value step = needs_floor_step(b, b.remainder(x, y), y);
  return b.select(step, b.subtract(quotient, b.splat_like(quotient, 1.0)), quotient);
}

Value floor_divide_floats(Builder& b, Value x, Value y) {
  const Value modulo = b.remainder(x, y);
  const Value exact = b.divide(b.subtract(x, modulo), y);
  const Value one = b.splat_like(x, 1.0);
  const Value quotient = b.select(needs_floor_step(b, modulo, y), b.subtract(exact, one), exact);
  const Value floor = b.floor(quotient);
  const Value off = compare_with(b, Direction::GT, b.subtract(quotient, floor), 0.5);
  const Value rounded = b.select(off, b.add(floor, one), floor);
  const Value plain = b.divide(x, y);
  const Value signed_zero = b.multiply(plain, b.splat_like(plain, 0.0));
  const Value result = b.select(compare_with(b, Direction::EQ, quotient, 0.0), signed_zero, rounded);
  return b.select(compare_with(b, Direction::EQ, y, 0.0), plain, result);
}

Value floor_divide(Builder& b, Values v) {
  return is_integer(b.dtype(v[0])) ? floor_divide_integers(b, v[0], v[1]) : floor_divide_floats(b, v[0], v[1]);
}

// The CPU rounds the quotient of two tensors of narrow floats before it cuts it off, but not that by one number.
Value truncate_divide(Context& c, const Operands& operands) {
  Builder& b = c.b;
  const Value quotient = b.divide(operands.values[0], operands.values[1]);
  if (is_integer(b.dtype(quotient))) return quotient;
  const auto* divisor = std::get_if<TensorArgument>(&c.call.argument("other"));
  const bool rounds = divisor != nullptr && divisor->type.elements() != 1;
  return truncate(b, rounds ? b.convert(b.convert(quotient, operands.dtype), operands.compute) : quotient);
}

Results divide_mode(Context& c) {
  if (!c.has("rounding_mode")) {
    const Operands operands = promote_operands(c, Promotion::Float, "fc", true);
    return {c.b.convert(divide(c.b, operands.values), operands.dtype)};
  }
  const std::string& mode = c.text("rounding_mode");
  if (mode != "trunc" && mode != "floor") {
    c.refuse(ErrorKind::Runtime,
             {.what = "div expected rounding_mode to be one of None, 'trunc', or 'floor'", .got = "'" + mode + "'"});
  }
  const Operands operands = promote_operands(c, Promotion::Common, "if", true);
  const Value result = mode == "floor" ? floor_divide(c.b, operands.values) : truncate_divide(c, operands);
  return {c.b.convert(result, operands.dtype)};
}

// --- one operand

Value negate(Builder& b, Values v) { return b.negate(v[0]); }
Value reciprocal(Builder& b, Values v) { return b.divide(b.splat_like(v[0], 1.0), v[0]); }

Results absolute(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, "ifch");
  if (is_complex(dtype) && c.call.in_place) {
    c.refuse(ErrorKind::Runtime,
             {.what = "In-place abs is not supported for complex tensors", .action = "use the out-of-place form"});
  }
  if (category(dtype) == Category::Unsigned) return {c.value("self")};
  return {c.b.convert(c.b.abs(compute_value(c, "self")), real_dtype(dtype))};
}

Value sign_of_real(Builder& b, Value x) {
  const DType dtype = b.dtype(x);
  if (is_bool(dtype)) return x;
  const Value positive = b.convert(compare_with(b, Direction::GT, x, 0.0), dtype);
  if (category(dtype) == Category::Unsigned) return positive;
  return b.subtract(positive, b.convert(compare_with(b, Direction::LT, x, 0.0), dtype));
}

Value sign(Builder& b, Values v) { return sign_of_real(b, v[0]); }

Value sgn(Builder& b, Values v) {
  if (!is_complex(b.dtype(v[0]))) return sign_of_real(b, v[0]);
  const Value length = b.abs(v[0]);
  const Value zero = compare_with(b, Direction::EQ, length, 0.0);
  return b.select(zero, b.splat_like(v[0], 0.0), b.divide(v[0], b.convert(length, b.dtype(v[0]))));
}

Value conjugate(Builder& b, Values v) {
  if (!is_complex(b.dtype(v[0]))) return v[0];
  return b.complex(b.real(v[0]), b.negate(b.imag(v[0])));
}

// --- addcmul, addcdiv: self + value * tensor1 (*|/) tensor2

Dims derive_value(std::span<const ScalarValue> scalars) { return is_one(scalars, "value"); }

Value scaled_tensor1(const Context& c, const Operands& operands) {
  const Value tensor1 = operands.values[1];
  return !needs_factor(c, operands.dtype) ? tensor1 : c.b.multiply(operands.values[3], tensor1);
}

Results addcmul(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "ifc", true);
  const Value term = c.b.multiply(scaled_tensor1(c, operands), operands.values[2]);
  return {c.b.convert(c.b.add(operands.values[0], term), operands.dtype)};
}

Results addcdiv(Context& c) {
  if (is_integral(c.tensor("tensor1").type.dtype) && is_integral(c.tensor("tensor2").type.dtype)) {
    c.refuse(ErrorKind::Runtime, {.what = "Integer division with addcdiv is no longer supported",
                                  .action = "convert tensor1 or tensor2 to a floating type, or compose trunc and div"});
  }
  const Operands operands = promote_operands(c, Promotion::Common, "fc", true);
  const Value term = c.b.divide(scaled_tensor1(c, operands), operands.values[2]);
  return {c.b.convert(c.b.add(operands.values[0], term), operands.dtype)};
}

// --- lerp: the form that is exact at the nearer end

void check_same_dtype(const Context& c, std::string_view name) {
  const DType expected = c.tensor("self").type.dtype;
  const DType got = c.tensor(name).type.dtype;
  if (got == expected) return;
  c.refuse(ErrorKind::Runtime, {.what = concat("expected dtype ", info(expected).torch_name, " for `", name, "`"),
                                .got = concat("dtype ", info(got).torch_name),
                                .action = "convert it first"});
}

Value lerp_from_start(Builder& b, Values v) { return b.add(v[0], b.multiply(v[2], b.subtract(v[1], v[0]))); }
Value lerp_from_end(Builder& b, Values v) {
  const Value rest = b.subtract(b.splat_like(v[2], 1.0), v[2]);
  return b.subtract(v[1], b.multiply(b.subtract(v[1], v[0]), rest));
}

Dims derive_small_weight(std::span<const ScalarValue> scalars) {
  for (const ScalarValue& scalar : scalars) {
    if (scalar.name == "weight") return {std::abs(scalar.number) < 0.5 ? 1 : 0};
  }
  return {0};
}

Results lerp_scalar(Context& c) {
  check_same_dtype(c, "end");
  const Operands operands = promote_operands(c, Promotion::Common, "fc", true);
  const bool small = c.call.derived.at(0) == 1;
  const Value result = small ? lerp_from_start(c.b, operands.values) : lerp_from_end(c.b, operands.values);
  return {c.b.convert(result, operands.dtype)};
}

Results lerp_tensor(Context& c) {
  check_same_dtype(c, "end");
  if (!c.tensor("weight").type.shape.empty()) check_same_dtype(c, "weight");
  const Operands operands = promote_operands(c, Promotion::Common, "fc", true);
  const Value small = compare_with(c.b, Direction::LT, c.b.abs(operands.values[2]), 0.5);
  const Value result = c.b.select(small, lerp_from_start(c.b, operands.values), lerp_from_end(c.b, operands.values));
  return {c.b.convert(result, operands.dtype)};
}

Rule with_derive(std::string_view name, RuleFunction function, DeriveFunction derive) {
  Rule rule = general(name, function, StrideRule::Elementwise);
  rule.derive = derive;
  return rule;
}

Rule wide(std::string_view name, ElementwiseFunction function, Promotion promotion, std::string_view types) {
  Rule rule = elementwise(name, function, promotion, types);
  rule.wide_scalars = true;
  return rule;
}

const std::array kRules = {
    with_derive("add.Scalar", add, derive_alpha),
    with_derive("add.Tensor", add, derive_alpha),
    with_derive("addcdiv", addcdiv, derive_value),
    with_derive("addcmul", addcmul, derive_value),
    elementwise("_conj_physical", conjugate, Promotion::Common, kWithHalfComplex),
    general("abs", absolute, StrideRule::Elementwise),
    elementwise("conj_physical", conjugate, Promotion::Common, kWithHalfComplex),
    wide("div.Scalar", divide, Promotion::Float, "fc"),
    general("div.Scalar_mode", divide_mode, StrideRule::Elementwise),
    wide("div.Tensor", divide, Promotion::Float, "fc"),
    general("div.Tensor_mode", divide_mode, StrideRule::Elementwise),
    wide("floor_divide", floor_divide, Promotion::Common, "if"),
    wide("floor_divide.Scalar", floor_divide, Promotion::Common, "if"),
    elementwise("fmod.Scalar", fmod, Promotion::Common, "if"),
    elementwise("fmod.Tensor", fmod, Promotion::Common, "if"),
    with_derive("lerp.Scalar", lerp_scalar, derive_small_weight),
    general("lerp.Tensor", lerp_tensor, StrideRule::Elementwise),
    wide("mul.Scalar", multiply, Promotion::Common, kWithHalfComplex),
    wide("mul.Tensor", multiply, Promotion::Common, kWithHalfComplex),
    elementwise("neg", negate, Promotion::Common, "ifch"),
    elementwise("reciprocal", reciprocal, Promotion::Float, "fc"),
    elementwise("remainder.Scalar", remainder, Promotion::Common, "if"),
    elementwise("remainder.Scalar_Tensor", remainder, Promotion::Common, "if"),
    elementwise("remainder.Tensor", remainder, Promotion::Common, "if"),
    with_derive("rsub.Scalar", reverse_subtract, derive_alpha),
    with_derive("rsub.Tensor", reverse_subtract, derive_alpha),
    elementwise("sgn", sgn, Promotion::Common, kWithHalfComplex),
    elementwise("sign", sign, Promotion::Common, "bif"),
    with_derive("sub.Scalar", subtract, derive_alpha),
    with_derive("sub.Tensor", subtract, derive_alpha),
};

}  // namespace

std::span<const Rule> arithmetic_rules() { return kRules; }

}  // namespace opentrn::lowering
