// What the pooling operators share: their arguments, the windows along each dimension, sums and maxima over them.
#pragma once

#include "lowering/places.h"
#include "lowering/rule.h"

namespace opentrn::lowering {

/// One entry per spatial dimension in each list. The spatial dimensions are the last ones.
struct Windows {
  Dims kernel, stride, padding, dilation;
  Dims input, output;  // sizes

  size_t spatial() const { return kernel.size(); }
};

/// Reads and checks kernel_size, stride, padding, ceil_mode and, for maxima, dilation against the shape of `self`.
Windows windows_of(const Context& context, size_t spatial, bool dilated);

/// Refuses the call with a RuntimeError unless the condition holds.
void require_pooling(const Context& context, bool condition, std::string what, std::string action);

/// Refuses a `self` that is not a batch of planes or one image. Its sizes but the batch's have to be positive, those of
/// the last `positive` dimensions at least.
void check_planes(const Context& context, size_t spatial, size_t positive);

/// Refuses a tensor of another shape, or of another type than `self`.
void check_shape(const Context& context, std::string_view name, const Dims& shape);
void check_same_type(const Context& context, std::string_view name);

/// The shape with the last dimensions replaced.
Dims with_spatial(Dims shape, const Dims& sizes);

/// Divides by the number of elements that each result is a mean of: the product of `counts` along the last dimensions.
ir::Value divide_by_counts(ir::Builder& b, ir::Value x, const std::vector<Dims>& counts);

/// Which elements along one dimension each result looks at, in order: entry j of the outer list holds the j-th element
/// of every result. A result that has fewer elements sees some of its own again.
using Looks = std::vector<Dims>;
Looks looks_of(const Windows& windows, size_t dimension);
Looks looks_of(const Ranges& ranges);

/// The maxima over the looks along each of the last dimensions and where they are, numbered within the plane; the type
/// of the numbers is int64. The first maximum wins, and over it the last NaN.
struct Maxima {
  ir::Value values, indices;
};
Maxima maxima(ir::Builder& b, ir::Value x, const std::vector<Looks>& looks);

/// The values added up (or, with Op::Select, put) at the places in their plane of `shape` that `indices` names.
ir::Value scatter_in_planes(ir::Builder& b, ir::Value values, ir::Value indices, const Dims& shape, size_t spatial,
                            ir::Op update);

}  // namespace opentrn::lowering
