// Sums along a dimension and searches in sorted sequences, built from primitives.
#pragma once

#include "ir/builder.h"

namespace opentrn::lowering {

/// Inclusive prefix sums along `dim`.
ir::Value running_sum(ir::Builder& b, ir::Value x, int64_t dim);

/// The same of maxima, of integers that are not negative.
ir::Value running_maximum(ir::Builder& b, ir::Value x, int64_t dim);

/// Binary search along the last dimension of `sequences`: for each value the number of elements that are less than it,
/// or with `right` not greater than it. `sequences` is a vector, or has the values' shape but for the last dimension. A
/// NaN comes after everything. The result is int64 of the values' shape.
ir::Value search_sorted(ir::Builder& b, ir::Value sequences, ir::Value values, bool right);

}  // namespace opentrn::lowering
