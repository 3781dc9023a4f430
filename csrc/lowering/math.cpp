// Elementary and special functions: rounding, powers, exponentials, trigonometry.
#include <array>
#include <cmath>
#include <limits>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <Op op>
Value unary(Builder& b, Values v) {
  return b.unary(op, v[0]);
}

template <Op op>
Value binary(Builder& b, Values v) {
  return b.binary(op, v[0], v[1]);
}

/// Functions with no primitive for complex numbers are spelled in `scaled`: log(x) times a constant.
Value scaled(Builder& b, Value x, double factor) { return b.multiply(x, b.splat_like(x, factor)); }

// --- rounding: integers stay as they are

template <Op op>
Value rounded(Builder& b, Values v) {
  return is_float(b.dtype(v[0])) ? b.unary(op, v[0]) : v[0];
}

Value trunc(Builder& b, Values v) { return is_float(b.dtype(v[0])) ? truncate(b, v[0]) : v[0]; }
Value frac(Builder& b, Values v) { return b.subtract(v[0], truncate(b, v[0])); }

Results round_decimals(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  const int64_t decimals = c.integer("decimals");
  check_types(c, dtype, "f");
  const Value x = compute_value(c, "self");
  if (decimals == 0) return {c.b.convert(c.b.round_nearest_even(x), dtype)};
  const Value ten = c.b.splat_like(x, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  const bool fine = decimals > 0;
  const Value whole = c.b.round_nearest_even(fine ? c.b.multiply(x, ten) : c.b.divide(x, ten));
  return {c.b.convert(fine ? c.b.divide(whole, ten) : c.b.multiply(whole, ten), dtype)};
}

// --- exponentials and logarithms

Value exp2(Builder& b, Values v) {
  if (is_complex(b.dtype(v[0]))) return b.exponential(scaled(b, v[0], std::numbers::ln2));
  return b.power(b.splat_like(v[0], 2.0), v[0]);
}

/// x * 2^exponent. The power alone may overflow or vanish where the product does not, so it comes in three factors.
Value ldexp(Builder& b, Values v) {
  const double largest = b.dtype(v[0]) == DType::F64 ? 2400 : 360;  // beyond it the product is decided
  const Value exponent = b.clamp(b.splat_like(v[1], -largest), v[1], b.splat_like(v[1], largest));
  const Value third = b.floor(scaled(b, exponent, 1.0 / 3.0));
  const Value two = b.splat_like(exponent, 2.0);
  const Value factor = b.power(two, third);
  const Value rest = b.power(two, b.subtract(exponent, b.add(third, third)));
  return b.multiply(b.multiply(b.multiply(v[0], factor), factor), rest);
}

/// log2 and log10: the logarithm itself is exact to half an ulp, the product adds another; powers of the base must come
/// out whole, so the nearest whole number wins when its power is the argument.
Value log_to_base(Builder& b, Value x, double base) {
  const Value plain = scaled(b, b.log(x), 1.0 / std::log(base));
  if (is_complex(b.dtype(x))) return plain;
  const Value whole = b.round_nearest_even(plain);
  const Value power = b.power(b.splat_like(x, base), whole);
  return b.select(b.compare(Direction::EQ, power, x), whole, plain);
}

Value log2(Builder& b, Values v) { return log_to_base(b, v[0], 2.0); }
Value log10(Builder& b, Values v) { return log_to_base(b, v[0], 10.0); }

Value logaddexp(Builder& b, Values v) {
  if (is_complex(b.dtype(v[0]))) decline("complex numbers");
  const Value larger = b.maximum(v[0], v[1]);
  const Value distance = b.abs(b.subtract(v[0], v[1]));
  const Value sum = b.add(larger, b.log_plus_one(b.exponential(b.negate(distance))));
  const Value infinite = compare_with(b, Direction::EQ, b.abs(v[0]), kInfinity);
  return b.select(b.and_(infinite, b.compare(Direction::EQ, v[0], v[1])), v[0], sum);
}

Value logaddexp2(Builder& b, Values v) {
  const Value larger = b.maximum(v[0], v[1]);
  const Value power = b.power(b.splat_like(larger, 2.0), b.negate(b.abs(b.subtract(v[0], v[1]))));
  const Value sum = b.add(larger, scaled(b, b.log_plus_one(power), 1.0 / std::numbers::ln2));
  const Value infinite = compare_with(b, Direction::EQ, b.abs(v[0]), kInfinity);
  return b.select(b.and_(infinite, b.compare(Direction::EQ, v[0], v[1])), v[0], sum);
}

/// x * log(y): 0 for x = 0, whatever y, except NaN.
Value times_logarithm(Builder& b, Value x, Value y, Value logarithm) {
  const Value result = select_constant(b, compare_with(b, Direction::EQ, x, 0.0), 0.0, b.multiply(x, logarithm));
  return b.select(b.is_nan(y), y, result);
}

Value xlogy(Builder& b, Values v) { return times_logarithm(b, v[0], v[1], b.log(v[1])); }
Value xlog1py(Builder& b, Values v) { return times_logarithm(b, v[0], v[1], b.log_plus_one(v[1])); }

Value entropy(Builder& b, Values v) {
  const Value x = v[0];
  const Value positive = b.negate(b.multiply(x, b.log(x)));
  const Value at_zero = select_constant(b, compare_with(b, Direction::EQ, x, 0.0), 0.0, positive);
  const Value result = select_constant(b, compare_with(b, Direction::LT, x, 0.0), -kInfinity, at_zero);
  return b.select(b.is_nan(x), x, result);
}

Results logit(Context& c) {
  const DType dtype = inexact_dtype(c, c.tensor("self").type.dtype);
  check_types(c, dtype, "f");
  Value x = c.b.convert(c.value("self", dtype), compute_dtype(dtype));
  const Value one = c.b.splat_like(x, 1.0);
  if (c.has("eps")) {
    const Value low = rounded_scalar_like(c, "eps", dtype, x);
    const Value high = c.b.subtract(one, low);
    const Value clamped = c.b.minimum(c.b.maximum(x, low), high);
    x = c.b.select(compare_with(c.b, Direction::LT, low, 0.0), x, clamped);
  }
  return {c.b.convert(c.b.log(c.b.divide(x, c.b.subtract(one, x))), dtype)};
}

// --- the bits of floats

/// The next number of the operands' own type, which for 16-bit floats is not that of their computation.
Results next_after(Context& c) {
  const DType dtype = common_dtype(c.call);
  check_types(c, dtype, "f");
  const Dims shape = broadcast_of_tensors(c.call);
  return {c.b.binary(Op::NextAfter, c.b.broadcast_to(c.value("self", dtype), shape),
                     c.b.broadcast_to(c.value("other", dtype), shape))};
}

/// Mantissas in [0.5, 1) and exponents. Zeros, infinities and NaN are their own mantissas, with the exponent 0.
Results mantissa_and_exponent(Context& c) {
  Builder& b = c.b;
  const DType dtype = c.tensor("self").type.dtype;
  require(is_float(dtype), c, ErrorKind::Runtime,
          {.what = "torch.frexp() only supports floating-point dtypes", .got = std::string(scalar_type_name(dtype))});
  check_types(c, dtype, "f");
  const Value x = compute_value(c, "self");
  const bool wide = dtype == DType::F64;
  const DType words = wide ? DType::I64 : DType::I32;
  const int64_t digits = wide ? 52 : 23, bias = wide ? 1022 : 126;
  // Numbers too small for a normalized form are brought into range first.
  const Value small = compare_with(b, Direction::LT, b.abs(x), std::ldexp(1.0, static_cast<int>(1 - bias)));
  const Value normal = b.select(small, scaled(b, x, std::ldexp(1.0, static_cast<int>(digits + 1))), x);
  const Value bits = b.bitcast_convert(normal, words);
  const auto number = [&](int64_t value) { return integer_splat(b, b.type(bits), value); };
  const int64_t exponent_bits = (2 * bias + 3) << digits;
  const Value raw = b.binary(Op::ShiftRightLogical, b.and_(bits, number(exponent_bits)), number(digits));
  const Value shift = b.select(small, number(bias + digits + 1), number(bias));
  const Value fraction = b.or_(b.and_(bits, number(~exponent_bits)), number(bias << digits));
  const Value regular = b.and_(b.is_finite(x), compare_with(b, Direction::NE, x, 0.0));
  const Value mantissa = b.select(regular, b.bitcast_convert(fraction, b.dtype(x)), x);
  const Value exponent = b.select(regular, b.subtract(raw, shift), number(0));
  c.result_strides = {preserved_strides(b.shape(x), c.tensor("self").strides),
                      preserved_strides(b.shape(x), c.tensor("self").strides)};
  return {b.convert(mantissa, dtype), b.convert(exponent, DType::I32)};
}

// --- powers

enum class Exponent : int64_t { Any, Zero, One, Two, Three, Half, MinusHalf, MinusOne, MinusTwo, NegativeInteger };

/// The exponents PyTorch computes without pow(); only this class of the value shapes the graph.
Dims classify_exponent(std::span<const ScalarValue> scalars) {
  constexpr std::array<std::pair<double, Exponent>, 8> special{{
      {0.0, Exponent::Zero},
      {1.0, Exponent::One},
      {2.0, Exponent::Two},
      {3.0, Exponent::Three},
      {0.5, Exponent::Half},
      {-0.5, Exponent::MinusHalf},
      {-1.0, Exponent::MinusOne},
      {-2.0, Exponent::MinusTwo},
  }};
  for (const ScalarValue& scalar : scalars) {
    if (scalar.name != "exponent") continue;
    for (const auto& [value, exponent] : special) {
      if (scalar.number == std::complex<double>(value)) return {static_cast<int64_t>(exponent)};
    }
    if (scalar.dtype == DType::I64 && scalar.integer < 0) return {static_cast<int64_t>(Exponent::NegativeInteger)};
  }
  return {static_cast<int64_t>(Exponent::Any)};
}

bool is_negative_integer(Exponent exponent) {
  return exponent == Exponent::NegativeInteger || exponent == Exponent::MinusOne || exponent == Exponent::MinusTwo;
}

Value special_power(Builder& b, Value x, Value exponent_value, Exponent exponent) {
  const auto invert = [&](Value value) { return b.divide(b.splat_like(value, 1.0), value); };
  switch (exponent) {
    case Exponent::Zero: return b.splat_like(x, 1.0);
    case Exponent::One: return x;
    case Exponent::Two: return b.multiply(x, x);
    case Exponent::Three: return b.multiply(b.multiply(x, x), x);
    case Exponent::Half: return b.sqrt(x);
    case Exponent::MinusHalf: return invert(b.sqrt(x));
    case Exponent::MinusOne: return invert(x);
    case Exponent::MinusTwo: return invert(b.multiply(x, x));
    case Exponent::NegativeInteger:
    case Exponent::Any: return b.power(x, exponent_value);
  }
  __builtin_unreachable();
}

/// Integers and 16-bit floats refuse exponents that do not fit.
Value checked_exponent(Context& c, const Operands& operands, Exponent exponent) {
  const bool narrow = is_integral(operands.dtype) || size_of(operands.dtype) == 2;
  if (!narrow || exponent != Exponent::Any) return operands.values[1];
  const Value number = c.b.convert(checked_scalar(c, "exponent", operands.dtype), operands.compute);
  return c.b.broadcast_to(number, operands.shape);
}

Results power_scalar(Context& c) {
  auto exponent = static_cast<Exponent>(c.call.derived.at(0));
  const bool fill = exponent == Exponent::Zero || exponent == Exponent::One;
  const Operands operands = promote_operands(c, Promotion::Common, fill ? "bifc" : "ifc");
  if (is_integral(operands.dtype) && is_negative_integer(exponent)) {
    c.refuse(ErrorKind::Runtime, {.what = "Integers to negative integer powers are not allowed",
                                  .action = "convert the base to a floating type"});
  }
  // CPU PyTorch's float16 kernel has no short cut through sqrt, which differs at -0 and -infinity.
  const bool root = exponent == Exponent::Half || exponent == Exponent::MinusHalf;
  if (root && operands.dtype == DType::F16) exponent = Exponent::Any;
  const Value number = checked_exponent(c, operands, exponent);
  return {c.b.convert(special_power(c.b, operands.values[0], number, exponent), operands.dtype)};
}

Results power_of_scalar(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "ifc");
  return {c.b.convert(c.b.power(operands.values[0], operands.values[1]), operands.dtype)};
}

