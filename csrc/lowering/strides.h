// Which strides PyTorch gives a fresh result.
#pragma once

#include <span>

#include "lowering/call.h"

namespace opentrn::lowering {

/// The strides TensorIterator gives a fresh output of `shape`: the operands' common memory order, ambiguous cases
/// decided by the earlier operand. Only operands of that very shape vote fully; broadcast ones vote with their
/// non-broadcast dimensions.
Dims elementwise_strides(const Dims& shape, std::span<const TensorArgument> operands);

/// The strides of empty_like with preserve_format.
Dims preserved_strides(const Dims& shape, const Dims& strides);

}  // namespace opentrn::lowering
