// Convolution as matrix products: output features are the rows, places of the output the columns, and for each place in
// the window a shifted look at the input is multiplied and added up in PSUM. The shortest form of three is taken:
// - products over the longest of input features and window dimensions, accumulated over the others;
// - when all of these are short, or the output has few places, the windows are first written out in HBM, so that one
//   product covers all of them;
// - with one input feature per group (depthwise), channels lie on partitions and the Vector engine does the sums.
#include <algorithm>
#include <utility>

#include "compiler/dot.h"
#include "compiler/families.h"
#include "compiler/movement.h"

namespace opentrn::compiler {

namespace {

using ir::View;
using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Builder;
using Attributes = ir::ConvolutionAttributes;

constexpr int64_t kShortContraction = 32;                // partitions: below this the array is mostly idle
constexpr int64_t kMostWindowBytes = int64_t{64} << 20;  // of windows that are written out
constexpr int64_t kMostMultiplier = 16;                  // outputs per channel of a depthwise convolution
constexpr int64_t kElementsInTile = 2048;                // of each partition
constexpr size_t kInnerDimensions = 2;

int64_t size(const View& view, int64_t dimension) { return view.shape[static_cast<size_t>(dimension)]; }
int64_t step(const View& view, int64_t dimension) { return view.strides[static_cast<size_t>(dimension)]; }

/// The axes of a convolution. Steps are those of output, kernel, input (padded): out, lhs, rhs of a contraction.
struct Window {
  Location input, kernel, out;
  Axis batch, group, features, channels;  // channels: input features of one group
  std::vector<Axis> space;                // of the output
  std::vector<Axis> places;               // in the window

