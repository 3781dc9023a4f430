// Running sums, products and extremes along a dimension.
#include <array>

#include "ir/constants.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;
using Direction = ir::ComparisonDirection;

/// Element i of the result combines the elements 0..i of `x` along `dim`.
Value scan(Builder& b, Value x, Op op, int64_t dim) {
  const Dims& shape = b.shape(x);
  if (b.type(x).elements() == 0 || shape.empty()) return x;
  const auto axis = static_cast<size_t>(dim);
  ir::ReduceWindowAttributes window;
  window.reducer = op;
  window.window_dimensions = window.window_strides = window.base_dilations = window.window_dilations =
      Dims(shape.size(), 1);
  window.padding_low = window.padding_high = Dims(shape.size(), 0);
  window.window_dimensions[axis] = shape[axis];
  window.padding_low[axis] = shape[axis] - 1;
  const DType dtype = b.dtype(x);
  return b.reduce_window(x, b.constant({dtype, {}}, ir::neutral_element(op, dtype)), window);
}

DType scan_dtype(const Context& c) {
  if (c.has("dtype")) return c.dtype("dtype");
  if (!c.call.destinations.empty()) return c.call.destinations.front().type.dtype;
  const DType self = c.tensor("self").type.dtype;
  return is_integral(self) ? DType::I64 : self;
}

template <Op op>
Results cumulative(Context& c) {
  check_types(c, c.tensor("self").type.dtype, kAllTypes);
  const DType dtype = scan_dtype(c);
  if (is_bool(dtype)) check_types(c, dtype, "ifc");
  const int64_t dim = c.dimension(c.integer("dim"), c.tensor("self").type.rank());
  const Value x = c.b.convert(c.value("self", dtype), compute_dtype(dtype));
  return {c.b.convert(scan(c.b, x, op, dim), dtype)};
}

/// Running extremes with the position of the last element that set one; NaN stays once met.
template <Op op>
Results cumulative_extreme(Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  Builder& b = c.b;
  const int64_t dim = c.dimension(c.integer("dim"), c.tensor("self").type.rank());
  const Value x = c.value("self");
  const Dims shape = b.shape(x);
  if (shape.empty() || b.type(x).elements() == 0) return {x, b.splat({DType::I64, shape}, 0.0)};
  check_types(c, dtype, "bif");
  const Value extreme = scan(b, x, extreme_op(op, dtype), dim);
  Value sets = b.compare(Direction::EQ, x, extreme);
  if (is_float(dtype)) sets = b.or_(sets, b.is_nan(x));
  const Value index = b.iota({DType::I64, shape}, dim);
  const Value position = scan(b, b.select(sets, index, b.splat_like(index, 0.0)), Op::Maximum, dim);
  return {extreme, position};
}

const std::array kRules = {
    general("cummax", cumulative_extreme<Op::Maximum>),
    general("cummin", cumulative_extreme<Op::Minimum>),
    converting(general("cumprod", cumulative<Op::Multiply>)),
    converting(general("cumsum", cumulative<Op::Add>)),
};

}  // namespace

std::span<const Rule> scan_rules() { return kRules; }

}  // namespace opentrn::lowering
