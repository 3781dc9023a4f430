// The one way to copy in HBM: merges dimensions, cuts what is large into independent pieces, and keeps runs long.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler/movement.h"
#include "compiler/tiling.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Access;
using neuroncore::Builder;
using neuroncore::Term;

constexpr size_t kTo = 0, kFrom = 1;        // positions of the two sides in the steps
constexpr size_t kMostDimensions = 4;       // of an access pattern (AWS Neuron documentation, tensor access)
constexpr int64_t kPieceBytes = 256 << 10;  // far above the 2 KiB a DMA element needs for full speed (the same)
constexpr int64_t kTransposedTile = 128;    // elements each way: a choice, the piece lies in HBM on both sides

std::vector<Axis> axes_of(const ir::View& from, const ir::View& to) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < to.shape.size(); ++i) axes.push_back({to.shape[i], {to.strides[i], from.strides[i], 0}});
  return merged(std::move(axes));
}

int64_t source_step(const Axis& axis) { return std::abs(axis.steps[kFrom]); }

// In a transposing copy another axis is dense in the source than in the destination: it comes next to the innermost
// one, so that a piece is a square of the two. Returns whether there is such an axis.
bool arrange_transposed(std::vector<Axis>& axes) {
  if (axes.size() < 2) return false;
  size_t dense = axes.size() - 1;
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    if (axes[i].steps[kFrom] != 0 && source_step(axes[i]) < source_step(axes[dense])) dense = i;
  }
  if (dense + 1 == axes.size()) return false;
  const auto first = axes.begin() + static_cast<std::ptrdiff_t>(dense);
  std::rotate(first, first + 1, axes.end() - 1);
  return true;
}

// Tiles from the innermost axis outwards, until a piece is large enough or an axis is cut.
std::vector<int64_t> choose_tiles(const std::vector<Axis>& axes, bool transposed, int64_t budget) {
  std::vector<int64_t> tiles(axes.size(), 1);
  int64_t taken = 1;
  for (size_t i = axes.size(); i-- > 0 && axes.size() - i <= kMostDimensions;) {
    const bool innermost = i + 1 == axes.size();
    int64_t most = std::max<int64_t>(1, budget / taken);
    if (transposed && innermost) most = std::max<int64_t>(1, budget / std::min(axes[i - 1].size, kTransposedTile));
    tiles[i] = std::min(axes[i].size, most);
    taken *= tiles[i];
    const bool whole = tiles[i] == axes[i].size;
    if (!whole && !(transposed && innermost)) break;
    if (!whole) {
      tiles[i - 1] = std::min(axes[i - 1].size, kTransposedTile);
      break;
    }
  }
  return tiles;
}

Access start(const Location& location, const std::vector<Term>& terms) {
  Access access;
  access.buffer = location.buffer;
  access.dtype = location.view.dtype;
  access.offset = location.view.offset / location.view.item_size();
  access.terms = terms;
  return access;
}

void add_dimension(Access& access, size_t side, const Tiling& tiling) {
  advance(access, side, tiling);
  if (tiling.tile() > 1) access.pattern.push_back(tiling.dimension(tiling.axis().steps[side]));
}

}  // namespace

void emit_copy(Builder& program, const neuroncore::Machine&, const Location& source, const Location& destination,
               const std::vector<Term>& source_terms, const std::vector<Term>& destination_terms) {
  if (source.view.elements() == 0) return;
  std::vector<Axis> axes = axes_of(source.view, destination.view);
  const bool transposed = arrange_transposed(axes);
  const std::vector<int64_t> tiles = choose_tiles(axes, transposed, kPieceBytes / destination.view.item_size());
  Access to = start(destination, destination_terms);
  Access from = start(source, source_terms);
  LoopNest nest(program);
  for (size_t i = 0; i < axes.size(); ++i) {
    Tiling tiling(axes[i], tiles[i]);
    nest.open(tiling, true);
    add_dimension(to, kTo, tiling);
    add_dimension(from, kFrom, tiling);
  }
  for (Access* access : {&to, &from}) {
    if (access->pattern.empty()) access->pattern.push_back({.step = 1, .size = 1});
  }
  program.dma_copy(std::move(to), std::move(from));
}

Location expanded(const Location& location, const Dims& shape) {
  return {location.buffer, {location.view.dtype, shape, Dims(shape.size(), 0), location.view.offset}};
}

Location splat(Builder& program, const ir::TensorType& type, double value) {
  const neuroncore::Immediate element = neuroncore::immediate(type.dtype, value);
  const auto size = static_cast<std::ptrdiff_t>(size_of(type.dtype));
  std::vector<std::byte> data(element.bytes.begin(), element.bytes.begin() + size);
  return {program.constant(type.dtype, std::move(data)), {type.dtype, type.shape, Dims(type.shape.size(), 0), 0}};
}

}  // namespace opentrn::compiler
