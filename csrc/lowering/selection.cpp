// Choosing between values: where, masked_fill, clamp, nan_to_num, threshold.
#include <array>
#include <limits>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Value;
using Direction = ir::ComparisonDirection;
using Values = std::span<const Value>;

Results where(Context& c) {
  const DType condition = c.tensor("condition").type.dtype;
  if (!is_bool(condition) && condition != DType::U8) {
    c.refuse(ErrorKind::Runtime, {.what = "where expected condition to be a boolean tensor",
                                  .got = concat("a tensor with dtype ", scalar_type_name(condition)),
                                  .action = "compare it with something, or convert it to bool"});
  }
  Promoter promoter(c.call.default_dtype);
  promoter.add(c.tensor("self"));
  promoter.add(c.tensor("other"));
  const DType dtype = promoter.result();
  const Dims shape = broadcast_of_tensors(c.call);
  const auto operand = [&](std::string_view name, DType type) { return c.b.broadcast_to(c.value(name, type), shape); };
  return {c.b.select(operand("condition", DType::Bool), operand("self", dtype), operand("other", dtype))};
}

// --- masked_fill

Results fill_masked(Context& c, Value scalar) {
  const DType mask = c.tensor("mask").type.dtype;
  if (!is_bool(mask)) {
    c.refuse(ErrorKind::Runtime, {.what = "masked_fill only supports boolean masks",
                                  .got = concat("mask with dtype ", info(mask).torch_name),
                                  .action = "convert the mask to bool"});
  }
  Dims shape;
  if (!broadcast_shapes(c.tensor("self").type.shape, c.tensor("mask").type.shape, shape)) broadcast_of_tensors(c.call);
  const Value self = c.b.broadcast_to(c.value("self"), shape);
  return {c.b.select(c.b.broadcast_to(c.value("mask"), shape), c.b.broadcast_to(scalar, shape), self)};
}

Results masked_fill_scalar(Context& c) {
  return fill_masked(c, checked_scalar(c, "value", c.tensor("self").type.dtype));
}

Results masked_fill_tensor(Context& c) {
  const TensorArgument& value = c.tensor("value");
  if (!value.type.shape.empty()) {
    c.refuse(ErrorKind::Runtime, {.what = "masked_fill only supports a 0-dimensional value tensor",
                                  .got = concat("tensor with ", value.type.rank(), " dimension(s)"),
                                  .action = "use where()"});
  }
  return fill_masked(c, checked_convert(c, value.value, c.tensor("self").type.dtype));
}

// --- clamp

constexpr std::string_view kClampTypes = "if";

DType clamp_dtype(const Context& c, std::span<const std::string_view> bounds) {
  const DType self = c.tensor("self").type.dtype;
  check_types(c, self, "bif");
  if (is_float(self)) return self;
  Promoter promoter(c.call.default_dtype);
  promoter.add(c.tensor("self"));
  for (const std::string_view bound : bounds) {
    if (c.has(bound)) promoter.add(c.scalar(bound));
  }
  const DType dtype = promoter.result();
  check_types(c, dtype, kClampTypes);
  return dtype;
}

Results clamp_between(Context& c, std::string_view low, std::string_view high) {
  const bool has_low = !low.empty() && c.has(low);
  const bool has_high = !high.empty() && c.has(high);
  if (!has_low && !has_high) {
    c.refuse(ErrorKind::Runtime, {.what = "torch.clamp: At least one of 'min' or 'max' must not be None"});
  }
  std::vector<std::string_view> bounds;
  if (has_low) bounds.push_back(low);
  if (has_high) bounds.push_back(high);
  const DType dtype = clamp_dtype(c, bounds);
  Value result = c.value("self", dtype);
  const Dims shape = c.b.shape(result);
  if (has_low) result = c.b.maximum(result, c.b.broadcast_to(checked_scalar(c, low, dtype), shape));
  if (has_high) result = c.b.minimum(result, c.b.broadcast_to(checked_scalar(c, high, dtype), shape));
  return {result};
}

Results clamp(Context& c) { return clamp_between(c, "min", "max"); }
Results clamp_min(Context& c) { return clamp_between(c, "min", ""); }
Results clamp_max(Context& c) { return clamp_between(c, "", "max"); }

