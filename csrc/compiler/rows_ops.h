// The tile instructions of each primitive.
#pragma once

#include <optional>

#include "compiler/rows_tiles.h"

namespace opentrn::compiler::rows {

/// Emits the instructions of an element-wise step or an iota.
void emit_step(Tiles& tiles, const Step& step, const Line* iota);

/// The unit that combines two elements as the primitive does, and the engine that has it for this type.
struct Unit {
  neuroncore::AluOp op = neuroncore::AluOp::Bypass;
  neuroncore::Engine engine = neuroncore::Engine::Vector;
};
std::optional<Unit> binary_unit(ir::Op op, DType dtype);
std::optional<Unit> comparison_unit(ir::ComparisonDirection direction, DType dtype);

/// The function of an element-wise primitive of one operand on floats or complex numbers.
std::optional<neuroncore::ActivationFunction> function_of(ir::Op op, DType dtype);

/// out = left op right, whatever the two are: tiles, columns or numbers (not both numbers).
void emit_binary(Tiles& tiles, neuroncore::Access out, const Unit& unit, const Use& left, const Use& right,
                 uint64_t over);

/// The engine that compares and orders numbers of the type exactly: arithmetic on Vector is float32.
neuroncore::Engine exact_engine(DType dtype);

}  // namespace opentrn::compiler::rows
