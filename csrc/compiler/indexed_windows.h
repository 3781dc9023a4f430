// What gather and scatter share: windows of an operand at places that index values name.
#pragma once

#include <optional>
#include <vector>

#include "compiler/tiling.h"

namespace opentrn::compiler {

/// One component of the index vectors: where the window starts in one dimension of the operand.
struct IndexComponent {
  int64_t limit = 0;    // the last start for which the window fits
  int64_t step = 0;     // elements of the operand per unit
  int64_t window = 1;   // elements the window covers in this dimension
  int64_t offset = 0;   // of the component in the index tensor, in elements
  bool inside = false;  // known to lie in 0 .. limit
};

/// Steps of the axes are those of the windows' side (the gather's result, the scatter's updates), of the operand, and
/// of the indices.
struct IndexedWindows {
  static constexpr size_t kOther = 0, kOperand = 1, kIndices = 2;

  Location other, operand, indices;
  std::vector<IndexComponent> components;
  std::vector<Axis> batch;   // over index vectors, in the order of the index tensor
  std::vector<Axis> window;  // over the elements of a window

  /// The windows are placed by single elements rather than by rows.
  bool small_windows() const;
  /// As many of each partition as fit into SBUF with all that is worked out from them; `loaded`: with the windows too.
  int64_t indices_in_tile(bool loaded) const;
};

/// The names of gather; scatter has other words for the same things.
struct WindowNumbers {
  const Dims& window_dims;       // of the other side
  const Dims& collapsed;         // of the operand
  const Dims& operand_batching;  // of the operand
  const Dims& index_batching;    // of the indices
  const Dims& index_map;         // operand dimension for each component of an index vector
  int64_t index_vector_dim;
};

/// `indices` says what is known of the indices, `at` where they lie.
IndexedWindows indexed_windows(const Emitter& emitter, const Location& operand, ir::Value indices, const Location& at,
                               const Location& other, const WindowNumbers& numbers);

/// A tile of indices in SBUF, and what they mean to an access of the operand.
struct IndexTile {
  neuroncore::Access tile;
  int64_t step = 0;
  int64_t limit = 0;
};

/// What becomes of starts for which the window does not fit: moved (gather) or left out (scatter).
enum class Misfits { Move, Skip };

/// True when `load_indices` can work out the places.
bool has_index_tiles(const IndexedWindows& windows, Misfits misfits);

/// The indices of the current tile [partitions, elements].
IndexTile load_indices(neuroncore::Builder& program, const IndexedWindows& windows, std::span<const Tiling> loops,
                       const Tiling& partitions, const Tiling& elements, Misfits misfits);

/// Index vectors as rows of a tile: the axes on partitions and along them, and those that are looped over. A single
/// long axis is cut into rows of equal length; what is left over comes as a second part.
struct IndexRows {
  std::vector<Axis> loops;
  Axis partitions, elements;
  int64_t first = 0;  // index vectors to skip, along `elements`
};
std::vector<IndexRows> index_rows(const IndexedWindows& windows, std::vector<Axis> batch, int64_t partition_count);

/// The windows some index vectors along `axis` further on.
IndexedWindows skipped(const IndexedWindows& windows, const Axis& axis, int64_t count);

/// Axes of a window that one access pattern can hold, and those it cannot.
struct WindowTiles {
  std::vector<Axis> loops;
  std::vector<Tiling> tiles;
};
WindowTiles window_tiles(const IndexedWindows& windows, int64_t most_elements, size_t most_dimensions);

/// Access to the windows' side or the operand: dimensions partitions, elements, window.
neuroncore::Access window_access(const IndexedWindows& windows, size_t side, std::span<const Tiling> loops,
                                 const Tiling& partitions, const Tiling& elements, std::span<const Tiling> window);

}  // namespace opentrn::compiler