  bool is_depthwise() const { return channels.size == 1 && group.size > 1 && features.size <= kMostMultiplier; }
};

// The input with its padding and the gaps of a transposed convolution.
Location padded(Emitter& emitter, const Location& input, const Attributes& a) {
  const auto unchanged = [&](size_t i) {
    return a.padding_low[i] == 0 && a.padding_high[i] == 0 && a.lhs_dilation[i] == 1;
  };
  bool any = false;
  ir::PadAttributes pad;
  ir::TensorType type{input.view.dtype, input.view.shape};
  for (Dims* dims : {&pad.edge_padding_low, &pad.edge_padding_high, &pad.interior_padding}) {
    dims->assign(input.view.shape.size(), 0);
  }
  for (size_t i = 0; i < a.input_spatial_dimensions.size(); ++i) {
    const auto dimension = static_cast<size_t>(a.input_spatial_dimensions[i]);
    any = any || !unchanged(i);
    pad.edge_padding_low[dimension] = a.padding_low[i];
    pad.edge_padding_high[dimension] = a.padding_high[i];
    pad.interior_padding[dimension] = a.lhs_dilation[i] - 1;
    int64_t& length = type.shape[dimension];
    length = (length == 0 ? 0 : (length - 1) * a.lhs_dilation[i] + 1) + a.padding_low[i] + a.padding_high[i];
  }
  if (!any) return input;
  const Location result = emitter.internal(type);
  emit_padded(emitter, input, splat(emitter.program(), {type.dtype, {}}, 0), pad, result);
  return result;
}

View with_reversals(const View& kernel, const Attributes& a) {
  Dims reversed;
  for (size_t i = 0; i < a.window_reversal.size(); ++i) {
    if (a.window_reversal[i]) reversed.push_back(a.kernel_spatial_dimensions[i]);
  }
  return ir::reverse_view(kernel, reversed);
}

Window window_of(Emitter& emitter, const Location& input, const Location& kernel, const Location& out,
                 const Attributes& a) {
  Window w{padded(emitter, input, a), {kernel.buffer, with_reversals(kernel.view, a)}, out, {}, {}, {}, {}, {}, {}};
  const View &in = w.input.view, &ker = w.kernel.view, &result = out.view;
  const int64_t groups = a.feature_group_count * a.batch_group_count;
  const int64_t out_feature = step(result, a.output_feature_dimension);
  const int64_t kernel_feature = step(ker, a.kernel_output_feature_dimension);
  const int64_t in_feature = step(in, a.input_feature_dimension);
  const int64_t in_batch = step(in, a.input_batch_dimension);
  const int64_t features = size(ker, a.kernel_output_feature_dimension) / groups;
  const int64_t channels = size(ker, a.kernel_input_feature_dimension);
  const int64_t batch = size(in, a.input_batch_dimension) / a.batch_group_count;
  const int64_t group_step = a.batch_group_count > 1 ? in_batch * batch : in_feature * channels;
  w.batch = {batch, {step(result, a.output_batch_dimension), 0, in_batch}};
  w.group = {groups, {out_feature * features, kernel_feature * features, group_step}};
  w.features = {features, {out_feature, kernel_feature, 0}};
  w.channels = {channels, {0, step(ker, a.kernel_input_feature_dimension), in_feature}};
  for (size_t i = 0; i < a.input_spatial_dimensions.size(); ++i) {
    const int64_t along = step(in, a.input_spatial_dimensions[i]);
    w.space.push_back({size(result, a.output_spatial_dimensions[i]),
                       {step(result, a.output_spatial_dimensions[i]), 0, along * a.window_strides[i]}});
    w.places.push_back({size(ker, a.kernel_spatial_dimensions[i]),
                        {0, step(ker, a.kernel_spatial_dimensions[i]), along * a.rhs_dilation[i]}});
  }
  return w;
}

// Contracted axes, merged where kernel and input both step evenly.
std::vector<Axis> contracted(const Window& w) {
  std::vector<Axis> axes = w.places;
  axes.push_back(w.channels);
  for (Axis& axis : axes) axis.steps = {axis.steps[Contraction::kLhs], axis.steps[Contraction::kRhs], 0};
  axes = merged(std::move(axes));
  for (Axis& axis : axes) axis.steps = {0, axis.steps[0], axis.steps[1]};
  return axes;
}

int64_t longest(const std::vector<Axis>& axes) {
  int64_t result = 1;
  for (const Axis& axis : axes) result = std::max(result, axis.size);
  return result;
}

bool should_write_out(const Window& w) {
  const std::vector<Axis> axes = contracted(w);
  if (axes.size() < 2 || w.group.size > 1) return false;
  // With far fewer places than features the kernel is the larger operand, and one product reads it as it lies.
  const int64_t places = w.batch.size * elements(w.space);
  if (longest(axes) >= kShortContraction && 2 * places > w.features.size) return false;
  const int64_t count = elements(axes) * places;
  return count * w.input.view.item_size() <= kMostWindowBytes;
}

// [batch, channels, window, space] in HBM.
void write_out_windows(Emitter& emitter, Window& w) {
  std::vector<Axis*> order = {&w.batch, &w.channels};
  for (Axis& axis : w.places) order.push_back(&axis);
  for (Axis& axis : w.space) order.push_back(&axis);
  View from{w.input.view.dtype, {}, {}, w.input.view.offset};
  for (const Axis* axis : order) {
    from.shape.push_back(axis->size);
    from.strides.push_back(axis->steps[Contraction::kRhs]);
  }
  const Location written = emitter.internal({from.dtype, from.shape});
  emitter.copy({w.input.buffer, from}, written);
  w.input = written;
  for (size_t i = 0; i < order.size(); ++i) order[i]->steps[Contraction::kRhs] = written.view.strides[i];
}

// Columns: the innermost axes are whole in every tile as far as they fit, the next one is tiled, the rest is looped
// over.
void set_columns(Contraction& contraction, std::vector<Axis> axes, int64_t widest) {
  axes = merged(std::move(axes));
  int64_t taken = 1;
  while (axes.size() > 1 && contraction.inner.size() < kInnerDimensions && taken * axes.back().size <= widest) {
    taken *= axes.back().size;
    contraction.inner.insert(contraction.inner.begin(), axes.back());
    axes.pop_back();
  }
  if (!axes.empty()) {
    contraction.n = axes.back();
    axes.pop_back();
  }
  contraction.loops.insert(contraction.loops.end(), axes.begin(), axes.end());
}

void emit_products(Emitter& emitter, Window w) {
  if (should_write_out(w)) write_out_windows(emitter, w);
  Contraction contraction;
  contraction.lhs = w.kernel;
  contraction.rhs = w.input;
  contraction.out = w.out;
  const bool wide = w.input.view.dtype == DType::F64 || w.out.view.dtype == DType::F64;
  contraction.accumulator = wide ? DType::F64 : DType::F32;
  contraction.m = w.features;
  contraction.more = contracted(w);
  contraction.k = take_longest(contraction.more);
  if (w.group.size > 1) contraction.loops.push_back(w.group);
  std::vector<Axis> columns = w.space;
  columns.push_back(w.batch);
  const int64_t bank = emitter.machine().psum_bank_bytes / size_of(contraction.accumulator);
  set_columns(contraction, std::move(columns), std::min<int64_t>(bank, emitter.machine().moving_free_size));
  emit_matmul(emitter, std::move(contraction));
}

class Depthwise {
 public:
  Depthwise(Emitter& emitter, const Window& window)
      : program_(emitter.program()),
        window_(window),
        partition_count_(emitter.machine().partitions),
        dtype_(window.input.view.dtype == DType::F64 ? DType::F64 : DType::F32) {}

