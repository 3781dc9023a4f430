// The index list of `x[i, :, j]`, as index.Tensor and index_put take it.
#pragma once

#include "lowering/rule.h"
#include "lowering/windows.h"

namespace opentrn::lowering {

/// Checks the argument `indices` against `self`, and broadcasts and wraps the indices. Declines masks: a dispatcher
/// turns them into indices first, because how many elements they select is not known here.
MultiIndex multi_index(Context& context, const TensorArgument& self);

/// The strides CPU PyTorch gives the result of index.Tensor.
Dims multi_index_strides(const Context& context, const TensorArgument& self, const MultiIndex& index);

}  // namespace opentrn::lowering
