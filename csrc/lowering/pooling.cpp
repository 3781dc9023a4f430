// Means and maxima over windows, their gradients, and the inverse of max pooling.
#include <algorithm>
#include <array>

#include "lowering/arguments.h"
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

constexpr int64_t kOneReduction = 64;  // places of a window up to which all dimensions are summed at once

/// Three-dimensional means have no kernels for 16-bit floats on the CPU.
void check_mean_type(const Context& c, size_t spatial) {
  const DType dtype = c.tensor("self").type.dtype;
  const bool narrow = dtype == DType::F16 || dtype == DType::BF16;
  if (dtype != DType::I64) check_types(c, dtype, spatial == 3 && narrow ? "" : "f");
}

Windows mean_windows(const Context& c, size_t spatial) {
  // The CPU looks at the channels of two-dimensional planes before it counts dimensions.
  if (spatial == 2) c.dimension(-3, c.tensor("self").type.rank());
  const Windows w = windows_of(c, spatial, false);
  for (size_t i = 0; spatial == 3 && i < spatial; ++i) {
    require_pooling(c, w.input[i] >= w.kernel[i],
                    concat("input image ", to_string(w.input), " smaller than kernel size ", to_string(w.kernel)),
                    "give a smaller kernel");
  }
  require_pooling(c, !c.has("divisor_override") || c.integer("divisor_override") != 0, "divisor must be not zero",
                  "leave divisor_override out");
  check_mean_type(c, spatial);
  return w;
}

/// The part of each window that lies in the input, or with `padded` also what lies in its padding.
Ranges inside(const Windows& w, size_t i, bool padded) {
  const int64_t margin = padded ? w.padding[i] : 0;
  Ranges ranges;
  for (int64_t number = 0; number < w.output[i]; ++number) {
    const int64_t start = number * w.stride[i] - w.padding[i];
    const int64_t end = std::min(start + w.kernel[i], w.input[i] + margin);
    ranges.starts.push_back(std::max(start, -margin));
    ranges.lengths.push_back(end - ranges.starts.back());
  }
  return ranges;
}

Value divide_by_windows(Context& c, Value sums, const Windows& w) {
  if (c.has("divisor_override"))
    return divide_by_counts(c.b, sums, std::vector<Dims>{Dims{c.integer("divisor_override")}});
  std::vector<Dims> counts;
  for (size_t i = 0; i < w.spatial(); ++i) counts.push_back(inside(w, i, c.flag("count_include_pad")).lengths);
  return divide_by_counts(c.b, sums, counts);
}

/// Sums over windows along the spatial dimensions [first, last).
Value sum_windows(Builder& b, Value x, const Windows& w, size_t first, size_t last) {
  const size_t rank = b.shape(x).size();
  const Dims ones(rank, 1), none(rank, 0);
  ir::ReduceWindowAttributes attributes{Op::Add, ones, ones, ones, ones, none, none};
  for (size_t i = first; i < last; ++i) {
    const size_t dim = rank - w.spatial() + i;
    const int64_t needed = (w.output[i] - 1) * w.stride[i] + w.kernel[i] - w.input[i] - w.padding[i];
    attributes.window_dimensions[dim] = w.kernel[i];
    attributes.window_strides[dim] = w.stride[i];
    attributes.padding_low[dim] = w.padding[i];
    attributes.padding_high[dim] = std::max(w.padding[i], needed);
  }
  return b.reduce_window(x, b.scalar(b.dtype(x), 0), std::move(attributes));
}

template <size_t spatial>
Results avg_pool(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const Windows w = mean_windows(c, spatial);
  const Dims shape = with_spatial(self.type.shape, w.output);
  if (spatial == 2) c.result_strides = {format_strides(self, shape)};
  if (element_count(shape) == 0) return {c.b.splat({self.type.dtype, shape}, 0)};
  Value sums = compute_value(c, "self");
  if (element_count(w.kernel) <= kOneReduction) {
    sums = sum_windows(c.b, sums, w, 0, spatial);
  } else {
    for (size_t i = spatial; i-- > 0;) sums = sum_windows(c.b, sums, w, i, i + 1);
  }
  return {c.b.convert(divide_by_windows(c, sums, w), self.type.dtype)};
}

template <size_t spatial>
Results avg_pool_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const Windows w = mean_windows(c, spatial);
  check_shape(c, "grad_output", with_spatial(self.type.shape, w.output));
  check_same_type(c, "grad_output");
  if (spatial == 2) c.result_strides = {format_strides(self)};
  if (self.type.elements() == 0) return {c.b.splat(self.type, 0)};
  Value x = divide_by_windows(c, compute_value(c, "grad_output"), w);
  for (size_t i = 0; i < spatial; ++i) {
    const auto dim = static_cast<int64_t>(self.type.shape.size() - spatial + i);
    x = sum_ranges(c.b, x, dim, ranges_holding(inside(w, i, false), w.input[i]));
  }
  return {c.b.convert(x, self.type.dtype)};
}

