#include "lowering/pooling_windows.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "lowering/arguments.h"
#include "lowering/helpers.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::ComparisonDirection;
using ir::Value;

/// One number per spatial dimension; PyTorch also takes a single one for all of them.
Dims per_dimension(const Context& c, std::string_view name, size_t spatial) {
  const Dims& given = c.integers(name);
  require_pooling(c, given.size() == 1 || given.size() == spatial,
                  concat(name, " must either be a single int, or a tuple of ", spatial, " ints"),
                  "give one int per dimension");
  return given.size() == 1 ? Dims(spatial, given.front()) : given;
}

int64_t floor_divide(int64_t x, int64_t divisor) { return x >= 0 ? x / divisor : -((-x + divisor - 1) / divisor); }

int64_t output_size(const Windows& w, size_t i, bool ceil_mode) {
  const int64_t extent = w.dilation[i] * (w.kernel[i] - 1) + 1;
  const int64_t room = w.input[i] + 2 * w.padding[i] - extent + (ceil_mode ? w.stride[i] - 1 : 0);
  const int64_t size = floor_divide(room, w.stride[i]) + 1;
  // The last window starts inside the input or its left padding.
  const bool outside = (size - 1) * w.stride[i] >= w.input[i] + w.padding[i];
  return ceil_mode && outside ? size - 1 : size;
}

void check_window(const Context& c, const Windows& w, size_t i) {
  require_pooling(c, w.kernel[i] > 0, concat("kernel size should be greater than zero, but got ", w.kernel[i]),
                  "give a larger kernel");
  require_pooling(c, w.stride[i] > 0, concat("stride should be greater than zero, but got ", w.stride[i]),
                  "give a larger stride");
  require_pooling(c, w.dilation[i] > 0, concat("dilation should be greater than zero, but got ", w.dilation[i]),
                  "give a larger dilation");
  require_pooling(c, w.padding[i] >= 0, concat("pad must be non-negative, but got pad: ", w.padding[i]), "pad by 0");
  require_pooling(c, w.padding[i] <= w.kernel[i] / 2,
                  concat("pad should be at most half of effective kernel size, but got pad=", w.padding[i],
                         ", kernel_size=", w.kernel[i], " and dilation=", w.dilation[i]),
                  "pad less");
}

/// How far apart neighbours along each of the last dimensions are when a plane is numbered.
Dims plane_strides(const Dims& shape, size_t spatial) {
  return contiguous_strides(Dims(shape.end() - static_cast<int64_t>(spatial), shape.end()));
}

Value update_where(Builder& b, Value candidate, Value best) {
  const Value greater = b.compare(ComparisonDirection::GT, candidate, best);
  return is_float(b.dtype(candidate)) ? b.or_(greater, b.is_nan(candidate)) : greater;
}

Dims multiplied(Dims values, int64_t factor) {
  for (int64_t& value : values) value *= factor;
  return values;
}

/// The maxima along one dimension. Indices count the later dimensions already, or nothing yet when there are none.
Maxima maxima_along(Builder& b, const Maxima& x, int64_t dim, const Looks& looks, int64_t plane_stride, DType dtype) {
  Maxima best;
  for (size_t j = 0; j < looks.size(); ++j) {
    const Value candidate = take(b, x.values, dim, looks[j]);
    const Dims shape = b.shape(candidate);
    Value index = along(b, integer_vector(b, dtype, multiplied(looks[j], plane_stride)), shape, dim);
    if (x.indices.valid()) index = b.add(index, take(b, x.indices, dim, looks[j]));
    if (j == 0) {
      best = {candidate, index};
      continue;
    }
    const Value update = update_where(b, candidate, best.values);
    best = {b.select(update, candidate, best.values), b.select(update, index, best.indices)};
  }
  return best;
}

