// Windowed reductions (pooling): for each place in the window a shifted look at the operand is combined with what there
// is so far. Running scans, whose window is as long as the operand, are another family.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/families.h"
#include "compiler/movement.h"
#include "compiler/rows_ops.h"
#include "compiler/tiling.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Access;
using neuroncore::Builder;
using Attributes = ir::ReduceWindowAttributes;

constexpr size_t kOut = 0, kIn = 1;       // positions in the steps
constexpr int64_t kLargestWindow = 1024;  // places; beyond, one pass for each of them is no reasonable form
constexpr int64_t kElementsInTile = 512;  // of each partition: all places of the window then read the same few rows
constexpr size_t kFreeDimensions = 3;

int64_t places(const Attributes& window) { return element_count(window.window_dimensions); }

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

bool is_padded(const Attributes& window) {
  const auto any = [](const Dims& dims, int64_t neutral) {
    return std::any_of(dims.begin(), dims.end(), [neutral](int64_t value) { return value != neutral; });
  };
  return any(window.padding_low, 0) || any(window.padding_high, 0) || any(window.base_dilations, 1);
}

// The operand with its padding and the gaps between its elements, all of them holding the initial value.
Location padded(Emitter& emitter, const Location& operand, const Location& initial, const Attributes& window) {
  if (!is_padded(window)) return operand;
  ir::PadAttributes pad{window.padding_low, window.padding_high, {}};
  ir::TensorType type{operand.view.dtype, {}};
  for (size_t i = 0; i < operand.view.shape.size(); ++i) {
    pad.interior_padding.push_back(window.base_dilations[i] - 1);
    type.shape.push_back(dilated(operand.view.shape[i], window.base_dilations[i]) + window.padding_low[i] +
                         window.padding_high[i]);
  }
  const Location result = emitter.internal(type);
  emit_padded(emitter, operand, initial, pad, result);
  return result;
}

class Pooling {
 public:
  Pooling(Emitter& emitter, const rows::Unit& unit, const Location& operand, const Location& initial,
          const Location& result, const Attributes& window)
      : program_(emitter.program()), unit_(unit), operand_(operand), initial_(initial), result_(result) {
    for (size_t i = 0; i < result.view.shape.size(); ++i) {
      axes_.push_back(
          {result.view.shape[i], {result.view.strides[i], operand.view.strides[i] * window.window_strides[i], 0}});
      window_.push_back({window.window_dimensions[i], {0, operand.view.strides[i] * window.window_dilations[i], 0}});
    }
    axes_ = merged(std::move(axes_));
    std::erase_if(window_, [](const Axis& axis) { return axis.size == 1; });
    accumulator_ = compute_dtype(result.view.dtype);
    partition_count_ = emitter.machine().partitions;
  }

  void emit() {
    Axis longest = take_longest(axes_);
    LoopNest nest(program_);
    std::vector<Tiling> free = free_tiles();
    std::vector<Tiling> loops = nest.open_each(axes_, true);
    Tiling partitions(longest, partition_count_);
    nest.open(partitions, true);
    for (Tiling& tiling : free) nest.open(tiling, true);
    const Access sums = tile(accumulator_, partitions, free);
    emit_start(sums, partitions, free);
    emit_places(sums, loops, partitions, free);
    const Access out = access(result_, kOut, loops, partitions, free);
    if (accumulator_ == result_.view.dtype) {
      program_.dma_copy(out, sums);
      return;
    }
    const Access rounded = tile(result_.view.dtype, partitions, free);
    program_.tensor_copy(rounded, sums);
    program_.dma_copy(out, rounded);
  }

 private:
  // The innermost axes that a tile holds; what is left in `axes_` is looped over.
  std::vector<Tiling> free_tiles() {
    std::vector<Tiling> tiles;
    int64_t taken = 1;
    while (!axes_.empty() && tiles.size() < kFreeDimensions) {
      const int64_t size = std::min(axes_.back().size, std::max<int64_t>(1, kElementsInTile / taken));
      tiles.emplace(tiles.begin(), axes_.back(), size);
      axes_.pop_back();
      taken *= size;
      if (tiles.front().count() > 1) break;
    }
    return tiles;
  }

  Access tile(DType dtype, const Tiling& partitions, const std::vector<Tiling>& free) {
    int64_t count = 1;
    for (const Tiling& tiling : free) count *= tiling.tile();
    Access access = program_.tile(program_.sbuf(dtype, partitions.tile(), count));
    access.pattern = {partitions.dimension(1)};
    for (const Tiling& tiling : free) {
      count /= tiling.tile();
      access.pattern.push_back(tiling.dimension(count));
    }
    if (free.empty()) access.pattern.push_back({.step = 1, .size = 1});
    return access;
  }

  Access access(const Location& location, size_t side, const std::vector<Tiling>& loops, const Tiling& partitions,
                const std::vector<Tiling>& free) const {
    Access result = access_at(location, side, loops, {&partitions});
    for (const Tiling& tiling : free) {
      advance(result, side, tiling);
      result.pattern.push_back(tiling.dimension(tiling.axis().steps[side]));
    }
    if (free.empty()) result.pattern.push_back({.step = 1, .size = 1});
    return result;
  }

  void emit_start(const Access& sums, const Tiling& partitions, const std::vector<Tiling>& free) {
    Access value = sums;
    value.buffer = initial_.buffer;
    value.dtype = initial_.view.dtype;
    value.offset = initial_.view.offset / initial_.view.item_size();
    for (neuroncore::PatternDimension& dimension : value.pattern) dimension.step = 0;
    if (accumulator_ == value.dtype) {
      program_.dma_copy(sums, value);
      return;
    }
    const Access narrow = tile(value.dtype, partitions, free);
    program_.dma_copy(narrow, value);
    program_.tensor_copy(sums, narrow);
  }

  void emit_places(const Access& sums, const std::vector<Tiling>& loops, const Tiling& partitions,
                   const std::vector<Tiling>& free) {
    LoopNest nest(program_);
    std::vector<Tiling> all = loops;
    for (const Tiling& place : nest.open_each(window_, false)) all.push_back(place);
    const Access shifted = tile(operand_.view.dtype, partitions, free);
    program_.dma_copy(shifted, access(operand_, kIn, all, partitions, free));
    program_.tensor_tensor(sums, sums, shifted, unit_.op, unit_.engine);
  }

  Builder& program_;
  const rows::Unit unit_;
  const Location operand_, initial_, result_;
  std::vector<Axis> axes_, window_;
  DType accumulator_ = DType::F32;
  int64_t partition_count_ = 0;
};

}  // namespace

size_t emit_window(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != ir::Op::ReduceWindow || node.operands.size() != 2) return 0;
  const auto& window = node.as<Attributes>();
  const std::optional<rows::Unit> unit = rows::binary_unit(window.reducer, emitter.type(node.operands[0]).dtype);
  if (window.reducer == ir::Op::Map || !unit || places(window) > kLargestWindow) return 0;
  const Location operand = emitter.location(node.operands[0]);
  const Location initial = emitter.location(node.operands[1]);
  const Location result = emitter.place(node.results[0], {first, first + 1}, false);
  if (result.view.elements() == 0) return 1;
  const Location source = padded(emitter, operand, initial, window);
  Pooling(emitter, *unit, source, initial, result, window).emit();
  return 1;
}

}  // namespace opentrn::compiler
