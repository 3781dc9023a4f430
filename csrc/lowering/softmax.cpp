// Softmax, log-softmax and their gradients.
#include <array>
#include <limits>

#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

/// The value in its computation type and the dimension in a list; a 0-dimensional tensor has an empty list, and every
/// reduction over it is the identity.
struct Rows {
  Value x;
  Dims dims;
};

Dims row_dimensions(const Context& c, const Dims& shape) {
  const int64_t dim = c.dimension(c.integer("dim"), static_cast<int64_t>(shape.size()));
  return shape.empty() ? Dims{} : Dims{dim};
}

Value reduce_rows(Builder& b, Value x, Op op, const Dims& dims) {
  return expand_reduced(b, b.reduce(x, op, dims), b.shape(x), dims);
}

DType forward_dtype(const Context& c) {
  const DType dtype = c.tensor("self").type.dtype;
  row_dimensions(c, c.tensor("self").type.shape);  // a bad dimension is reported before a bad type, as in PyTorch
  if (c.tensor("self").type.elements() != 0) check_types(c, dtype, "f");
  if (!c.flag("half_to_float")) return dtype;
  if (dtype == DType::F16 || dtype == DType::BF16) return DType::F32;
  c.refuse(ErrorKind::Runtime,
           {.what = "conversion is supported for Half type only", .got = std::string(scalar_type_name(dtype))});
}

Rows shifted_rows(Context& c) {
  const Value x = compute_value(c, "self");
  const Dims dims = row_dimensions(c, c.b.shape(x));
  return {c.b.subtract(x, reduce_rows(c.b, x, Op::Maximum, dims)), dims};
}

Results softmax(Context& c) {
  const DType dtype = forward_dtype(c);
  if (c.tensor("self").type.elements() == 0) return {c.value("self", dtype)};
  const Rows rows = shifted_rows(c);
  const Value powers = c.b.exponential(rows.x);
  const Value result = c.b.divide(powers, reduce_rows(c.b, powers, Op::Add, rows.dims));
  return {c.b.convert(result, dtype)};
}

// As softmax, but rows of nothing but negative infinity give zeros: those whose every key a mask hides.
Results safe_softmax(Context& c) {
  const DType self = c.tensor("self").type.dtype;
  const DType dtype = c.has("dtype") ? c.dtype("dtype") : self;
  const Dims dims = row_dimensions(c, c.tensor("self").type.shape);
  if (c.tensor("self").type.elements() == 0) return {c.value("self", dtype)};
  check_types(c, dtype, "f");
  Builder& b = c.b;
  const Value x = b.convert(c.value("self", dtype), compute_dtype(dtype));
  const Value most = b.reduce(x, Op::Maximum, dims);
  const Value hidden = b.compare(ir::ComparisonDirection::EQ, most,
                                 b.splat({b.dtype(most), b.shape(most)}, -std::numeric_limits<double>::infinity()));
  const Value shift = expand_reduced(b, select_constant(b, hidden, 0.0, most), b.shape(x), dims);
  const Value powers = b.exponential(b.subtract(x, shift));
  const Value sum = select_constant(b, hidden, 1.0, b.reduce(powers, Op::Add, dims));
  return {b.convert(b.divide(powers, expand_reduced(b, sum, b.shape(x), dims)), dtype)};
}

Results log_softmax(Context& c) {
  const DType dtype = forward_dtype(c);
  if (c.tensor("self").type.elements() == 0) return {c.value("self", dtype)};
  const Rows rows = shifted_rows(c);
  const Value sum = c.b.reduce(c.b.exponential(rows.x), Op::Add, rows.dims);
  const Value logarithm = expand_reduced(c.b, c.b.log(sum), c.b.shape(rows.x), rows.dims);
  return {c.b.convert(c.b.subtract(rows.x, logarithm), dtype)};
}

Results softmax_backward(Context& c) {
  const DType compute = compute_dtype(c.tensor("grad_output").type.dtype);
  check_types(c, compute, "f");
  const Value gradient = c.value("grad_output", compute);
  const Value output = c.value("output", compute);
  const Dims dims = row_dimensions(c, c.b.shape(output));
  const Value sum = reduce_rows(c.b, c.b.multiply(gradient, output), Op::Add, dims);
  return {c.b.convert(c.b.multiply(c.b.subtract(gradient, sum), output), c.dtype("input_dtype"))};
}

Results log_softmax_backward(Context& c) {
  const DType compute = compute_dtype(c.tensor("grad_output").type.dtype);
  check_types(c, compute, "f");
  const Value gradient = c.value("grad_output", compute);
  const Value output = c.value("output", compute);
  const Dims dims = row_dimensions(c, c.b.shape(output));
  const Value sum = reduce_rows(c.b, gradient, Op::Add, dims);
  const Value result = c.b.subtract(gradient, c.b.multiply(c.b.exponential(output), sum));
  return {c.b.convert(result, c.dtype("input_dtype"))};
}

const std::array kRules = {
    general("_log_softmax", log_softmax),
    general("_log_softmax_backward_data", log_softmax_backward),
    general("_safe_softmax", safe_softmax),
    general("_softmax", softmax),
    general("_softmax_backward_data", softmax_backward),
};

}  // namespace

std::span<const Rule> softmax_rules() { return kRules; }

}  // namespace opentrn::lowering
