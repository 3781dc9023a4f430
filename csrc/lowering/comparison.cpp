// Comparisons, logic, bits, and the predicates on floating point classes.
#include <array>
#include <limits>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kOrdered = "bif";

template <Direction direction>
Value compare(Builder& b, Values v) {
  return b.compare(direction, v[0], v[1]);
}

template <Op op>
Value binary(Builder& b, Values v) {
  return b.binary(op, v[0], v[1]);
}

template <Op op>
Value logical(Builder& b, Values v) {
  return b.binary(op, truthy(b, v[0]), truthy(b, v[1]));
}

Value logical_not(Builder& b, Values v) { return b.not_(truthy(b, v[0])); }
Value bitwise_not(Builder& b, Values v) { return b.not_(v[0]); }

Value shift_right(Builder& b, Values v) {
  const bool is_unsigned = category(b.dtype(v[0])) == Category::Unsigned;
  return b.binary(is_unsigned ? Op::ShiftRightLogical : Op::ShiftRightArithmetic, v[0], v[1]);
}

Value never(Builder& b, Value like) { return b.splat({DType::Bool, b.shape(like)}, 0.0); }

Value equals(Builder& b, Value x, double constant) {
  return is_float(b.dtype(x)) ? compare_with(b, Direction::EQ, x, constant) : never(b, x);
}

Value is_negative_infinity(Builder& b, Values v) { return equals(b, v[0], -kInfinity); }
Value is_positive_infinity(Builder& b, Values v) { return equals(b, v[0], kInfinity); }

Value is_infinite(Builder& b, Values v) {
  return is_integral(b.dtype(v[0])) ? never(b, v[0]) : equals(b, b.abs(v[0]), kInfinity);
}

Value is_nan(Builder& b, Values v) { return is_integral(b.dtype(v[0])) ? never(b, v[0]) : b.is_nan(v[0]); }

Value sign_bits(Builder& b, Value x) {
  return b.bitcast_convert(x, size_of(b.dtype(x)) == 8 ? DType::I64 : DType::I32);
}

Value sign_bit(Builder& b, Values v) {
  const DType dtype = b.dtype(v[0]);
  if (is_float(dtype)) return compare_with(b, Direction::LT, sign_bits(b, v[0]), 0.0);
  return is_bool(dtype) ? never(b, v[0]) : compare_with(b, Direction::LT, v[0], 0.0);
}

Value copysign(Builder& b, Values v) {
  const Value magnitude = sign_bits(b, v[0]);
  const Value sign = sign_bits(b, v[1]);
  const Value mask = b.splat_like(sign, size_of(b.dtype(sign)) == 8 ? -0x1p63 : -0x1p31);
  const Value merged = b.or_(b.and_(magnitude, b.not_(mask)), b.and_(sign, mask));
  return b.bitcast_convert(merged, b.dtype(v[0]));
}

Value fmax(Builder& b, Values v) {
  const Value maximum = b.maximum(v[0], v[1]);
  if (!is_float(b.dtype(maximum))) return maximum;
  return b.select(b.is_nan(v[0]), v[1], b.select(b.is_nan(v[1]), v[0], maximum));
}

Value fmin(Builder& b, Values v) {
  const Value minimum = b.minimum(v[0], v[1]);
  if (!is_float(b.dtype(minimum))) return minimum;
  return b.select(b.is_nan(v[0]), v[1], b.select(b.is_nan(v[1]), v[0], minimum));
}

Results heaviside(Context& c) {
  if (c.tensor("self").type.dtype != c.tensor("values").type.dtype) {
    c.refuse(ErrorKind::Runtime, {.what = "heaviside is not yet implemented for tensors with different dtypes",
                                  .action = "convert one of them"});
  }
  const Operands operands = promote_operands(c, Promotion::Common, kOrdered);
  const Value x = operands.values[0];
  const Value zero = compare_with(c.b, Direction::EQ, x, 0.0);
  const Value step = c.b.convert(compare_with(c.b, Direction::GT, x, 0.0), operands.compute);
  return {c.b.convert(c.b.select(zero, operands.values[1], step), operands.dtype)};
}

// --- isin

/// Above this many comparisons the sorting algorithm of the CPU is the better choice.
constexpr int64_t kMaxComparisons = int64_t{1} << 26;

void check_isin_type(const Context& c, DType dtype) {
  if (is_float(dtype) || is_integer(dtype)) return check_types(c, dtype, "if");
  c.refuse(ErrorKind::Runtime,
           {.what = concat("Unsupported input type encountered for isin(): ", scalar_type_name(dtype)),
            .action = "convert it to an integer type"});
}

