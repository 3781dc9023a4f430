// Sorting and selection by rank. NaN counts as greater than everything, equal elements keep their order.
#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/running.h"
#include "lowering/strides.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

struct Sorted {
  ir::Value values, indices;
};

Sorted sorted(ir::Builder& b, ir::Value x, int64_t dim, bool descending) {
  const ir::Value operands[] = {x, b.iota({DType::I64, b.shape(x)}, dim)};
  const std::vector<ir::Value> results = b.sort(operands, {dim, true, descending});
  return {results[0], results[1]};
}

void require_real(const Context& context, DType dtype) {
  require(!is_complex(dtype), context, ErrorKind::Runtime,
          {.what = "complex dtypes are not supported",
           .got = std::string(info(dtype).torch_name),
           .action = "sort by abs() or the real part"});
}

Results sort(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  require_real(context, self.type.dtype);
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  if (self.type.rank() == 0) return {self.value, b.scalar(DType::I64, 0)};
  const Dims strides = preserved_strides(self.type.shape, self.strides);
  context.result_strides = {strides, strides};
  const Sorted result = sorted(b, self.value, dim, context.flag("descending"));
  return {result.values, result.indices};
}

/// Elements [begin, end) along `dim`.
ir::Value part(ir::Builder& b, ir::Value x, int64_t dim, int64_t begin, int64_t end) {
  Dims start(b.shape(x).size(), 0);
  Dims limit = b.shape(x);
  start[static_cast<size_t>(dim)] = begin;
  limit[static_cast<size_t>(dim)] = end;
  return b.slice(x, start, limit, Dims(limit.size(), 1));
}

Results topk(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const DType dtype = self.type.dtype;
  const int64_t k = context.integer("k");
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  const Dims shape = at_least_1d(self.type.shape);
  require(k >= 0 && k <= shape[static_cast<size_t>(dim)], context, ErrorKind::Runtime,
          {.what = "selected index k out of range",
           .got = concat(k),
           .expected = concat("a number in [0, ", shape[static_cast<size_t>(dim)], "]"),
           .action = "ask for fewer"});
  require_real(context, dtype);
  require(!is_bool(dtype), context, ErrorKind::Runtime,
          {.what = "bool dtypes are not supported", .action = "convert the operand to an integer type"});
  if (self.type.rank() == 0) return {self.value, b.scalar(DType::I64, 0)};
  const Sorted result = sorted(b, self.value, dim, context.flag("largest"));
  return {part(b, result.values, dim, 0, k), part(b, result.indices, dim, 0, k)};
}

/// A dimension to select one element from: not empty.
int64_t selection_dim(const Context& context, const TensorArgument& self) {
  const int64_t dim = context.dimension(context.integer("dim"), self.type.rank());
  require(at_least_1d(self.type.shape)[static_cast<size_t>(dim)] > 0, context, ErrorKind::Index,
          {.what = concat("Expected reduction dim ", dim, " to have non-zero size"),
           .action = "select along a dimension that has elements"});
  return dim;
}

Results kthvalue(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  check_types(context, self.type.dtype, "if");
  const int64_t dim = selection_dim(context, self);
  const int64_t k = context.integer("k");
  const Dims shape = at_least_1d(self.type.shape);
  require(k >= 1 && k <= shape[static_cast<size_t>(dim)], context, ErrorKind::Runtime,
          {.what = concat("selected number k out of range for dimension ", dim),
           .got = concat(k),
           .action = "give a k from 1 to the size"});
  if (self.type.rank() == 0) return {self.value, b.scalar(DType::I64, 0)};
  const Sorted result = sorted(b, self.value, dim, false);
  const bool keepdim = context.flag("keepdim");
  const auto kth = [&](ir::Value x) { return keep_dims(b, part(b, x, dim, k - 1, k), shape, {dim}, keepdim); };
  return {kth(result.values), kth(result.indices)};
}

/// Where the median stands among the sorted elements, for each slice: the lower of the two in the middle. The first NaN
/// is the median when there is one, unless NaNs are ignored.
ir::Value median_rank(ir::Builder& b, ir::Value x, int64_t dim, bool ignore_nan) {
  const Dims shape = b.shape(x);
  const int64_t size = shape[static_cast<size_t>(dim)];
  const ir::TensorType type{DType::I64, reduced_shape(shape, {dim}, true)};
  const ir::Value middle = b.splat(type, static_cast<double>((size - 1) / 2));
  if (!is_float(b.dtype(x))) return middle;
  const ir::Value is_nan = b.convert(b.is_nan(x), DType::I64);
  const ir::Value numbers = b.subtract(b.splat(type, static_cast<double>(size)),
                                       keep_dims(b, b.reduce(is_nan, ir::Op::Add, {dim}), shape, {dim}, true));
  if (ignore_nan) {
    const ir::Value last = b.maximum(b.subtract(numbers, b.splat(type, 1)), b.splat(type, 0));
    return b.divide(last, b.splat(type, 2));
  }
  const ir::Value has_nan = b.compare(ir::ComparisonDirection::LT, numbers, b.splat(type, static_cast<double>(size)));
  return b.select(has_nan, numbers, middle);
}

