// Gather: indirect DMA. Windows of some size are moved as rows, one index for each partition; smaller ones by rows of
// indices on each partition.
#include "compiler/families.h"
#include "compiler/indexed_windows.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Builder;

constexpr int64_t kElementsOfWindow = 16 << 10;

void emit_rows_of_indices(Builder& program, const IndexedWindows& windows, const IndexRows& rows,
                          const neuroncore::Machine& machine) {
  LoopNest nest(program);
  const std::vector<Tiling> loops = nest.open_each(rows.loops, true);
  Tiling partitions(rows.partitions, machine.partitions);
  Tiling indices(rows.elements, windows.indices_in_tile(false));
  nest.open(partitions, true);
  nest.open(indices, true);
  const IndexTile places = load_indices(program, windows, loops, partitions, indices, Misfits::Move);
  WindowTiles window = window_tiles(windows, kElementsOfWindow, 2);
  LoopNest inner(program);
  std::vector<Tiling> all = loops;
  for (const Tiling& loop : inner.open_each(window.loops, true)) all.push_back(loop);
  for (Tiling& tile : window.tiles) inner.open(tile, true);
  neuroncore::Instruction& copy =
      program.dma_copy(window_access(windows, IndexedWindows::kOther, all, partitions, indices, window.tiles),
                       window_access(windows, IndexedWindows::kOperand, all, partitions, indices, window.tiles),
                       neuroncore::Engine::GpSimd);
  copy.inputs[0].index_operand = static_cast<int32_t>(copy.inputs.size());
  copy.inputs[0].index_step = places.step;
  copy.inputs[0].index_limit = places.limit;
  copy.inputs.push_back(places.tile);
}

}  // namespace

size_t emit_gather(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != ir::Op::Gather) return 0;
  const auto& gather = node.as<ir::GatherAttributes>();
  const WindowNumbers numbers{gather.offset_dims,           gather.collapsed_slice_dims,
                              gather.operand_batching_dims, gather.start_indices_batching_dims,
                              gather.start_index_map,       gather.index_vector_dim};
  const Location operand = emitter.location(node.operands[0]);
  const Location indices = emitter.location(node.operands[1]);
  const Location nowhere{-1, ir::contiguous_view(emitter.type(node.results[0]))};
  const IndexedWindows draft = indexed_windows(emitter, operand, node.operands[1], indices, nowhere, numbers);
  if (!has_index_tiles(draft, Misfits::Move)) return 0;
  const Location result = emitter.place(node.results[0], {first, first + 1}, false);
  if (result.view.elements() == 0) return 1;
  const IndexedWindows windows = indexed_windows(emitter, operand, node.operands[1], indices, result, numbers);
  for (const IndexRows& rows : index_rows(windows, windows.batch, emitter.machine().partitions)) {
    emit_rows_of_indices(emitter.program(), skipped(windows, rows.elements, rows.first), rows, emitter.machine());
  }
  return 1;
}

}  // namespace opentrn::compiler
