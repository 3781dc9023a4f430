// Counting into bins and searching in sorted sequences.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/running.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::ComparisonDirection;
using ir::Op;

struct Range {
  ir::Value low, high;
};

/// The range given, or that of the data when both ends are equal; never empty.
Range bin_range(Context& context, ir::Value data) {
  ir::Builder& b = context.b;
  const DType dtype = b.dtype(data);
  Range given{context.scalar_value("min", dtype), context.scalar_value("max", dtype)};
  const ir::Value unordered = b.compare(ComparisonDirection::GT, given.low, given.high);
  given.low = check_all(context, b.not_(unordered), given.low, "max must be larger than min");
  Range range = given;
  if (b.type(data).elements() > 0) {
    const ir::Value automatic = b.compare(ComparisonDirection::EQ, given.low, given.high);
    range.low = b.select(automatic, b.reduce(data, Op::Minimum, {0}), given.low);
    range.high = b.select(automatic, b.reduce(data, Op::Maximum, {0}), given.high);
  }
  const ir::Value one = b.scalar(dtype, 1);
  const ir::Value single = b.compare(ComparisonDirection::EQ, range.low, range.high);
  const ir::Value low = b.select(single, b.subtract(range.low, one), range.low);
  range = {low, b.select(single, b.add(range.high, one), range.high)};
  if (!is_float(dtype)) return range;
  const ir::Value finite = b.and_(b.is_finite(range.low), b.is_finite(range.high));
  return {check_all(context, finite, range.low, "range is not finite"), range.high};
}

Results histc(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const DType dtype = self.type.dtype;
  check_types(context, dtype, "if");
  const int64_t bins = context.integer("bins");
  require(bins > 0, context, ErrorKind::Runtime,
          {.what = concat("bins must be > 0, but got ", bins), .action = "give a positive number of bins"});
  // Each step is rounded to the type of the data, as on the CPU: else numbers at an edge would change their bin.
  const DType compute = is_integer(dtype) ? DType::I64 : dtype;
  const ir::Value data = flattened(b, b.convert(self.value, compute));
  const Range range = bin_range(context, data);
  const Dims shape = b.shape(data);
  const ir::Value low = b.broadcast_to(range.low, shape);
  const ir::Value high = b.broadcast_to(range.high, shape);
  const ir::Value scaled = b.multiply(b.subtract(data, low), b.splat_like(data, static_cast<double>(bins)));
  const ir::Value position = b.convert(b.divide(scaled, b.subtract(high, low)), DType::I64);
  // The upper end belongs to the last bin. What lies outside, and NaN, goes beyond the bins and is left out there.
  const ir::Value last = b.minimum(position, b.splat_like(position, static_cast<double>(bins - 1)));
  const ir::Value inside =
      b.and_(b.compare(ComparisonDirection::GE, data, low), b.compare(ComparisonDirection::LE, data, high));
  const ir::Value target = b.select(inside, last, b.splat_like(last, static_cast<double>(bins)));
  const ir::Value zeros = b.splat({DType::I64, {bins}}, 0);
  const ir::Value counts = scatter_slices(b, zeros, 0, target, b.splat_like(target, 1), Op::Add);
  return {b.convert(counts, dtype)};
}

bool is_upper_bound(const Context& context) {
  const bool right = context.flag("right");
  if (!is_given(context, "side")) return right;
  const std::string& side = context.text("side");
  require(side == "left" || side == "right", context, ErrorKind::Runtime,
          {.what = "side can only be 'left' or 'right'", .got = side, .action = "name one of these"});
  require(side == "right" || !right, context, ErrorKind::Runtime,
          {.what = "side and right can't be set to opposites",
           .got = "side of left while right was True",
           .action = "give only one of them"});
  return side == "right";
}

