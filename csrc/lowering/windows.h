// Gather and scatter in the four shapes PyTorch's indexing operators need. Indices are checked before they come here.
#pragma once

#include "ir/builder.h"

namespace opentrn::lowering {

/// Whole slices: the result has the operand's shape with dimension `dim` replaced by the indices' shape.
ir::Value gather_slices(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices);

/// The counterpart: `updates` has the shape that gather_slices would give.
ir::Value scatter_slices(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices, ir::Value updates,
                         ir::Op update);

/// Single elements: result[i][j][k] = operand[i][indices[i][j][k]][k] for dim = 1. Sizes of the indices may be smaller
/// than the operand's in the other dimensions.
ir::Value gather_elements(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices);

/// The counterpart: `updates` has the indices' shape.
ir::Value scatter_elements(ir::Builder& b, ir::Value operand, int64_t dim, ir::Value indices, ir::Value updates,
                           ir::Op update);

/// Several indices of one shape, each for its own dimension, as in `x[i, :, j]`: the batch dimensions of the result
/// stand at the place of the first indexed dimension when the indexed ones are neighbours, else in front.
struct MultiIndex {
  Dims dims;                       // indexed dimensions, ascending
  std::vector<ir::Value> indices;  // one per entry of dims, all of shape `batch` and one type
  Dims batch;

  int64_t batch_position() const;
  Dims result_shape(const Dims& operand) const;
};
ir::Value gather_multi(ir::Builder& b, ir::Value operand, const MultiIndex& index);
ir::Value scatter_multi(ir::Builder& b, ir::Value operand, const MultiIndex& index, ir::Value updates, ir::Op update);

/// `operand` cut down to `sizes`, from the start of each dimension.
ir::Value head(ir::Builder& b, ir::Value operand, const Dims& sizes);

}  // namespace opentrn::lowering
