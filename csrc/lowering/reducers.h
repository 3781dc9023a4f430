// The reductions of scatter_reduce, index_reduce and their kin.
#pragma once

#include "lowering/rule.h"

namespace opentrn::lowering {

/// The IR's function for a reduction of PyTorch. On bools a sum is an or, a product an and.
ir::Op reducer(const Context& context, std::string_view reduce, DType dtype);

/// What changes nothing when `op` combines it with a value.
ir::Value neutral(ir::Builder& b, ir::Op op, ir::TensorType type);

/// Integers are divided as PyTorch's floor division does.
ir::Value mean_of(ir::Builder& b, ir::Value sum, ir::Value count);

}  // namespace opentrn::lowering
