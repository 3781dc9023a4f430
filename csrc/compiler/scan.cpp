// Running sums, products and extremes: windows as long as the dimension they run along, as scans of tiles that hand
// their last value on.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "compiler/families.h"
#include "compiler/rows_ops.h"
#include "ir/constants.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Engine;
using rows::Line;
using rows::Nest;
using Attributes = ir::ReduceWindowAttributes;

constexpr int64_t kMostElements = 2048;  // of a tile in each partition

struct Scan {
  size_t dimension = 0;
  bool reverse = false;
};

std::optional<Scan> recognise(const Attributes& window, const Dims& shape) {
  std::optional<Scan> scan;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (window.window_strides[d] != 1 || window.base_dilations[d] != 1 || window.window_dilations[d] != 1) return {};
    const int64_t low = window.padding_low[d];
    const int64_t high = window.padding_high[d];
    if (window.window_dimensions[d] == 1 && low == 0 && high == 0) continue;
    const int64_t rest = shape[d] - 1;
    const bool one_sided = (low == rest && high == 0) || (low == 0 && high == rest);
    if (scan || window.window_dimensions[d] != shape[d] || !one_sided) return {};
    scan = Scan{d, low == 0};
  }
  return scan;
}

// Bit patterns have no scan.
std::optional<rows::Unit> scan_unit(Op reducer, DType dtype) {
  if (reducer == Op::Map || is_complex(dtype)) return std::nullopt;
  const std::optional<rows::Unit> unit = rows::binary_unit(reducer, dtype);
  if (!unit || neuroncore::info(unit->op).alu_class != neuroncore::AluClass::Arithmetic) return std::nullopt;
  return unit;
}

/// Windows at the edge see padding, which is the initial value, as often as it takes to fill them.
bool counts_padding_once(const Emitter& emitter, const ir::Node& node) {
  const Op reducer = node.as<Attributes>().reducer;
  if (reducer == Op::Maximum || reducer == Op::Minimum || reducer == Op::And || reducer == Op::Or) return true;
  const ir::Node* maker = emitter.producer(node.operands[1]);
  if (maker == nullptr || maker->op != Op::Constant) return false;
  return maker->as<ir::ConstantAttributes>().data == ir::neutral_element(reducer, emitter.type(node.operands[1]).dtype);
}

/// Sums of floats are carried in float64, as the rows of one value for each element are long.
DType carry_dtype(Op reducer, DType dtype) {
  const bool rounds = is_float(dtype) && (reducer == Op::Add || reducer == Op::Multiply);
  return rounds ? DType::F64 : rows::accumulation_dtype(dtype);
}

/// A scan has a second operation; this is one that changes nothing: with a number, or with the element once more.
struct Second {
  AluOp op;
  std::optional<int64_t> number;
};

Second second_operation(AluOp op) {
  if (op == AluOp::Add || op == AluOp::Multiply) return {AluOp::Multiply, 1};
  if (op == AluOp::LogicalXor) return {AluOp::LogicalXor, 0};
  return {op, std::nullopt};
}

class ScanEmitter {
 public:
  ScanEmitter(Emitter& emitter, const ir::Node& node, Scan scan, rows::Unit unit)
      : emitter_(emitter),
        operand_(emitter.type(node.operands[0])),
        source_(emitter.location(node.operands[0])),
        initial_(emitter.location(node.operands[1])),
        scan_(scan),
        unit_(unit),
        carry_(carry_dtype(node.as<Attributes>().reducer, operand_.dtype)) {
    if (is_integral(carry_) || carry_ == DType::F64) unit_.engine = Engine::GpSimd;
  }

  void emit(Location result) {
    result_ = std::move(result);
    if (operand_.elements() == 0) return;
    const uint64_t along = uint64_t{1} << scan_.dimension;
    description_.space = operand_.shape;
    description_.reduced = along;
    const uint64_t all = (uint64_t{1} << operand_.shape.size()) - 1;
    add_slot(rows::Slot::Kind::Load, all);
    add_slot(rows::Slot::Kind::Made, all);
    Nest nest = make_nest();
    rows::normalise(nest);
    const rows::TileLimits limits{
        .partitions = emitter_.machine().partitions, .most_elements = kMostElements, .most_free_dimensions = 1};
    for (const Nest& one : rows::cut(std::move(nest), limits)) emit_nest(one);
  }

 private:
  void add_slot(rows::Slot::Kind kind, uint64_t varies) {
    rows::Slot slot;
    slot.kind = kind;
    slot.dtype = operand_.dtype;
    slot.varies = varies;
    slot.tile = static_cast<int32_t>(description_.tiles.size());
    description_.tiles.push_back({operand_.dtype, varies, true});
    description_.slots.push_back(std::move(slot));
  }

