// Copies between locations in HBM: DMA programs whose access patterns do the transposing, slicing and broadcasting.
#pragma once

#include <vector>

#include "compiler/emitter.h"

namespace opentrn::compiler {

/// Copies between two locations of equal shape; element types may differ (the DMA converts through float32, so only
/// where that is exact or the wanted rounding). The terms move either side by the values of registers.
void emit_copy(neuroncore::Builder& program, const neuroncore::Machine& machine, const Location& source,
               const Location& destination, const std::vector<neuroncore::Term>& source_terms = {},
               const std::vector<neuroncore::Term>& destination_terms = {});

/// Writes the operand, padded with the single element `value` as `pad` says, to `result`.
void emit_padded(Emitter& emitter, const Location& operand, const Location& value, const ir::PadAttributes& pad,
                 const Location& result);

/// The access pattern of a location as it is: one dimension of the pattern per dimension of the view.
neuroncore::Access whole(const Location& location);

/// A value whose elements are all the same: one element of it in HBM.
Location splat(neuroncore::Builder& program, const ir::TensorType& type, double value);

/// The single element of `location` for every element of `shape`.
Location expanded(const Location& location, const Dims& shape);

}  // namespace opentrn::compiler