  /// All weights of a channel are on the chip at once, as loaded and as computed with, beside tiles of the output.
  static bool fits(const neuroncore::Machine& machine, const Window& window) {
    const int64_t weight = 2 * (window.kernel.view.item_size() + size_of(DType::F64));
    return elements(window.places) * weight <= machine.sbuf_bytes_per_partition / 2;
  }

  void emit() {
    std::vector<Axis> axes = window_.space;
    axes = merged(std::move(axes));
    std::vector<Tiling> free = free_tiles(axes);
    axes.push_back(window_.batch);
    axes.push_back(window_.features);
    std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
    LoopNest nest(program_);
    const std::vector<Tiling> loops = nest.open_each(axes, true);
    Tiling channels(window_.group, partition_count_);
    nest.open(channels, true);
    const int32_t weights = load_weights(loops, channels);
    for (Tiling& tiling : free) nest.open(tiling, true);
    const Access sums = tile(dtype_, channels, free);
    program_.memset(sums, neuroncore::immediate(dtype_, 0.0));
    emit_places(weights, sums, loops, channels, free);
    const Access to = access(window_.out, Contraction::kOut, loops, channels, free);
    if (dtype_ == window_.out.view.dtype) {
      program_.dma_copy(to, sums);
      return;
    }
    const Access rounded = tile(window_.out.view.dtype, channels, free);
    program_.tensor_copy(rounded, sums);
    program_.dma_copy(to, rounded);
  }

 private:
  static std::vector<Tiling> free_tiles(std::vector<Axis>& axes) {
    std::vector<Tiling> tiles;
    int64_t taken = 1;
    while (!axes.empty()) {
      const int64_t most = std::min(axes.back().size, std::max<int64_t>(1, kElementsInTile / taken));
      tiles.emplace(tiles.begin(), axes.back(), most);
      axes.pop_back();
      taken *= most;
      if (tiles.front().count() > 1) break;
    }
    return tiles;
  }