/// The sequence in the order of `sorter`, if there is one.
ir::Value in_order(Context& context, const TensorArgument& sequence) {
  ir::Builder& b = context.b;
  if (!is_given(context, "sorter")) return sequence.value;
  const TensorArgument& sorter = context.tensor("sorter");
  require(sorter.type.shape == sequence.type.shape, context, ErrorKind::Runtime,
          {.what = "boundary and sorter must have the same size",
           .got = to_string(sequence.type.shape) + " and " + to_string(sorter.type.shape),
           .action = "use argsort"});
  require(sorter.type.dtype == DType::I64, context, ErrorKind::Runtime,
          {.what = concat("sorter must be a tensor of long dtype but got dtype ", scalar_type_name(sorter.type.dtype)),
           .action = "convert it with .long()"});
  const int64_t dim = sequence.type.rank() - 1;
  const ir::Value order = checked(context, sorter.value, sequence.type.shape, dim, ir::IndexRule::NonNegativeRuntime);
  return gather_elements(b, sequence.value, dim, order);
}

/// `values` is 0-dimensional for a number.
Results search(Context& context, const TensorArgument& sequence, const TensorArgument& values, bool right,
               ir::Value ordered) {
  ir::Builder& b = context.b;
  Promoter promoter(context.call.default_dtype);
  promoter.add(sequence);
  promoter.add(values);
  const DType dtype = sequence.type.dtype == values.type.dtype ? sequence.type.dtype : promoter.result();
  check_types(context, dtype, "if");
  const DType compute = compute_dtype(dtype);
  const ir::Value found = search_sorted(b, b.convert(ordered, compute), b.convert(values.value, compute), right);
  return {context.flag("out_int32") ? b.convert(found, DType::I32) : found};
}

void require_matching(const Context& context, const Dims& sequence, const Dims& values) {
  require(!sequence.empty(), context, ErrorKind::Runtime,
          {.what = "boundaries tensor should have positive dimension", .action = "unsqueeze it"});
  require(!values.empty() || sequence.size() == 1, context, ErrorKind::Runtime,
          {.what = "input value can be a scalar only when boundaries tensor dimension is 1",
           .got = concat("boundaries of ", sequence.size(), " dimensions"),
           .action = "give a tensor of values"});
  bool fits = sequence.size() == 1 || sequence.size() == values.size();
  for (size_t i = 0; fits && i + 1 < sequence.size(); ++i) fits = sequence[i] == values[i];
  require(fits, context, ErrorKind::Runtime,
          {.what = "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
                   "value tensor must match",
           .got = to_string(sequence) + " and " + to_string(values),
           .action = "reshape one of them"});
}

/// A number as the 0-dimensional tensor PyTorch makes of it.
TensorArgument wrapped(const Context& context, std::string_view name) {
  const ScalarArgument& scalar = context.scalar(name);
  return {.operand = scalar.operand,
          .value = scalar.value,
          .type = {scalar.dtype, {}},
          .strides = {},
          .wrapped_number = true};
}

Results searchsorted(Context& context, const TensorArgument& values) {
  const TensorArgument& sequence = context.tensor("sorted_sequence");
  require_matching(context, sequence.type.shape, values.type.shape);
  const bool right = is_upper_bound(context);
  return search(context, sequence, values, right, in_order(context, sequence));
}

Results searchsorted_tensor(Context& context) { return searchsorted(context, context.tensor("self")); }
Results searchsorted_scalar(Context& context) { return searchsorted(context, wrapped(context, "self")); }

Results bucketize(Context& context, const TensorArgument& values) {
  const TensorArgument& boundaries = context.tensor("boundaries");
  require(boundaries.type.rank() == 1, context, ErrorKind::Runtime,
          {.what = concat("boundaries tensor must be 1 dimension, but got dim(", boundaries.type.rank(), ")"),
           .action = "flatten it, or use searchsorted"});
  return search(context, boundaries, values, context.flag("right"), boundaries.value);
}

Results bucketize_tensor(Context& context) { return bucketize(context, context.tensor("self")); }
Results bucketize_scalar(Context& context) { return bucketize(context, wrapped(context, "self")); }

}  // namespace

std::span<const Rule> search_rules() {
  static const Rule rules[] = {
      general("bucketize.Scalar", bucketize_scalar),
      general("bucketize.Tensor", bucketize_tensor),
      general("histc", histc),
      general("searchsorted.Scalar", searchsorted_scalar),
      general("searchsorted.Tensor", searchsorted_tensor),
  };
  return rules;
}

}  // namespace opentrn::lowering
