// Offsets that are only known at run time: indices in HBM become registers.
#pragma once

#include <span>
#include <vector>

#include "compiler/emitter.h"

namespace opentrn::compiler {

/// Loads the start indices (scalars) of a window of `sizes` elements into registers, moved so that the window fits into
/// `view`, and returns what they add to an access to the view's first element.
std::vector<neuroncore::Term> emit_dynamic_offset(Emitter& emitter, const std::vector<ir::Value>& starts,
                                                  const ir::View& view, const Dims& sizes);

/// The type that integers of `dtype` are computed in without loss.
DType index_dtype(DType dtype);

/// dst = min(max(src, 0), limit), exact. `dst` has the type index_dtype(src), or another one that holds the limit.
void emit_clamp(neuroncore::Builder& program, const neuroncore::Access& dst, const neuroncore::Access& src,
                int64_t limit);

}  // namespace opentrn::compiler
