// Moving elements to places that are known when the graph is built: padding and pooling pick and sum neighbours this
// way.
#pragma once

#include "ir/builder.h"

namespace opentrn::lowering {

/// A constant vector of integers.
ir::Value integer_vector(ir::Builder& b, DType dtype, const Dims& values);

/// Element i of the result along `dim` is element places[i] of `x`. As slices where few of them do, else as a gather.
ir::Value take(ir::Builder& b, ir::Value x, int64_t dim, const Dims& places);

/// The counterpart: adds element i of `x` along `dim` to element places[i] of zeros, `size` of them. The places must be
/// few pieces of even steps.
ir::Value add_at(ir::Builder& b, ir::Value x, int64_t dim, const Dims& places, int64_t size);

/// Neighbours that are summed into one element: starts[i], starts[i] + 1, ..., lengths[i] of them, all inside.
struct Ranges {
  Dims starts, lengths;
};

/// Which ranges, themselves numbered, hold each of `size` elements. The ranges' starts and ends must both ascend.
Ranges ranges_holding(const Ranges& ranges, int64_t size);

/// Element i of the result along `dim` is the sum of the elements of range i.
ir::Value sum_ranges(ir::Builder& b, ir::Value x, int64_t dim, const Ranges& ranges);

}  // namespace opentrn::lowering