/// Only batches of volumes keep a memory format.
Dims maximum_strides(const TensorArgument& self, const Dims& shape, size_t spatial) {
  return shape.size() == spatial + 2 ? format_strides(self, shape) : contiguous_strides(shape);
}

template <size_t spatial>
Results max_pool(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const DType dtype = self.type.dtype;
  const Windows w = windows_of(c, spatial, true);
  check_types(c, dtype, "if");
  const Dims shape = with_spatial(self.type.shape, w.output);
  c.result_strides.assign(2, maximum_strides(self, shape, spatial));
  if (element_count(shape) == 0) return {c.b.splat({dtype, shape}, 0), c.b.splat({DType::I64, shape}, 0)};
  std::vector<Looks> looks;
  for (size_t i = 0; i < spatial; ++i) looks.push_back(looks_of(w, i));
  const Maxima best = maxima(c.b, compute_value(c, "self"), looks);
  return {c.b.convert(best.values, dtype), best.indices};
}

template <size_t spatial>
Results max_pool_backward(Context& c) {
  const TensorArgument& self = c.tensor("self");
  const Windows w = windows_of(c, spatial, true);
  const Dims shape = with_spatial(self.type.shape, w.output);
  check_shape(c, "grad_output", shape);
  check_shape(c, "indices", shape);
  check_types(c, self.type.dtype, "f");
  check_same_type(c, "grad_output");
  require_index_type(c, "indices", IndexTypes::Int64);
  c.result_strides = {maximum_strides(self, self.type.shape, spatial)};
  if (self.type.elements() == 0) return {c.b.splat(self.type, 0)};
  const Value indices = checked(c, c.value("indices"), {element_count(w.input)}, 0, ir::IndexRule::NonNegativeRuntime);
  const Value gradient = compute_value(c, "grad_output");
  const Value result = scatter_in_planes(c.b, gradient, indices, self.type.shape, spatial, Op::Add);
  return {c.b.convert(result, self.type.dtype)};
}

void check_three_positive(const Context& c) {
  require_pooling(c, c.integers("stride").size() == 3, "There should be exactly three elements in stride",
                  "give three ints");
  require_pooling(c, c.integers("padding").size() == 3, "There should be exactly three elements in padding",
                  "give three ints");
  for (const int64_t stride : c.integers("stride")) {
    require_pooling(c, stride > 0, concat("strides should be greater than zero, but got stride: ", stride),
                    "give a larger stride");
  }
}

void check_unpooling(const Context& c, size_t spatial) {
  const Dims& sizes = c.integers("output_size");
  require_index_type(c, "indices", IndexTypes::Int64);
  require_pooling(c, sizes.size() == spatial,
                  concat("There should be exactly ", spatial, " elements in output_size, but got ", sizes.size()),
                  "give one size per dimension");
  require_pooling(c, std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; }),
                  concat("output_size must contain non-negative spatial dimensions, but got ", to_string(sizes)),
                  "give other sizes");
  const int64_t rank = c.tensor("self").type.rank();
  check_planes(c, spatial, static_cast<size_t>(std::max<int64_t>(rank - 1, 0)));
  check_shape(c, "indices", c.tensor("self").type.shape);
  if (spatial == 3) check_three_positive(c);
}

template <size_t spatial>
Results max_unpool(Context& c) {
  const TensorArgument& self = c.tensor("self");
  check_unpooling(c, spatial);
  check_types(c, self.type.dtype, "f");
  const Dims& sizes = c.integers("output_size");
  const Dims shape = with_spatial(self.type.shape, sizes);
  if (spatial == 2) c.result_strides = {format_strides(self, shape)};
  if (element_count(shape) == 0) return {c.b.splat({self.type.dtype, shape}, 0)};
  const Value indices = checked(c, c.value("indices"), {element_count(sizes)}, 0, ir::IndexRule::NonNegativeRuntime);
  return {scatter_in_planes(c.b, self.value, indices, shape, spatial, Op::Select)};
}

const std::array kRules = {
    general("avg_pool2d", avg_pool<2>),
    general("avg_pool2d_backward", avg_pool_backward<2>),
    general("avg_pool3d", avg_pool<3>),
    general("avg_pool3d_backward", avg_pool_backward<3>),
    general("max_pool2d_with_indices", max_pool<2>),
    general("max_pool2d_with_indices_backward", max_pool_backward<2>),
    general("max_pool3d_with_indices", max_pool<3>),
    general("max_pool3d_with_indices_backward", max_pool_backward<3>),
    general("max_unpool2d", max_unpool<2>),
    general("max_unpool3d", max_unpool<3>),
};

}  // namespace

std::span<const Rule> pooling_rules() { return kRules; }

}  // namespace opentrn::lowering
