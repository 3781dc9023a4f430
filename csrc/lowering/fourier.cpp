// Discrete Fourier transforms over any dimensions.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::FftType;
using ir::Value;

constexpr size_t kMostAtOnce = 3;  // dimensions that one transform of the IR takes

bool contains(const Dims& dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

Dims inverse_of(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return inverse;
}

/// The transform over `dims` (at most kMostAtOnce). `length` is that of the real signal along the last of them.
Value transform(Builder& b, Value x, const Dims& dims, FftType type, int64_t length) {
  Dims order;
  for (int64_t dim = 0; dim < b.rank(x); ++dim) {
    if (!contains(dims, dim)) order.push_back(dim);
  }
  order.insert(order.end(), dims.begin(), dims.end());
  Dims lengths;
  for (const int64_t dim : dims) lengths.push_back(b.shape(x)[static_cast<size_t>(dim)]);
  lengths.back() = length;
  if (is_identity(order)) return b.fft(x, {type, lengths});
  return b.transpose(b.fft(b.transpose(x, order), {type, lengths}), inverse_of(order));
}

Value complex_transform(Builder& b, Value x, const Dims& dims, bool forward) {
  for (size_t begin = 0; begin < dims.size(); begin += kMostAtOnce) {
    const size_t end = std::min(begin + kMostAtOnce, dims.size());
    const Dims group(dims.begin() + static_cast<int64_t>(begin), dims.begin() + static_cast<int64_t>(end));
    const int64_t length = b.shape(x)[static_cast<size_t>(group.back())];
    x = transform(b, x, group, forward ? FftType::Fft : FftType::Ifft, length);
  }
  return x;
}

/// PyTorch's normalization: 0 leaves the sums as they are, 1 divides by the root of the number of points, 2 by that
/// number. The IR's inverse transforms divide by it already.
Value normalized(Context& c, Value x, double points, bool divided) {
  const int64_t mode = c.integer("normalization");
  require(mode >= 0 && mode <= 2, c, ErrorKind::Runtime,
          {.what = "unsupported normalization mode", .got = concat(mode), .expected = "0, 1 or 2"});
  const double wanted = mode == 0 ? 1.0 : mode == 1 ? 1.0 / std::sqrt(points) : 1.0 / points;
  const double scale = divided ? wanted * points : wanted;
  return scale == 1.0 ? x : c.b.multiply(x, c.b.splat_like(x, scale));
}

/// The argument `dim`, checked. The CPU transforms no tensor without elements.
Dims transformed_dims(const Context& c) {
  const Dims& dims = c.integers("dim");
  const Dims& shape = c.tensor("self").type.shape;
  for (const int64_t dim : dims) {
    require(dim >= 0 && dim < static_cast<int64_t>(shape.size()), c, ErrorKind::Runtime,
            {.what = concat("dimension ", dim, " is not one of the tensor's"), .got = "shape " + to_string(shape)});
    if (std::count(dims.begin(), dims.end(), dim) > 1) decline("a dimension that is named twice");
  }
  require(dims.empty() || element_count(shape) > 0, c, ErrorKind::Runtime,
          {.what = "Fourier transforms need at least one element",
           .got = "shape " + to_string(shape),
           .action = "leave out the transform of tensors without elements"});
  return dims;
}

void require_some(const Context& c, const Dims& dims) {
  require(!dims.empty(), c, ErrorKind::Runtime,
          {.what = "dim is an empty list", .action = "name at least one dimension"});
}

void require_single_or_double(const Context& c, bool complex) {
  const DType dtype = c.tensor("self").type.dtype;
  const std::string_view name = scalar_type_name(dtype);
  require(complex ? is_complex(dtype) : is_float(dtype), c, ErrorKind::Runtime,
          {.what = concat("Only supports ", complex ? "complex" : "floating-point", " dtypes, but found: ", name),
           .action = "convert the input"});
  require(size_of(real_dtype(dtype)) >= 4, c, ErrorKind::Runtime,
          {.what = concat("FFT doesn't support tensors of type: ", name), .action = "convert the input to float32"});
}

double points(const Dims& shape, const Dims& dims) { return static_cast<double>(count_of(shape, dims)); }

// --- strides: PyTorch moves the transformed dimensions to the end of memory, the others before them in memory order

/// `dims` from the longest to the shortest step in memory, but for those from `fixed` on.
Dims in_memory_order(Dims dims, const Dims& strides, size_t fixed = 0) {
  std::sort(dims.begin(), dims.end() - static_cast<int64_t>(fixed), [&](int64_t left, int64_t right) {
    return strides[static_cast<size_t>(left)] > strides[static_cast<size_t>(right)];
  });
  return dims;
}

Dims result_strides(const Dims& shape, const Dims& strides, const Dims& dims) {
  Dims order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(std::partition(order.begin(), order.end(), [&](int64_t dim) { return !contains(dims, dim); }),
              order.end());
  order = in_memory_order(order, strides);
  order.insert(order.end(), dims.begin(), dims.end());
  Dims result(shape.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    result[dim] = step;
    step *= shape[dim];
  }
  return result;
}

// --- the operators

Results real_to_complex(Context& c) {
  require_single_or_double(c, false);
  const Dims dims = transformed_dims(c);
  require_some(c, dims);
  Builder& b = c.b;
  const TensorArgument& self = c.tensor("self");
  const int64_t last = dims.back();
  const double count = points(self.type.shape, dims);
  Value x = normalized(c, self.value, count, false);
  if (c.flag("onesided")) {
    const Dims rest(dims.begin(), dims.end() - 1);
    x = transform(b, x, {last}, FftType::Rfft, self.type.shape[static_cast<size_t>(last)]);
    x = complex_transform(b, x, rest, true);
  } else {
    x = complex_transform(b, b.complex(x, b.splat_like(x, 0.0)), dims, true);
  }
  c.result_strides = {result_strides(b.shape(x), self.strides, in_memory_order(dims, self.strides, 1))};
  return {x};
}

Results complex_to_complex(Context& c) {
  require_single_or_double(c, true);
  const Dims dims = transformed_dims(c);
  const TensorArgument& self = c.tensor("self");
  if (dims.empty()) return {self.value};
  const bool forward = c.flag("forward");
  const Value x = complex_transform(c.b, self.value, dims, forward);
  c.result_strides = {result_strides(self.type.shape, self.strides, in_memory_order(dims, self.strides))};
  return {normalized(c, x, points(self.type.shape, dims), !forward)};
}

Results complex_to_real(Context& c) {
  require_single_or_double(c, true);
  const Dims dims = transformed_dims(c);
  require_some(c, dims);
  Builder& b = c.b;
  const TensorArgument& self = c.tensor("self");
  const int64_t length = c.integer("last_dim_size");
  const auto last = static_cast<size_t>(dims.back());
  const int64_t given = self.type.shape[last];
  const int64_t half = length / 2 + 1;
  require(length >= 1 && (given == length || given == half), c, ErrorKind::Runtime,
          {.what = concat("Invalid number of data points (", length, ") specified"),
           .got = concat(given, " coefficients along dimension ", dims.back()),
           .action = concat("give ", half, " coefficients")});
  const Dims rest(dims.begin(), dims.end() - 1);
  Dims limit = self.type.shape;
  limit[last] = half;
  Value x = b.slice(self.value, Dims(limit.size(), 0), limit, Dims(limit.size(), 1));
  x = transform(b, complex_transform(b, x, rest, false), {dims.back()}, FftType::Irfft, length);
  Dims strides = self.strides;
  if (!rest.empty()) strides = result_strides(self.type.shape, strides, in_memory_order(rest, strides));
  c.result_strides = {result_strides(b.shape(x), strides, {dims.back()})};
  return {normalized(c, x, points(b.shape(x), dims), true)};
}

const std::array kRules = {
    general("_fft_c2c", complex_to_complex, StrideRule::LikeSelf),
    general("_fft_c2r", complex_to_real),
    general("_fft_r2c", real_to_complex),
};

}  // namespace

std::span<const Rule> fourier_rules() { return kRules; }

}  // namespace opentrn::lowering