Sorted median_along(ir::Builder& b, ir::Value x, int64_t dim, bool ignore_nan) {
  const Sorted all = sorted(b, x, dim, false);
  const ir::Value rank = median_rank(b, x, dim, ignore_nan);
  return {gather_elements(b, all.values, dim, rank), gather_elements(b, all.indices, dim, rank)};
}

Results median_dim(Context& context, bool ignore_nan) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  check_types(context, self.type.dtype, "if");
  const int64_t dim = selection_dim(context, self);
  if (self.type.rank() == 0) return {self.value, b.scalar(DType::I64, 0)};
  const Dims& shape = self.type.shape;
  const bool keepdim = context.flag("keepdim");
  const Sorted result = median_along(b, self.value, dim, ignore_nan);
  const auto shaped = [&](ir::Value x) { return b.reshape(x, reduced_shape(shape, {dim}, keepdim)); };
  return {shaped(result.values), shaped(result.indices)};
}

Results median_all(Context& context, bool ignore_nan) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  check_types(context, self.type.dtype, "if");
  if (self.type.elements() == 0) {
    return {b.convert(b.scalar(DType::F64, std::numeric_limits<double>::quiet_NaN()), self.type.dtype)};
  }
  const Sorted result = median_along(b, flattened(b, self.value), 0, ignore_nan);
  return {b.reshape(result.values, {})};
}

Results median(Context& context) { return median_all(context, false); }
Results nanmedian(Context& context) { return median_all(context, true); }
Results median_of_dim(Context& context) { return median_dim(context, false); }
Results nanmedian_of_dim(Context& context) { return median_dim(context, true); }

/// For every element of sorted slices how many equal ones precede it.
ir::Value rank_among_equals(ir::Builder& b, ir::Value x, int64_t dim) {
  const Dims shape = b.shape(x);
  const int64_t size = shape[static_cast<size_t>(dim)];
  const ir::Value place = b.iota({DType::I64, shape}, dim);
  if (size == 1) return place;
  const ir::Value changes =
      b.compare(ir::ComparisonDirection::NE, part(b, x, dim, 1, size), part(b, x, dim, 0, size - 1));
  const ir::Value first = b.splat({DType::Bool, b.shape(part(b, x, dim, 0, 1))}, 1);
  const ir::Value parts[] = {first, changes};
  const ir::Value starts = b.select(b.concatenate(parts, dim), place, b.splat_like(place, 0));
  return b.subtract(place, running_maximum(b, starts, dim));
}

/// The most frequent element, the least of several, and the last place it stands at. A NaN equals nothing.
Results mode(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const int64_t dim = selection_dim(context, self);
  if (self.type.rank() == 0) return {self.value, b.scalar(DType::I64, 0)};
  const Dims& shape = self.type.shape;
  const Dims result = reduced_shape(shape, {dim}, true);
  const auto shaped = [&](ir::Value x) { return b.reshape(x, reduced_shape(shape, {dim}, context.flag("keepdim"))); };
  if (self.type.elements() == 0) {
    return {shaped(b.splat({self.type.dtype, result}, 0)), shaped(b.splat({DType::I64, result}, 0))};
  }
  check_types(context, self.type.dtype, "bif");
  const Sorted all = sorted(b, self.value, dim, false);
  const ir::Value ranks = rank_among_equals(b, all.values, dim);
  const ir::Value most = expand_reduced(b, b.reduce(ranks, ir::Op::Maximum, {dim}), shape, {dim});
  const ir::Value place = b.iota({DType::I64, shape}, dim);
  const ir::Value beyond = b.splat_like(place, static_cast<double>(shape[static_cast<size_t>(dim)]));
  const ir::Value candidates = b.select(b.compare(ir::ComparisonDirection::EQ, ranks, most), place, beyond);
  const ir::Value chosen = b.reshape(b.reduce(candidates, ir::Op::Minimum, {dim}), result);
  return {shaped(gather_elements(b, all.values, dim, chosen)), shaped(gather_elements(b, all.indices, dim, chosen))};
}

}  // namespace

std::span<const Rule> sorting_rules() {
  static const Rule rules[] = {
      general("kthvalue", kthvalue), general("median", median),       general("median.dim", median_of_dim),
      general("mode", mode),         general("nanmedian", nanmedian), general("nanmedian.dim", nanmedian_of_dim),
      general("sort.stable", sort),  general("topk", topk),
  };
  return rules;
}

}  // namespace opentrn::lowering