  // All weights of the channels, [channels, places], in the type of the sums.
  int32_t load_weights(const std::vector<Tiling>& loops, const Tiling& channels) {
    const Location& kernel = window_.kernel;
    const int64_t count = elements(window_.places);
    const int32_t loaded = program_.sbuf(kernel.view.dtype, channels.tile(), count);
    Access to = program_.tile(loaded);
    Access from = access_at(kernel, Contraction::kLhs, loops, {&channels});
    to.pattern = {channels.dimension(1)};
    int64_t inner = count;
    for (const Axis& axis : window_.places) {
      inner /= axis.size;
      to.pattern.push_back({.step = inner, .size = axis.size});
      from.pattern.push_back({.step = axis.steps[Contraction::kLhs], .size = axis.size});
    }
    program_.dma_copy(to, from);
    if (kernel.view.dtype == dtype_) return loaded;
    const int32_t converted = program_.sbuf(dtype_, channels.tile(), count);
    const Tiling all(Axis{count, {}}, count);
    program_.tensor_copy(tile_of(program_, converted, channels, all), tile_of(program_, loaded, channels, all));
    return converted;
  }

  void emit_places(int32_t weights, const Access& sums, const std::vector<Tiling>& loops, const Tiling& channels,
                   const std::vector<Tiling>& free) {
    LoopNest nest(program_);
    std::vector<Tiling> all = loops;
    Access weight = program_.tile(weights, channels.dimension(1), {.step = 1, .size = 1});
    int64_t inner = elements(window_.places);
    for (const Tiling& place : nest.open_each(window_.places, false)) {
      inner /= place.axis().size;
      place.add_term(weight.terms, inner);
      all.push_back(place);
    }
    const Access shifted = tile(window_.input.view.dtype, channels, free);
    program_.dma_copy(shifted, access(window_.input, Contraction::kRhs, all, channels, free));
    program_.scalar_tensor_tensor(sums, shifted, AluOp::Multiply, weight, AluOp::Add, sums);
  }

  Access tile(DType dtype, const Tiling& channels, const std::vector<Tiling>& free) {
    int64_t count = 1;
    for (const Tiling& tiling : free) count *= tiling.tile();
    Access access = program_.tile(program_.sbuf(dtype, channels.tile(), count));
    access.pattern = {channels.dimension(1)};
    for (const Tiling& tiling : free) {
      count /= tiling.tile();
      access.pattern.push_back(tiling.dimension(count));
    }
    if (free.empty()) access.pattern.push_back({.step = 1, .size = 1});
    return access;
  }

  static Access access(const Location& location, size_t side, const std::vector<Tiling>& loops, const Tiling& channels,
                       const std::vector<Tiling>& free) {
    Access result = access_at(location, side, loops, {&channels});
    for (const Tiling& tiling : free) {
      advance(result, side, tiling);
      result.pattern.push_back(tiling.dimension(tiling.axis().steps[side]));
    }
    if (free.empty()) result.pattern.push_back({.step = 1, .size = 1});
    return result;
  }

  Builder& program_;
  const Window& window_;
  const int64_t partition_count_;
  const DType dtype_;
};

}  // namespace

size_t emit_convolution(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != ir::Op::Convolution) return 0;
  const Location input = emitter.location(node.operands[0]);
  const Location kernel = emitter.location(node.operands[1]);
  if (!is_float(input.view.dtype) || input.view.dtype != kernel.view.dtype) return 0;
  if (!is_float(emitter.type(node.results[0]).dtype)) return 0;
  const Location out = emitter.place(node.results[0], {first, first + 1}, false);
  if (out.view.elements() == 0) return 1;
  if (kernel.view.elements() == 0 || input.view.elements() == 0) {
    emitter.copy(splat(emitter.program(), {out.view.dtype, out.view.shape}, 0), out);
    return 1;
  }
  const Window window = window_of(emitter, input, kernel, out, node.as<Attributes>());
  if (window.is_depthwise() && Depthwise::fits(emitter.machine(), window)) {
    Depthwise(emitter, window).emit();
  } else {
    emit_products(emitter, window);
  }
  return 1;
}

}  // namespace opentrn::compiler
