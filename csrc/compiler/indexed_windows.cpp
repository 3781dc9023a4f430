#include "compiler/indexed_windows.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/dynamic_offset.h"
#include "ir/custom_calls.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::Value;
using ir::View;
using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Builder;
using neuroncore::Engine;
using neuroncore::immediate;

constexpr int64_t kSmallWindow = 16;     // elements: below this, rows of indices keep the partitions fuller
constexpr int64_t kIndicesInRow = 1024;  // of each partition
constexpr int64_t kFewIndicesInRow = 256;

bool contains(const Dims& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

// Follows an index back to the check it passed.
bool is_inside(const Emitter& emitter, Value value, int64_t limit) {
  const ir::Node* maker = emitter.producer(value);
  if (maker == nullptr) return false;
  switch (maker->op) {
    case Op::Reshape:
    case Op::BroadcastInDim:
    case Op::Transpose:
    case Op::Slice:
    case Op::Reverse: return is_inside(emitter, maker->operands[0], limit);
    case Op::CustomCall: {
      const auto& call = maker->as<ir::CustomCallAttributes>();
      return call.target == ir::kCheckedIndex && call.integers[0] - 1 <= limit;
    }
    default: return false;
  }
}

// The value that holds component `which` of the index vectors.
Value component_value(const Emitter& emitter, Value indices, size_t which, size_t count, int64_t index_vector_dim) {
  const ir::Node* maker = emitter.producer(indices);
  if (count == 1 || maker == nullptr || maker->op != Op::Concatenate) return indices;
  const bool by_component =
      maker->operands.size() == count && maker->as<ir::ConcatenateAttributes>().dimension == index_vector_dim;
  return by_component ? maker->operands[which] : indices;
}

std::vector<Axis> merged_in_order(const std::vector<Axis>& axes) {
  std::vector<Axis> result;
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    const auto evenly = [&](size_t i) { return result.back().steps[i] == axis.steps[i] * axis.size; };
    if (!result.empty() && evenly(0) && evenly(1) && evenly(2)) {
      result.back() = {result.back().size * axis.size, axis.steps};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

std::vector<Axis> batch_axes(const View& operand, const View& indices, const View& other,
                             const WindowNumbers& numbers) {
  std::vector<Axis> axes;
  int64_t there = 0;
  for (int64_t i = 0; i < indices.rank(); ++i) {
    if (i == numbers.index_vector_dim) continue;
    while (contains(numbers.window_dims, there)) ++there;
    const auto in_indices = static_cast<size_t>(i);
    Axis axis{indices.shape[in_indices], {other.strides[static_cast<size_t>(there++)], 0, indices.strides[in_indices]}};
    const auto batching = std::find(numbers.index_batching.begin(), numbers.index_batching.end(), i);
    if (batching != numbers.index_batching.end()) {
      const auto which = static_cast<size_t>(batching - numbers.index_batching.begin());
      axis.steps[IndexedWindows::kOperand] = operand.strides[static_cast<size_t>(numbers.operand_batching[which])];
    }
    axes.push_back(axis);
  }
  return merged_in_order(axes);
}

int64_t span(const std::vector<IndexComponent>& components) {
  int64_t span = 1;
  for (const IndexComponent& component : components) span += component.limit * component.step;
  return span;
}

bool fits_int32(int64_t value) { return value <= std::numeric_limits<int32_t>::max(); }

// The tile, one instruction per step: exact integer arithmetic of the GpSimd cores.
class PlaceArithmetic {
 public:
  PlaceArithmetic(Builder& program, const IndexedWindows& windows, std::span<const Tiling> loops,
                  const Tiling& partitions, const Tiling& elements)
      : program_(program), windows_(windows), loops_(loops), partitions_(partitions), elements_(elements) {}

  Access load(const IndexComponent& component) {
    const Access loaded = tile(windows_.indices.view.dtype);
    program_.dma_copy(loaded, access_at(moved(windows_.indices, component.offset), IndexedWindows::kIndices, loops_,
                                        {&partitions_, &elements_}));
    return loaded;
  }

  Access clamped(const Access& index, const IndexComponent& component) {
    if (component.inside) return index;
    const Access result = tile(index_dtype(index.dtype));
    emit_clamp(program_, result, index, component.limit);
    return result;
  }

  Access scaled(const Access& index, int64_t factor, DType dtype) {
    const Access result = tile(dtype);
    program_.tensor_scalar(result, index, AluOp::Multiply, immediate(dtype, factor), false, AluOp::Bypass, {}, false,
                           Engine::GpSimd);
    return result;
  }

  /// 1 where 0 <= index <= limit, else 0.
  Access fits(const Access& index, const IndexComponent& component, DType dtype) {
    const Access above = compare(index, AluOp::GreaterEqual, 0, dtype);
    const Access below = compare(index, AluOp::LessEqual, component.limit, dtype);
    return combined(above, below, AluOp::Multiply);
  }

  Access combined(const Access& left, const Access& right, AluOp op) {
    const Access result = tile(left.dtype);
    program_.tensor_tensor(result, left, right, op, Engine::GpSimd);
    return result;
  }

  /// The place where the window fits, else -1: (place + 1) * fits - 1.
  Access masked(const Access& place, const Access& fits) {
    const Access next = plus(place, 1);
    return plus(combined(next, fits, AluOp::Multiply), -1);
  }

 private:
  Access tile(DType dtype) {
    return tile_of(program_, program_.sbuf(dtype, partitions_.tile(), elements_.tile()), partitions_, elements_);
  }

  Access compare(const Access& index, AluOp op, int64_t with, DType dtype) {
    const Access result = tile(dtype);
    program_.tensor_scalar(result, index, op, immediate(index_dtype(index.dtype), with), false, AluOp::Bypass, {},
                           false, Engine::GpSimd);
    return result;
  }

  Access plus(const Access& value, int64_t addend) {
    const Access result = tile(value.dtype);
    program_.tensor_scalar(result, value, AluOp::Add, immediate(value.dtype, addend), false, AluOp::Bypass, {}, false,
                           Engine::GpSimd);
    return result;
  }

  Builder& program_;
  const IndexedWindows& windows_;
  std::span<const Tiling> loops_;
  const Tiling& partitions_;
  const Tiling& elements_;
};

// Places in elements of the operand, from all components.
Access combined_places(PlaceArithmetic& arithmetic, const IndexedWindows& windows, Misfits misfits) {
  const DType given = index_dtype(windows.indices.view.dtype);
  const DType dtype = given == DType::I32 && fits_int32(span(windows.components)) ? DType::I32 : DType::I64;
  Access places, all_fit;
  for (const IndexComponent& component : windows.components) {
    Access index = arithmetic.load(component);
    if (misfits == Misfits::Move) index = arithmetic.clamped(index, component);
    const Access place = arithmetic.scaled(index, component.step, dtype);
    places = places.valid() ? arithmetic.combined(places, place, AluOp::Add) : place;
    if (misfits == Misfits::Move || component.inside) continue;
    const Access fits = arithmetic.fits(index, component, dtype);
    all_fit = all_fit.valid() ? arithmetic.combined(all_fit, fits, AluOp::Multiply) : fits;
  }
  return all_fit.valid() ? arithmetic.masked(places, all_fit) : places;
}

}  // namespace

bool IndexedWindows::small_windows() const { return elements(window) < kSmallWindow; }

int64_t IndexedWindows::indices_in_tile(bool loaded) const {
  return loaded || components.size() > 1 ? kFewIndicesInRow : kIndicesInRow;
}

IndexedWindows indexed_windows(const Emitter& emitter, const Location& operand, Value indices,
                               const Location& index_location, const Location& other, const WindowNumbers& numbers) {
  IndexedWindows windows{other, operand, index_location, {}, {}, {}};
  const View& at = operand.view;
  std::vector<int64_t> covered(at.shape.size(), 1);
  size_t next = 0;
  for (int64_t i = 0; i < at.rank(); ++i) {
    if (contains(numbers.collapsed, i) || contains(numbers.operand_batching, i)) continue;
    const auto dimension = static_cast<size_t>(i);
    const auto there = static_cast<size_t>(numbers.window_dims[next++]);
    covered[dimension] = other.view.shape[there];
    windows.window.push_back({other.view.shape[there], {other.view.strides[there], at.strides[dimension], 0}});
  }
  windows.window = merged(std::move(windows.window));
  const View& index_view = windows.indices.view;
  const bool vectors = numbers.index_vector_dim < index_view.rank();
  const int64_t offset = vectors ? index_view.strides[static_cast<size_t>(numbers.index_vector_dim)] : 0;
  for (size_t i = 0; i < numbers.index_map.size(); ++i) {
    const auto dimension = static_cast<size_t>(numbers.index_map[i]);
    const int64_t limit = at.shape[dimension] - covered[dimension];
    const Value value = component_value(emitter, indices, i, numbers.index_map.size(), numbers.index_vector_dim);
    windows.components.push_back({limit, at.strides[dimension], covered[dimension], offset * static_cast<int64_t>(i),
                                  is_inside(emitter, value, limit)});
  }
  windows.batch = batch_axes(at, index_view, other.view, numbers);
  return windows;
}

bool has_index_tiles(const IndexedWindows& windows, Misfits misfits) {
  if (windows.components.empty()) return false;
  for (const IndexComponent& component : windows.components) {
    if (component.limit < 0) return false;
    if (windows.components.size() > 1 && component.step < 0) return false;
    // A window that lies partly outside is written in part.
    if (misfits == Misfits::Skip && component.window != 1 && component.limit > 0) return false;
  }
  const bool is_signed = windows.indices.view.dtype != DType::U64;
  return windows.components.size() == 1 || is_signed;
}

IndexTile load_indices(Builder& program, const IndexedWindows& windows, std::span<const Tiling> loops,
                       const Tiling& partitions, const Tiling& elements, Misfits misfits) {
  PlaceArithmetic arithmetic(program, windows, loops, partitions, elements);
  if (windows.components.size() > 1) {
    return {combined_places(arithmetic, windows, misfits), 1, span(windows.components)};
  }
  const IndexComponent& component = windows.components[0];
  const Access index = arithmetic.load(component);
  return {misfits == Misfits::Move ? arithmetic.clamped(index, component) : index, component.step, component.limit + 1};
}

std::vector<IndexRows> index_rows(const IndexedWindows& windows, std::vector<Axis> batch, int64_t partition_count) {
  if (batch.empty()) return {IndexRows{}};
  Axis last = batch.back();
  batch.pop_back();
  if (!windows.small_windows()) return {{std::move(batch), last, {}, 0}};
  if (!batch.empty()) {
    const Axis partitions = batch.back();
    batch.pop_back();
    return {{std::move(batch), partitions, last, 0}};
  }
  if (last.size <= partition_count) return {{{}, last, {}, 0}};
  const int64_t length = std::min(kIndicesInRow, (last.size + partition_count - 1) / partition_count);
  const int64_t rows = last.size / length;
  const Steps& s = last.steps;
  std::vector<IndexRows> parts = {{{}, {rows, {s[0] * length, s[1] * length, s[2] * length}}, {length, s}, 0}};
  if (last.size % length > 0) parts.push_back({{}, {}, {last.size % length, s}, rows * length});
  return parts;
}

IndexedWindows skipped(const IndexedWindows& windows, const Axis& axis, int64_t count) {
  IndexedWindows result = windows;
  result.other = moved(windows.other, count * axis.steps[IndexedWindows::kOther]);
  result.operand = moved(windows.operand, count * axis.steps[IndexedWindows::kOperand]);
  result.indices = moved(windows.indices, count * axis.steps[IndexedWindows::kIndices]);
  return result;
}

WindowTiles window_tiles(const IndexedWindows& windows, int64_t most_elements, size_t most_dimensions) {
  WindowTiles result;
  int64_t taken = 1;
  std::vector<Axis> axes = windows.window;
  while (!axes.empty() && result.tiles.size() < most_dimensions) {
    const int64_t tile = std::min(axes.back().size, std::max<int64_t>(1, most_elements / taken));
    result.tiles.emplace(result.tiles.begin(), axes.back(), tile);
    axes.pop_back();
    taken *= tile;
    if (result.tiles.front().count() > 1) break;
  }
  result.loops = std::move(axes);
  return result;
}

Access window_access(const IndexedWindows& windows, size_t side, std::span<const Tiling> loops,
                     const Tiling& partitions, const Tiling& elements, std::span<const Tiling> window) {
  const Location& location = side == IndexedWindows::kOther ? windows.other : windows.operand;
  Access access = access_at(location, side, loops, {&partitions, &elements});
  for (const Tiling& tiling : window) {
    advance(access, side, tiling);
    access.pattern.push_back(tiling.dimension(tiling.axis().steps[side]));
  }
  return access;
}

}  // namespace opentrn::compiler