  Line line(const Location& location) const {
    Line line{location.view.strides, location.view.offset / location.view.item_size()};
    if (!scan_.reverse) return line;
    int64_t& step = line.strides[scan_.dimension];
    line.offset += (operand_.shape[scan_.dimension] - 1) * step;
    step = -step;
    return line;
  }

  Nest make_nest() const {
    Nest nest;
    for (size_t d = 0; d < operand_.shape.size(); ++d) {
      nest.dimensions.push_back(
          {.size = operand_.shape[d], .reduced = d == scan_.dimension, .sources = uint64_t{1} << d});
    }
    nest.lines = {line(result_), line(source_)};
    return nest;
  }

  void emit_nest(const Nest& nest) {
    neuroncore::Builder& program = emitter_.program();
    rows::Tiles tiles(program, description_, nest, 2);
    for (size_t d = 0; d < nest.dimensions.size(); ++d) {
      if (!nest.dimensions[d].reduced) tiles.open(d, true);
    }
    const Access carried = tiles.extra(carry_, 0);
    const Line same{std::vector<int64_t>(nest.dimensions.size(), 0), initial_.view.offset / initial_.view.item_size()};
    load_initial(tiles, carried, same);
    const Access number = neutral_tile(tiles);
    const size_t outer = tiles.open_loops();
    for (size_t d = 0; d < nest.dimensions.size(); ++d) {
      if (nest.dimensions[d].reduced) tiles.open(d, false);
    }
    const Access in = tiles.write(0);
    const Access out = tiles.write(1);
    const uint64_t all = description_.slots[0].varies;
    program.dma_copy(in, tiles.hbm(source_.buffer, operand_.dtype, nest.lines[1], all));
    const Second second = second_operation(unit_.op);
    const Access other = second.number ? tiles.seen(number, 0, all) : in;
    program.tensor_tensor_scan(out, in, other, carried, unit_.op, second.op).engine = unit_.engine;
    if (rows::is_chunked(nest)) carry_on(tiles, carried, in);
    program.dma_copy(tiles.hbm(result_.buffer, operand_.dtype, nest.lines[0], all), out);
    tiles.close_to(outer);
    tiles.close_to(0);
  }

  Access neutral_tile(rows::Tiles& tiles) {
    const std::optional<int64_t> value = second_operation(unit_.op).number;
    if (!value) return {};
    const Access tile = tiles.extra(operand_.dtype, 0);
    emitter_.program().memset(tile, neuroncore::immediate(operand_.dtype, *value));
    return tile;
  }

  void load_initial(rows::Tiles& tiles, const Access& carried, const Line& line) {
    neuroncore::Builder& program = emitter_.program();
    if (carry_ == operand_.dtype) {
      program.dma_copy(carried, tiles.hbm(initial_.buffer, operand_.dtype, line, 0));
      return;
    }
    const Access loaded = tiles.extra(operand_.dtype, 0);
    program.dma_copy(loaded, tiles.hbm(initial_.buffer, operand_.dtype, line, 0));
    program.tensor_copy(carried, loaded);
  }

  // What the next tile starts with: what this one started with, and all of its elements.
  void carry_on(rows::Tiles& tiles, const Access& carried, const Access& in) {
    neuroncore::Builder& program = emitter_.program();
    const Access sum = tiles.extra(carry_, 0);
    program.tensor_reduce(sum, unit_.op, in, 1, unit_.engine);
    program.tensor_tensor(carried, carried, sum, unit_.op, unit_.engine);
  }

  Emitter& emitter_;
  const ir::TensorType& operand_;
  Location source_, initial_, result_;
  Scan scan_;
  rows::Unit unit_;
  DType carry_;
  rows::Description description_;
};

}  // namespace

size_t emit_scan(Emitter& emitter, size_t first) {
  const ir::Node& node = emitter.node(first);
  if (node.op != Op::ReduceWindow || node.operands.size() != 2) return 0;
  const ir::TensorType& operand = emitter.type(node.operands[0]);
  const auto& window = node.as<Attributes>();
  const std::optional<Scan> scan = recognise(window, operand.shape);
  const std::optional<rows::Unit> unit = scan_unit(window.reducer, operand.dtype);
  if (!scan || !unit || operand.rank() > 32 || !counts_padding_once(emitter, node)) return 0;
  ScanEmitter scans(emitter, node, *scan, *unit);
  scans.emit(emitter.place(node.results[0], {first, first + 1}, false));
  return 1;
}

}  // namespace opentrn::compiler
