// Scatter: indirect DMA in the order of the updates, so that the last one wins and sums are the same every time.
// Replacing and adding are done by the DMA; anything else reads the old elements, combines and writes them back.
#include <algorithm>
#include <utility>

#include "compiler/families.h"
#include "compiler/indexed_windows.h"
#include "compiler/rows_ops.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using neuroncore::Access;
using neuroncore::Builder;
using neuroncore::Engine;

constexpr int64_t kElementsOfWindow = 16 << 10;
constexpr int64_t kWorthwhileWindow = 64;  // elements that one read-combine-write step should have
constexpr int64_t kSplitWindow = 512;      // parts of windows are independent of each other

bool added_by_dma(Op update, DType dtype) { return update == Op::Add && !is_bool(dtype) && !is_complex(dtype); }

/// The tilings around one scattering instruction.
struct Place {
  std::vector<Tiling> loops;
  const Tiling& partitions;
  const Tiling& indices;
  const std::vector<Tiling>& window;
};

class Scatter {
 public:
  Scatter(Builder& program, const neuroncore::Machine& machine, const ir::ScatterAttributes& attributes)
      : program_(program), machine_(machine), update_(attributes.update), unique_(attributes.unique_indices) {}

  void emit(const IndexedWindows& windows) {
    // Batching dimensions address parts of the operand of their own.
    std::vector<Axis> independent, ordered;
    for (const Axis& axis : windows.batch) {
      const bool own_part = axis.steps[IndexedWindows::kOperand] != 0;
      (own_part ? independent : ordered).push_back(axis);
    }
    if (windows.small_windows() && !independent.empty()) {
      // Such a dimension lies on partitions; the updates of each partition stay in their order along it.
      const Axis partitions = take_longest(independent);
      const Axis last = ordered.empty() ? Axis{} : ordered.back();
      if (!ordered.empty()) ordered.pop_back();
      return emit_rows(windows, independent, {std::move(ordered), partitions, last, 0});
    }
    for (const IndexRows& rows : index_rows(windows, ordered, machine_.partitions)) {
      emit_rows(skipped(windows, rows.elements, rows.first), independent, rows);
    }
  }

 private:
  bool combines(const IndexedWindows& windows) const {
    return update_ != Op::Select && !added_by_dma(update_, windows.operand.view.dtype);
  }

  void emit_rows(const IndexedWindows& windows, const std::vector<Axis>& independent, const IndexRows& rows) {
    LoopNest nest(program_);
    std::vector<Tiling> loops = nest.open_each(independent, true);
    WindowTiles window = window_tiles(windows, windows.small_windows() ? kElementsOfWindow : kSplitWindow, 2);
    for (const Tiling& loop : nest.open_each(window.loops, true)) loops.push_back(loop);
    for (Tiling& tile : window.tiles) nest.open(tile, true);
    const bool one_by_one = combines(windows) && !unique_;
    const bool own_rows = rows.partitions.steps[IndexedWindows::kOperand] != 0;
    Tiling partitions(rows.partitions, one_by_one && !own_rows ? 1 : machine_.partitions);
    Tiling indices(rows.elements, one_by_one ? 1 : windows.indices_in_tile(combines(windows)));
    if (own_rows) nest.open(partitions, true);
    for (const Tiling& loop : nest.open_each(rows.loops, false)) loops.push_back(loop);
    if (!own_rows) nest.open(partitions, false);
    nest.open(indices, false);
    emit_tile(windows, {std::move(loops), partitions, indices, window.tiles});
  }