Results clamp_tensor(Context& c) {
  const bool has_low = c.has("min");
  const bool has_high = c.has("max");
  if (!has_low && !has_high) {
    c.refuse(ErrorKind::Runtime, {.what = "torch.clamp: At least one of 'min' or 'max' must not be None"});
  }
  const Operands operands = promote_operands(c, Promotion::Common, has_low && has_high ? "if" : "bif");
  Value result = operands.values[0];
  if (has_low) result = c.b.maximum(result, operands.values[1]);
  if (has_high) result = c.b.minimum(result, operands.values.back());
  return {c.b.convert(result, operands.dtype)};
}

Value maximum(Builder& b, Values v) { return b.maximum(v[0], v[1]); }
Value minimum(Builder& b, Values v) { return b.minimum(v[0], v[1]); }

// --- nan_to_num

double largest(DType dtype) {
  switch (dtype) {
    case DType::F16: return 65504.0;
    case DType::BF16: return 0x1.fep127;
    case DType::F32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

Value replacement(Context& c, std::string_view name, double otherwise, Value like, DType storage) {
  return c.has(name) ? rounded_scalar_like(c, name, storage, like) : c.b.splat_like(like, otherwise);
}

Value real_nan_to_num(Context& c, Value x, DType storage) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double limit = largest(storage);
  const Value positive = compare_with(c.b, Direction::EQ, x, infinity);
  const Value negative = compare_with(c.b, Direction::EQ, x, -infinity);
  Value result = c.b.select(c.b.is_nan(x), replacement(c, "nan", 0.0, x, storage), x);
  result = c.b.select(positive, replacement(c, "posinf", limit, x, storage), result);
  return c.b.select(negative, replacement(c, "neginf", -limit, x, storage), result);
}

Results nan_to_num(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, kAllTypes);
  const Value x = compute_value(c, "self");
  if (is_integral(dtype)) return {x};
  if (!is_complex(dtype)) return {c.b.convert(real_nan_to_num(c, x, dtype), dtype)};
  const DType part = real_dtype(dtype);
  return {c.b.complex(real_nan_to_num(c, c.b.real(x), part), real_nan_to_num(c, c.b.imag(x), part))};
}

// --- threshold

Results threshold(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  check_types(c, dtype, "if");
  const Value x = c.value("self");
  const Dims shape = c.b.shape(x);
  const Value limit = c.b.broadcast_to(checked_scalar(c, "threshold", dtype), shape);
  const Value value = c.b.broadcast_to(checked_scalar(c, "value", dtype), shape);
  return {c.b.select(c.b.compare(Direction::LE, x, limit), value, x)};
}

Results threshold_backward(Context& c) {
  const Operands operands = promote_operands(c, Promotion::Common, "if");
  c.result_strides = {strides_by(c, operands.shape, std::array<std::string_view, 2>{"self", "grad_output"})};
  const Value below = c.b.compare(Direction::LE, operands.values[1], operands.values[2]);
  return {c.b.convert(select_constant(c.b, below, 0.0, operands.values[0]), operands.dtype)};
}

const std::array kRules = {
    general("clamp", clamp, StrideRule::Elementwise),
    general("clamp.Tensor", clamp_tensor, StrideRule::Elementwise),
    general("clamp_max", clamp_max, StrideRule::Elementwise),
    elementwise("clamp_max.Tensor", minimum, Promotion::Common, "bif"),
    general("clamp_min", clamp_min, StrideRule::Elementwise),
    elementwise("clamp_min.Tensor", maximum, Promotion::Common, "bif"),
    general("masked_fill.Scalar", masked_fill_scalar),
    general("masked_fill.Tensor", masked_fill_tensor),
    general("nan_to_num", nan_to_num, StrideRule::Elementwise),
    general("threshold", threshold, StrideRule::Elementwise),
    general("threshold_backward", threshold_backward, StrideRule::Elementwise),
    general("where.self", where, StrideRule::Elementwise),
};

}  // namespace

std::span<const Rule> selection_rules() { return kRules; }

}  // namespace opentrn::lowering