Value square_root(Builder& b, Values v) { return b.sqrt(v[0]); }
Value reciprocal_square_root(Builder& b, Values v) { return b.divide(b.splat_like(v[0], 1.0), b.sqrt(v[0])); }

Value hypotenuse(Builder& b, Values v) {
  const Value x = b.abs(v[0]);
  const Value y = b.abs(v[1]);
  const Value longer = b.maximum(x, y);
  const Value ratio = b.divide(b.minimum(x, y), longer);
  const Value length = b.multiply(longer, b.sqrt(b.add(b.multiply(ratio, ratio), b.splat_like(x, 1.0))));
  const Value zero = compare_with(b, Direction::EQ, longer, 0.0);
  const Value infinite =
      b.or_(compare_with(b, Direction::EQ, x, kInfinity), compare_with(b, Direction::EQ, y, kInfinity));
  return select_constant(b, infinite, kInfinity, select_constant(b, zero, 0.0, length));
}

// --- trigonometry and complex numbers

Value sinc(Builder& b, Values v) {
  const Value x = scaled(b, v[0], std::numbers::pi);
  const Value zero = compare_with(b, Direction::EQ, v[0], 0.0);
  return select_constant(b, zero, 1.0, b.divide(b.sine(x), x));
}

Value degrees_to_radians(Builder& b, Values v) { return scaled(b, v[0], std::numbers::pi / 180.0); }
Value radians_to_degrees(Builder& b, Values v) { return scaled(b, v[0], 180.0 / std::numbers::pi); }

