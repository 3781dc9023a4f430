// One function per family of primitives. Each looks at node `first`, emits it and possibly nodes after it, and returns
// how many nodes it took: 0 when the node is none of its kind or has no tile form.
#pragma once

#include <cstddef>

#include "compiler/emitter.h"

namespace opentrn::compiler {

size_t emit_attention(Emitter& emitter, size_t first);
/// Element-wise primitives, broadcasts and reductions over one iteration space.
size_t emit_rows(Emitter& emitter, size_t first);
size_t emit_dot(Emitter& emitter, size_t first);
size_t emit_convolution(Emitter& emitter, size_t first);
/// concatenate, pad, dynamic slices, reshapes and bit casts that move data, transposes.
size_t emit_movement(Emitter& emitter, size_t first);
size_t emit_gather(Emitter& emitter, size_t first);
size_t emit_scatter(Emitter& emitter, size_t first);
/// Running sums, products and extremes.
size_t emit_scan(Emitter& emitter, size_t first);
/// Other windows.
size_t emit_window(Emitter& emitter, size_t first);
/// Conditions that operators demand.
size_t emit_check(Emitter& emitter, size_t first);
/// What has no tile form yet: a host kernel behind a GpSimd library call.
size_t emit_library(Emitter& emitter, size_t first);

}  // namespace opentrn::compiler