  void emit_tile(const IndexedWindows& windows, const Place& place) {
    const IndexTile places =
        load_indices(program_, windows, place.loops, place.partitions, place.indices, Misfits::Skip);
    const Access updates = side(windows, IndexedWindows::kOther, place);
    if (!combines(windows)) {
      neuroncore::Instruction& write = scatter(side(windows, IndexedWindows::kOperand, place), updates, places);
      write.accumulate = update_ == Op::Add;
      return;
    }
    const DType dtype = windows.operand.view.dtype;
    const Access old = tile(dtype, place), fresh = tile(dtype, place), combined = tile(dtype, place);
    neuroncore::Instruction& read =
        program_.dma_copy(old, side(windows, IndexedWindows::kOperand, place), Engine::GpSimd);
    make_indirect(read.inputs[0], read, places);
    program_.dma_copy(fresh, updates);
    const rows::Unit unit = *rows::binary_unit(update_, dtype);
    program_.tensor_tensor(combined, old, fresh, unit.op, unit.engine);
    scatter(side(windows, IndexedWindows::kOperand, place), combined, places);
  }

  neuroncore::Instruction& scatter(Access to, Access from, const IndexTile& places) {
    neuroncore::Instruction& write = program_.dma_copy(std::move(to), std::move(from), Engine::GpSimd);
    make_indirect(write.outputs[0], write, places);
    return write;
  }

  static void make_indirect(Access& access, neuroncore::Instruction& instruction, const IndexTile& places) {
    access.index_operand = static_cast<int32_t>(instruction.inputs.size());
    access.index_step = places.step;
    access.index_limit = places.limit;
    instruction.out_of_bounds = neuroncore::OutOfBounds::Skip;
    instruction.inputs.push_back(places.tile);
  }

  static Access side(const IndexedWindows& windows, size_t which, const Place& place) {
    return window_access(windows, which, place.loops, place.partitions, place.indices, place.window);
  }

  // [partitions, indices, window...], row-major.
  Access tile(DType dtype, const Place& place) {
    int64_t count = place.indices.tile();
    for (const Tiling& tiling : place.window) count *= tiling.tile();
    Access access = program_.tile(program_.sbuf(dtype, place.partitions.tile(), count));
    access.pattern = {place.partitions.dimension(1)};
    int64_t step = count / place.indices.tile();
    access.pattern.push_back(place.indices.dimension(step));
    for (const Tiling& tiling : place.window) {
      step /= tiling.tile();
      access.pattern.push_back(tiling.dimension(step));
    }
    return access;
  }

  Builder& program_;
  const neuroncore::Machine& machine_;
  const Op update_;
  const bool unique_;
};

bool has_tile_form(const IndexedWindows& windows, const ir::ScatterAttributes& scatter) {
  if (!has_index_tiles(windows, Misfits::Skip)) return false;
  const DType dtype = windows.operand.view.dtype;
  if (scatter.update == Op::Select || added_by_dma(scatter.update, dtype)) return true;
  if (!rows::binary_unit(scatter.update, dtype) || is_complex(dtype)) return false;
  return scatter.unique_indices || elements(windows.window) >= kWorthwhileWindow;
}

}  // namespace

size_t emit_scatter(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != Op::Scatter || node.operands.size() != 3) return 0;
  const auto& attributes = node.as<ir::ScatterAttributes>();
  if (attributes.update == Op::Map) return 0;
  const WindowNumbers numbers{attributes.update_window_dims,           attributes.inserted_window_dims,
                              attributes.input_batching_dims,          attributes.scatter_indices_batching_dims,
                              attributes.scatter_dims_to_operand_dims, attributes.index_vector_dim};
  const Location operand = emitter.location(node.operands[0]);
  Location indices = emitter.location(node.operands[1]);
  Location updates = emitter.location(node.operands[2]);
  const auto windows = [&](const Location& target) {
    return indexed_windows(emitter, target, node.operands[1], indices, updates, numbers);
  };
  const bool nothing = updates.view.elements() == 0;
  if (!nothing && !has_tile_form(windows(operand), attributes)) return 0;
  const Location result = emitter.place(node.results[0], {first, first + 1}, true);
  if (result.view.elements() == 0) return 1;
  indices = emitter.kept_from(indices, result);
  updates = emitter.kept_from(updates, result);
  if (!emitter.same_memory(operand, result)) emitter.copy(operand, result);
  if (nothing) return 1;
  Scatter(emitter.program(), emitter.machine(), attributes).emit(windows(result));
  return 1;
}

}  // namespace opentrn::compiler