bool all_equal(const Dims& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

void require_pooling(const Context& context, bool condition, std::string what, std::string action) {
  require(condition, context, ErrorKind::Runtime, {.what = std::move(what), .action = std::move(action)});
}

Windows windows_of(const Context& c, size_t spatial, bool dilated) {
  const Dims& shape = c.tensor("self").type.shape;
  Windows w;
  w.kernel = per_dimension(c, "kernel_size", spatial);
  w.stride = c.integers("stride").empty() ? w.kernel : per_dimension(c, "stride", spatial);
  w.padding = per_dimension(c, "padding", spatial);
  w.dilation = dilated ? per_dimension(c, "dilation", spatial) : Dims(spatial, 1);
  check_planes(c, spatial, spatial + 1);
  w.input = Dims(shape.end() - static_cast<int64_t>(spatial), shape.end());
  for (size_t i = 0; i < spatial; ++i) {
    check_window(c, w, i);
    w.output.push_back(output_size(w, i, c.flag("ceil_mode")));
  }
  require_pooling(c, std::all_of(w.output.begin(), w.output.end(), [](int64_t size) { return size >= 1; }),
                  concat("Given input size: ", to_string(w.input), ". Calculated output size: ", to_string(w.output),
                         ". Output size is too small"),
                  "give a smaller kernel");
  return w;
}

void check_planes(const Context& c, size_t spatial, size_t positive) {
  const Dims& shape = c.tensor("self").type.shape;
  bool valid = shape.size() == spatial + 1 || shape.size() == spatial + 2;
  for (size_t i = 0; i < positive && valid; ++i) valid = shape[shape.size() - 1 - i] != 0;
  require_pooling(c, valid,
                  concat("Expected ", spatial + 1, "D or ", spatial + 2,
                         "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", to_string(shape)),
                  "reshape the input");
}

void check_shape(const Context& c, std::string_view name, const Dims& shape) {
  const Dims& given = c.tensor(name).type.shape;
  require_pooling(c, given == shape,
                  concat("Expected ", name, " of size ", to_string(shape), ", but got ", to_string(given)),
                  "give the tensor that belongs to the pooled one");
}

void check_same_type(const Context& c, std::string_view name) {
  const DType expected = c.tensor("self").type.dtype, given = c.tensor(name).type.dtype;
  require_pooling(c, given == expected,
                  concat("expected dtype ", scalar_type_name(expected), " for `", name, "` but got dtype ",
                         scalar_type_name(given)),
                  "convert it");
}

Dims with_spatial(Dims shape, const Dims& sizes) {
  std::copy(sizes.begin(), sizes.end(), shape.end() - static_cast<int64_t>(sizes.size()));
  return shape;
}

Value divide_by_counts(Builder& b, Value x, const std::vector<Dims>& counts) {
  const Dims shape = b.shape(x);
  const auto first = static_cast<int64_t>(shape.size() - counts.size());
  double constant = 1;
  Value divisor;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (all_equal(counts[i])) {
      constant *= static_cast<double>(counts[i].front());
      continue;
    }
    const Value vector = b.convert(integer_vector(b, DType::I64, counts[i]), b.dtype(x));
    const Value factor = along(b, vector, shape, first + static_cast<int64_t>(i));
    divisor = divisor.valid() ? b.multiply(divisor, factor) : factor;
  }
  if (divisor.valid() && constant != 1) divisor = b.multiply(divisor, b.splat_like(divisor, constant));
  if (divisor.valid()) return b.divide(x, divisor);
  return constant == 1 ? x : b.divide(x, b.splat_like(x, constant));
}

Looks looks_of(const Windows& w, size_t i) {
  Looks looks(static_cast<size_t>(w.kernel[i]));
  const int64_t dilation = w.dilation[i];
  for (int64_t number = 0; number < w.output[i]; ++number) {
    const int64_t start = number * w.stride[i] - w.padding[i];
    // Padding is never the maximum: places in it look at the window's first or last element instead.
    const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int64_t last = floor_divide(w.input[i] - 1 - start, dilation);
    for (int64_t j = 0; j < w.kernel[i]; ++j) {
      const int64_t place = std::max(first, std::min(j, last));
      looks[static_cast<size_t>(j)].push_back(std::min(start + place * dilation, w.input[i] - 1));
    }
  }
  return looks;
}

Looks looks_of(const Ranges& ranges) {
  const int64_t longest = *std::max_element(ranges.lengths.begin(), ranges.lengths.end());
  Looks looks(static_cast<size_t>(longest));
  for (size_t i = 0; i < ranges.starts.size(); ++i) {
    for (int64_t j = 0; j < longest; ++j) {
      looks[static_cast<size_t>(j)].push_back(ranges.starts[i] + std::min(j, ranges.lengths[i] - 1));
    }
  }
  return looks;
}

// One dimension after the other, the last one first: the order of the elements in a plane decides between equals, and
// the first of the first row that has the maximum is the first of all.
Maxima maxima(Builder& b, Value x, const std::vector<Looks>& looks) {
  const Dims strides = plane_strides(b.shape(x), looks.size());
  const Dims shape = b.shape(x);
  const auto first = static_cast<int64_t>(shape.size() - looks.size());
  const int64_t plane = strides.front() * std::max<int64_t>(shape[static_cast<size_t>(first)], 1);
  const DType dtype = plane <= std::numeric_limits<int32_t>::max() ? DType::I32 : DType::I64;
  Maxima best{x, {}};
  for (size_t i = looks.size(); i-- > 0;) {
    best = maxima_along(b, best, first + static_cast<int64_t>(i), looks[i], strides[i], dtype);
  }
  return {best.values, b.convert(best.indices, DType::I64)};
}

Value scatter_in_planes(Builder& b, Value values, Value indices, const Dims& shape, size_t spatial, ir::Op update) {
  const auto edge = shape.end() - static_cast<int64_t>(spatial);
  const int64_t planes = element_count(Dims(shape.begin(), edge)), size = element_count(Dims(edge, shape.end()));
  if (planes == 0 || size == 0) return b.splat({b.dtype(values), shape}, 0);
  const Dims rows = {planes, b.type(values).elements() / planes};
  const Value zeros = b.splat({b.dtype(values), {planes, size}}, 0);
  const Value result = scatter_elements(b, zeros, 1, b.reshape(indices, rows), b.reshape(values, rows), update);
  return b.reshape(result, shape);
}

}  // namespace opentrn::lowering