Value member(Context& c, Value elements, Value tests, DType dtype) {
  Builder& b = c.b;
  check_isin_type(c, dtype);
  const Dims shape = b.shape(elements);
  const int64_t count = element_count(b.shape(tests));
  if (element_count(shape) * count > kMaxComparisons) decline("isin of many elements in many test elements");
  Dims wide = shape;
  wide.push_back(count);
  Dims dims(shape.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
  const int64_t last = static_cast<int64_t>(shape.size());
  const Value left = b.broadcast_in_dim(b.convert(elements, dtype), wide, dims);
  const Value right = b.broadcast_in_dim(b.reshape(b.convert(tests, dtype), {count}), wide, {last});
  const Value found = b.reduce(b.compare(Direction::EQ, left, right), Op::Or, {last});
  return c.flag("invert") ? b.not_(found) : found;
}

template <typename Argument>
void vote(const Context& c, Promoter& promoter, const Argument& argument, DType dtype) {
  check_isin_type(c, dtype);
  promoter.add(argument);
}

Results isin_tensors(Context& c) {
  Promoter promoter(c.call.default_dtype);
  for (const auto* name : {"elements", "test_elements"}) vote(c, promoter, c.tensor(name), c.tensor(name).type.dtype);
  return {member(c, c.value("elements"), c.value("test_elements"), promoter.result())};
}

Results isin_scalar_tests(Context& c) {
  Promoter promoter(c.call.default_dtype);
  promoter.add(c.tensor("elements"));
  promoter.add(c.scalar("test_element"));
  const DType dtype = promoter.result();
  const Value elements = c.value("elements", dtype);
  const Value test = scalar_like(c, "test_element", elements);
  return {c.b.compare(c.flag("invert") ? Direction::NE : Direction::EQ, elements, test)};
}

Results isin_scalar_element(Context& c) {
  Promoter promoter(c.call.default_dtype);
  promoter.add(c.scalar("element"));
  vote(c, promoter, c.tensor("test_elements"), c.tensor("test_elements").type.dtype);
  return {member(c, c.scalar("element").value, c.value("test_elements"), promoter.result())};
}

Rule comparison(std::string_view name, ElementwiseFunction function, std::string_view types = kOrdered) {
  return elementwise(name, function, Promotion::Compare, types);
}

const std::array kRules = {
    elementwise("__lshift__.Scalar", binary<Op::ShiftLeft>, Promotion::Common, "i"),
    elementwise("__lshift__.Tensor", binary<Op::ShiftLeft>, Promotion::Common, "i"),
    elementwise("__rshift__.Scalar", shift_right, Promotion::Common, "i"),
    elementwise("__rshift__.Tensor", shift_right, Promotion::Common, "i"),
    elementwise("bitwise_and.Scalar", binary<Op::And>, Promotion::Common, "bi"),
    elementwise("bitwise_and.Scalar_Tensor", binary<Op::And>, Promotion::Common, "bi"),
    elementwise("bitwise_and.Tensor", binary<Op::And>, Promotion::Common, "bi"),
    elementwise("bitwise_left_shift.Scalar_Tensor", binary<Op::ShiftLeft>, Promotion::Common, "i"),
    elementwise("bitwise_left_shift.Tensor", binary<Op::ShiftLeft>, Promotion::Common, "i"),
    elementwise("bitwise_left_shift.Tensor_Scalar", binary<Op::ShiftLeft>, Promotion::Common, "i"),
    elementwise("bitwise_not", bitwise_not, Promotion::Common, "bi"),
    elementwise("bitwise_or.Scalar", binary<Op::Or>, Promotion::Common, "bi"),
    elementwise("bitwise_or.Scalar_Tensor", binary<Op::Or>, Promotion::Common, "bi"),
    elementwise("bitwise_or.Tensor", binary<Op::Or>, Promotion::Common, "bi"),
    elementwise("bitwise_right_shift.Scalar_Tensor", shift_right, Promotion::Common, "i"),
    elementwise("bitwise_right_shift.Tensor", shift_right, Promotion::Common, "i"),
    elementwise("bitwise_right_shift.Tensor_Scalar", shift_right, Promotion::Common, "i"),
    elementwise("bitwise_xor.Scalar", binary<Op::Xor>, Promotion::Common, "bi"),
    elementwise("bitwise_xor.Scalar_Tensor", binary<Op::Xor>, Promotion::Common, "bi"),
    elementwise("bitwise_xor.Tensor", binary<Op::Xor>, Promotion::Common, "bi"),
    elementwise("copysign.Scalar", copysign, Promotion::Float, "f"),
    elementwise("copysign.Tensor", copysign, Promotion::Float, "f"),
    comparison("eq.Scalar", compare<Direction::EQ>, "bifch"),
    comparison("eq.Tensor", compare<Direction::EQ>, "bifch"),
    elementwise("fmax", fmax, Promotion::Common, kOrdered),
    elementwise("fmin", fmin, Promotion::Common, kOrdered),
    comparison("ge.Scalar", compare<Direction::GE>),
    comparison("ge.Tensor", compare<Direction::GE>),
    comparison("gt.Scalar", compare<Direction::GT>),
    comparison("gt.Tensor", compare<Direction::GT>),
    general("heaviside", heaviside, StrideRule::Elementwise),
    general("isin.Scalar_Tensor", isin_scalar_element),
    general("isin.Tensor_Scalar", isin_scalar_tests, StrideRule::Elementwise),
    general("isin.Tensor_Tensor", isin_tensors),
    comparison("isinf", is_infinite, "bifch"),
    comparison("isnan", is_nan, "bifch"),
    comparison("isneginf", is_negative_infinity),
    comparison("isposinf", is_positive_infinity),
    comparison("le.Scalar", compare<Direction::LE>),
    comparison("le.Tensor", compare<Direction::LE>),
    comparison("logical_and", logical<Op::And>, kAllTypes),
    comparison("logical_not", logical_not, kAllTypes),
    comparison("logical_or", logical<Op::Or>, kAllTypes),
    comparison("logical_xor", logical<Op::Xor>, kAllTypes),
    comparison("lt.Scalar", compare<Direction::LT>),
    comparison("lt.Tensor", compare<Direction::LT>),
    elementwise("maximum", binary<Op::Maximum>, Promotion::Common, kOrdered),
    elementwise("minimum", binary<Op::Minimum>, Promotion::Common, kOrdered),
    comparison("ne.Scalar", compare<Direction::NE>, "bifch"),
    comparison("ne.Tensor", compare<Direction::NE>, "bifch"),
    comparison("signbit", sign_bit),
};

}  // namespace

std::span<const Rule> comparison_rules() { return kRules; }

}  // namespace opentrn::lowering
