// A run of element-wise primitives and reductions on its way to a program: its values and the steps between them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/emitter.h"
#include "passes/fusion.h"

namespace opentrn::compiler::rows {

inline constexpr size_t kMostOperands = 3;

/// A value of the run, in HBM (a load), on chip (made by a step), or a number in the instructions (a splat).
struct Slot {
  enum class Kind { Load, Made, Splat };

  Kind kind = Kind::Made;
  ir::Value value;
  DType dtype = DType::F32;
  std::vector<int32_t> dimensions;  // of the space, by dimension of the value; -1 where it has one element
  uint64_t varies = 0;              // dimensions of the space along which elements differ
  neuroncore::Immediate number;     // of a splat, or what a memset writes
  Location location;                // of a load and of a stored value
  bool stored = false;
  int stage = 0;          // reductions one behind the other on the way to it
  int32_t last_use = -1;  // step
  int32_t tile = -1;
  int32_t line = -1;      // of a load or a stored value, in the nest
  bool released = false;  // its tile may hold something else from here on
};

/// A slot looked at with a type of the same size.
struct Use {
  int32_t slot = -1;
  DType dtype = DType::F32;
};

/// Memory on the chip for a slot or an intermediate result.
struct Tile {
  DType dtype = DType::F32;
  uint64_t varies = 0;
  bool in_flight = false;  // DMA fills or empties it: double buffered
};

/// An operation with one more operand on what an instruction has computed so far.
struct Link {
  neuroncore::AluOp op = neuroncore::AluOp::Bypass;
  bool reverse = false;  // operand op value instead of value op operand
};

/// What one instruction does with operand 0 of a step: link k applies operand k + 1, and the function comes last. With
/// a function other than Copy the links are a multiplication, an addition, or the two in this order.
struct Chain {
  std::array<Link, 2> links;
  size_t count = 0;
  neuroncore::ActivationFunction function = neuroncore::ActivationFunction::Copy;
};

struct Step {
  const ir::Node* node = nullptr;
  std::array<Use, kMostOperands> operands;
  size_t count = 0;
  int32_t result = -1;
  std::vector<int32_t> temporaries;  // tiles
  int32_t line = -1;                 // of an iota, in the nest
  std::optional<Chain> chain;        // what the step does, when that is not what the node says
};

/// A node that only looks at a slot from another side.
struct View {
  const ir::Node* node = nullptr;
  int32_t slot = -1;
};

/// Everything about a run but how it is cut into tiles.
struct Description {
  Dims space;
  uint64_t reduced = 0;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<Tile> tiles;
  std::vector<View> views;

  const Slot& slot(const Use& use) const { return slots[static_cast<size_t>(use.slot)]; }
  bool has_reduction() const { return reduced != 0; }
  /// A step may stop the program.
  bool may_trap() const;
};

/// Dimensions of the space that a value has.
uint64_t spanned(const std::vector<int32_t>& dimensions);

/// Joins steps that one instruction can do. Tiles are not assigned yet.
void combine(const neuroncore::Machine& machine, Description& description);

/// Looks up where operands lie, finds what has to be stored, and assigns tiles.
Description describe(Emitter& emitter, const passes::Run& run);

/// Decides where results go.
void place_results(Emitter& emitter, const passes::Run& run, Description& description);

/// True when the run computes full values from its reductions, so that the data has to stay on the chip between them.
bool is_multi_stage(const Description& description);

/// True when the primitive has a form made of tile instructions for these types.
bool has_tile_form(const ir::Graph& graph, const ir::Node& node);

/// What a step needs besides the tiles of its operands and its result.
struct Needs {
  std::vector<DType> temporaries;  // as large as the result
  uint32_t overwritable = 0;       // operands, one bit each, whose place the result may take
};
Needs needs_of(const Description& description, const Step& step);

/// True when the instructions of the node take this operand from a tile only, even if it is a number.
bool needs_tile(const ir::Node& node, size_t operand, bool all_numbers);

/// Elements that the tiles may have in each partition, with double buffering or without.
int64_t most_elements(const neuroncore::Machine& machine, const Description& description, int copies);

/// True when whole rows fit on the chip.
bool rows_fit(const neuroncore::Machine& machine, const Description& description);

/// Emits the description's loop nests.
void emit(Emitter& emitter, Description& description);

/// The type sums of `dtype` are kept in before they are rounded once.
DType accumulation_dtype(DType dtype);

}  // namespace opentrn::compiler::rows
