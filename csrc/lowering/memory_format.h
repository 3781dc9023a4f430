// PyTorch's memory formats, as far as results of operators depend on them.
#pragma once

#include "base/shape.h"
#include "lowering/call.h"

namespace opentrn::lowering {

/// Whether PyTorch would suggest channels_last (4 dimensions) or channels_last_3d (5) for a tensor of these strides.
bool is_channels_last_like(const Dims& shape, const Dims& strides);

/// Dense strides with the channels (dimension 1) innermost.
Dims channels_last_strides(const Dims& shape);

/// The strides of a result of `shape` in the memory format of `like`: channels last or row-major.
Dims format_strides(const TensorArgument& like, const Dims& shape);
inline Dims format_strides(const TensorArgument& like) { return format_strides(like, like.type.shape); }

}  // namespace opentrn::lowering
