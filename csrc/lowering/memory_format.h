// PyTorch's memory formats, as far as results of operators depend on them.
#pragma once

#include "base/shape.h"

namespace opentrn::lowering {

/// Whether PyTorch would suggest channels_last (4 dimensions) or channels_last_3d (5) for a tensor of these strides.
bool is_channels_last_like(const Dims& shape, const Dims& strides);

/// Dense strides with the channels (dimension 1) innermost.
Dims channels_last_strides(const Dims& shape);

}  // namespace opentrn::lowering