Results angle(Context& c) {
  const DType dtype = inexact_dtype(c, c.tensor("self").type.dtype);
  check_types(c, dtype, "fc");
  const Value x = c.b.convert(c.value("self", dtype), compute_dtype(dtype));
  if (is_complex(dtype)) {
    c.result_strides = {contiguous_strides(c.b.shape(x))};
    return {c.b.atan2(c.b.imag(x), c.b.real(x))};
  }
  const Value negative = compare_with(c.b, Direction::LT, x, 0.0);
  const Value result = select_constant(c.b, negative, std::numbers::pi, c.b.splat_like(x, 0.0));
  return {c.b.convert(c.b.select(c.b.is_nan(x), x, result), dtype)};
}

DType complex_parts(const Context& c, std::string_view first, std::string_view second, bool half) {
  const DType left = c.tensor(first).type.dtype;
  const DType right = c.tensor(second).type.dtype;
  if (!is_float(left) || left == DType::BF16 || size_of(left) == 1) {
    c.refuse(ErrorKind::Runtime, {.what = "Expected both inputs to be Half, Float or Double tensors",
                                  .got = concat(scalar_type_name(left), " and ", scalar_type_name(right))});
  }
  if (left != right) {
    c.refuse(ErrorKind::Runtime, {.what = "Expected objects of one scalar type",
                                  .got = concat("second argument of type ", scalar_type_name(right)),
                                  .expected = std::string(scalar_type_name(left))});
  }
  if (left == DType::F16 && !half) check_types(c, left, "");
  return left;
}

