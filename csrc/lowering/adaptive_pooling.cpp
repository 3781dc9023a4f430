// Pooling to a size: the input is divided into as many ranges, which overlap where it does not divide evenly.
#include <algorithm>
#include <array>

#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/memory_format.h"
#include "lowering/pooling_windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Op;
using ir::Value;

/// Range i of `count` ones over `size` elements.
Ranges divided(int64_t size, int64_t count) {
  Ranges ranges;
  for (int64_t i = 0; i < count; ++i) {
    ranges.starts.push_back(i * size / count);
    ranges.lengths.push_back(((i + 1) * size - 1) / count + 1 - ranges.starts.back());
  }
  return ranges;
}

/// The ranges along each of the last dimensions.
std::vector<Ranges> divided(const Dims& shape, const Dims& sizes) {
  std::vector<Ranges> result;
  const size_t first = shape.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) result.push_back(divided(shape[first + i], sizes[i]));
  return result;
}

Value divide_by_lengths(Builder& b, Value x, const std::vector<Ranges>& all) {
  std::vector<Dims> counts;
  for (const Ranges& ranges : all) counts.push_back(ranges.lengths);
  return divide_by_counts(b, x, counts);
}

/// The output's size, one entry per dimension.
const Dims& checked_sizes(const Context& c, size_t spatial) {
  const Dims& sizes = c.integers("output_size");
  require_pooling(c, sizes.size() == spatial, concat("output_size must be ", spatial, " numbers"),
                  "give one size per dimension");
  for (const int64_t size : sizes) {
    require_pooling(c, size >= 0, concat("Trying to create tensor with negative dimension ", size),
                    "give sizes of at least 0");
  }
  return sizes;
}

size_t all_but_first(const Context& c) {
  return static_cast<size_t>(std::max<int64_t>(c.tensor("self").type.rank() - 1, 0));
}

/// The spatial sizes of a tensor.
Dims spatial_sizes(const Dims& shape, size_t spatial) {
  return Dims(shape.end() - static_cast<int64_t>(spatial), shape.end());
}

/// Sums of equal pieces along one dimension.
Value sum_pieces(Builder& b, Value x, int64_t dim, int64_t count) {
  Dims shape = b.shape(x);
  const auto at = static_cast<size_t>(dim);
  const int64_t size = shape[at];
  if (size == count) return x;
  shape[at] = count;
  shape.insert(shape.begin() + dim + 1, size / count);
  return b.reduce(b.reshape(x, shape), Op::Add, {dim + 1});
}

template <size_t spatial>
Results adaptive_avg_pool(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const Dims& sizes = checked_sizes(c, spatial);
  check_planes(c, spatial, spatial == 2 ? 2 : all_but_first(c));
  check_types(c, self.type.dtype, "f");
  const Dims shape = with_spatial(self.type.shape, sizes);
  if (spatial == 2) c.result_strides = {format_strides(self, shape)};
  if (element_count(shape) == 0) return {c.b.splat({self.type.dtype, shape}, 0)};
  const std::vector<Ranges> all = divided(self.type.shape, sizes);
  Value x = compute_value(c, "self");
  for (size_t i = spatial; i-- > 0;) {
    const size_t at = shape.size() - spatial + i;
    const auto dim = static_cast<int64_t>(at);
    const bool even = self.type.shape[at] % sizes[i] == 0;
    x = even ? sum_pieces(c.b, x, dim, sizes[i]) : sum_ranges(c.b, x, dim, all[i]);
  }
  return {c.b.convert(divide_by_lengths(c.b, x, all), self.type.dtype)};
}

/// Refuses gradients that do not belong to a pooled `self`.
void check_gradient(const Context& c, size_t spatial) {
  const Dims& self = c.tensor("self").type.shape;
  const Dims& shape = c.tensor("grad_output").type.shape;
  check_planes(c, spatial, 0);
  bool valid = shape.size() == self.size();
  for (size_t i = 0; valid && i < shape.size(); ++i) {
    const bool pooled = i >= shape.size() - spatial;
    valid = (i == 0 || shape[i] > 0) && (pooled || shape[i] == self[i]);
  }
  require_pooling(c, valid,
                  concat("Expected grad_output to have non-zero size for non-batch dimensions and otherwise the sizes "
                         "of the input ",
                         to_string(self), ", but grad_output has sizes ", to_string(shape)),
                  "give the gradient of the pooled tensor");
  check_same_type(c, "grad_output");
  check_types(c, c.tensor("self").type.dtype, "f");
}

template <size_t spatial>
Results adaptive_avg_pool_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  check_gradient(c, spatial);
  if (spatial == 2) c.result_strides = {format_strides(self)};
  if (self.type.elements() == 0) return {c.b.splat(self.type, 0)};
  const Dims& shape = self.type.shape;
  const std::vector<Ranges> all = divided(shape, spatial_sizes(c.tensor("grad_output").type.shape, spatial));
  Value x = divide_by_lengths(c.b, compute_value(c, "grad_output"), all);
  for (size_t i = 0; i < spatial; ++i) {
    const size_t at = shape.size() - spatial + i;
    x = sum_ranges(c.b, x, static_cast<int64_t>(at), ranges_holding(all[i], shape[at]));
  }
  return {c.b.convert(x, self.type.dtype)};
}

template <size_t spatial>
Results adaptive_max_pool(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const DType dtype = self.type.dtype;
  const Dims& sizes = checked_sizes(c, spatial);
  check_planes(c, spatial, all_but_first(c));
  check_types(c, dtype, "f");
  const Dims shape = with_spatial(self.type.shape, sizes);
  if (spatial == 2) c.result_strides.assign(2, format_strides(self, shape));
  if (element_count(shape) == 0) return {c.b.splat({dtype, shape}, 0), c.b.splat({DType::I64, shape}, 0)};
  std::vector<Looks> looks;
  for (const Ranges& ranges : divided(self.type.shape, sizes)) looks.push_back(looks_of(ranges));
  const Maxima best = maxima(c.b, compute_value(c, "self"), looks);
  return {c.b.convert(best.values, dtype), best.indices};
}

template <size_t spatial>
Results adaptive_max_pool_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  check_gradient(c, spatial);
  check_shape(c, "indices", c.tensor("grad_output").type.shape);
  require_index_type(c, "indices", IndexTypes::Int64);
  if (spatial == 2) c.result_strides = {format_strides(self)};
  if (self.type.elements() == 0) return {c.b.splat(self.type, 0)};
  const Dims plane = {element_count(spatial_sizes(self.type.shape, spatial))};
  const Value indices = checked(c, c.value("indices"), plane, 0, ir::IndexRule::NonNegativeRuntime);
  const Value gradient = compute_value(c, "grad_output");
  const Value result = scatter_in_planes(c.b, gradient, indices, self.type.shape, spatial, Op::Add);
  return {c.b.convert(result, self.type.dtype)};
}

const std::array kRules = {
    general("_adaptive_avg_pool2d", adaptive_avg_pool<2>),
    general("_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>),
    general("_adaptive_avg_pool3d", adaptive_avg_pool<3>),
    general("_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>),
    general("adaptive_max_pool2d", adaptive_max_pool<2>),
    general("adaptive_max_pool2d_backward", adaptive_max_pool_backward<2>),
    general("adaptive_max_pool3d", adaptive_max_pool<3>),
    general("adaptive_max_pool3d_backward", adaptive_max_pool_backward<3>),
};

}  // namespace

std::span<const Rule> adaptive_pooling_rules() { return kRules; }

}  // namespace opentrn::lowering