Results make_complex(Context& c) {
  complex_parts(c, "real", "imag", true);
  const Dims shape = broadcast_of_tensors(c.call);
  return {c.b.complex(c.b.broadcast_to(c.value("real"), shape), c.b.broadcast_to(c.value("imag"), shape))};
}

Results polar(Context& c) {
  complex_parts(c, "abs", "angle", false);
  const Dims shape = broadcast_of_tensors(c.call);
  const Value length = c.b.broadcast_to(c.value("abs"), shape);
  const Value direction = c.b.broadcast_to(c.value("angle"), shape);
  return {c.b.complex(c.b.multiply(length, c.b.cosine(direction)), c.b.multiply(length, c.b.sine(direction)))};
}

Rule inexact(std::string_view name, ElementwiseFunction function, std::string_view types = "fc") {
  return elementwise(name, function, Promotion::Float, types);
}

Rule power_rule() {
  Rule rule = general("pow.Tensor_Scalar", power_scalar, StrideRule::Elementwise);
  rule.derive = classify_exponent;
  rule.note =
      "the exponents 0, 1, 2, 3, 1/2 and their inverses have formulas of their own, as on the CPU, and one program "
      "each";
  return rule;
}

const std::array kRules = {
    inexact("acos", unary<Op::Acos>),
    inexact("acosh", unary<Op::Acosh>),
    general("angle", angle, StrideRule::Elementwise),
    inexact("asin", unary<Op::Asin>),
    inexact("asinh", unary<Op::Asinh>),
    inexact("atan", unary<Op::Atan>),
    inexact("atan2", binary<Op::Atan2>, "f"),
    inexact("atanh", unary<Op::Atanh>),
    elementwise("ceil", rounded<Op::Ceil>, Promotion::Common, "if"),
    general("complex", make_complex, StrideRule::Elementwise),
    inexact("cos", unary<Op::Cosine>),
    inexact("cosh", unary<Op::Cosh>),
    inexact("deg2rad", degrees_to_radians, "f"),
    inexact("digamma", unary<Op::Digamma>, "f"),
    inexact("erf", unary<Op::Erf>, "f"),
    inexact("erfc", unary<Op::Erfc>, "f"),
    inexact("erfinv", unary<Op::ErfInv>, "f"),
    inexact("exp", unary<Op::Exponential>),
    inexact("exp2", exp2),
    inexact("expm1", unary<Op::ExponentialMinusOne>),
    elementwise("floor", rounded<Op::Floor>, Promotion::Common, "if"),
    elementwise("frac", frac, Promotion::Common, "f"),
    elementwise("hypot", hypotenuse, Promotion::Common, "f"),
    inexact("ldexp.Tensor", ldexp, "f"),
    general("frexp.Tensor", mantissa_and_exponent, StrideRule::Elementwise),
    inexact("lgamma", unary<Op::Lgamma>, "f"),
    inexact("log", unary<Op::Log>),
    inexact("log10", log10),
    inexact("log1p", unary<Op::LogPlusOne>),
    inexact("log2", log2),
    elementwise("logaddexp", logaddexp, Promotion::Common, "fc"),
    elementwise("logaddexp2", logaddexp2, Promotion::Common, "f"),
    general("logit", logit, StrideRule::Elementwise),
    general("nextafter", next_after, StrideRule::Elementwise),
    general("polar", polar, StrideRule::Elementwise),
    general("pow.Scalar", power_of_scalar),
    power_rule(),
    elementwise("pow.Tensor_Tensor", binary<Op::Power>, Promotion::Common, "ifc"),
    inexact("rad2deg", radians_to_degrees, "f"),
    elementwise("round", rounded<Op::RoundNearestEven>, Promotion::Common, "if"),
    general("round.decimals", round_decimals, StrideRule::Elementwise),
    inexact("rsqrt", reciprocal_square_root),
    inexact("sin", unary<Op::Sine>),
    inexact("sinc", sinc),
    inexact("sinh", unary<Op::Sinh>),
    inexact("special_entr", entropy, "f"),
    inexact("special_i1e", unary<Op::BesselI1e>, "f"),
    inexact("special_xlog1py", xlog1py, "f"),
    inexact("special_xlog1py.other_scalar", xlog1py, "f"),
    inexact("special_xlog1py.self_scalar", xlog1py, "f"),
    inexact("sqrt", square_root),
    inexact("tan", unary<Op::Tan>),
    inexact("tanh", unary<Op::Tanh>),
    elementwise("trunc", trunc, Promotion::Common, "if"),
    inexact("xlogy.Scalar_Other", xlogy, "f"),
    inexact("xlogy.Scalar_Self", xlogy, "f"),
    inexact("xlogy.Tensor", xlogy, "f"),
};

}  // namespace

std::span<const Rule> math_rules() { return kRules; }

}  // namespace opentrn::lowering
