// From a description to loop nests: loads, steps and stores of every tile, and reductions of what does not fit one
// tile.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/rows_ops.h"
#include "ir/constants.h"

namespace opentrn::compiler::rows {

namespace {

using ir::Op;
using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Immediate;

constexpr int64_t kMostFreeElements = 2048;  // of a tile that could be of any size: enough to keep an engine busy
constexpr int64_t kFewRows = 64;             // less than half of the partitions
constexpr int64_t kManyElements = 16384;     // worth a second stage
constexpr int64_t kMostPieces = 2048;        // one row of results
constexpr int64_t kShortPiece = 128;

bool is_reduction(const Description& description, const Step& step) {
  return step.node->op == Op::Reduce &&
         description.slots[static_cast<size_t>(step.result)].stage > description.slot(step.operands[0]).stage;
}

/// Where a reduction's partial results lie in HBM, one for each piece of the data.
struct Partials {
  int32_t buffer = -1;
  int64_t pieces = 0;
};

class NestEmitter {
 public:
  NestEmitter(Emitter& emitter, const Description& description, const Nest& nest, int copies)
      : emitter_(emitter),
        description_(description),
        nest_(nest),
        tiles_(emitter.program(), description, nest, copies) {}

  /// All steps in order: every tile holds whole rows.
  void emit_at_once() {
    open_kept();
    for_each_load([](const Slot&) { return true; });
    for (const Step& step : description_.steps) {
      if (is_reduction(description_, step)) {
        emit_reduction(step);
      } else {
        emit_plain(step);
      }
    }
    for_each_store([](const Slot&) { return true; });
    tiles_.close_to(0);
  }

  /// The reductions of one stage, tile by tile: what comes before them, the data, and what is made of the sums.
  void emit_staged() {
    open_kept();
    emit_before();
    const std::vector<Access> sums = emit_data();
    size_t next = 0;
    for (const Step& step : description_.steps) {
      if (is_reduction(description_, step)) emit_initial(step, sums[next++]);
    }
    emit_after();
  }

  /// The first half of that: the sums go to HBM, one for each piece of the data.
  void emit_partial(const std::vector<Partials>& partials, size_t pieces, int64_t first_piece) {
    open_kept();
    emit_before();
    const std::vector<Access> sums = emit_data();
    size_t next = 0;
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      const Access& sum = sums[next];
      const Partials& partial = partials[next++];
      emitter_.program().dma_copy(
          tiles_.hbm(partial.buffer, sum.dtype, partial_line(partial, pieces, first_piece), kept_space()),
          tiles_.seen(sum, varies(step), kept_space()));
    }
    tiles_.close_to(0);
  }

  /// And the second.
  void emit_combined(const std::vector<Partials>& partials, size_t pieces) {
    open_kept();
    emit_before();
    size_t next = 0;
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      const Partials& partial = partials[next++];
      const DType sum_dtype = accumulation_dtype(dtype(step));
      const uint64_t all = kept_space() | description_.reduced;
      const Access data = tiles_.extra(sum_dtype, all);
      emitter_.program().dma_copy(data, tiles_.hbm(partial.buffer, sum_dtype, partial_line(partial, pieces, 0), all));
      const Access sum = tiles_.temporary(step, 0);
      const Unit with = unit(step);
      emitter_.program().tensor_reduce(sum, with.op, tiles_.seen(data, all, varies(step) | description_.reduced), 1,
                                       with.engine);
      emit_initial(step, sum);
    }
    emit_after();
  }

  /// Rows that are made of nothing.
  void emit_without_data() {
    open_kept();
    emit_before();
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      const Access sum = tiles_.temporary(step, 0);
      emitter_.program().memset(sum, neutral(step));
      emit_initial(step, sum);
    }
    emit_after();
  }

 private:
  bool is_data(uint64_t dimensions) const { return (dimensions & description_.reduced) != 0; }
  const Slot& result(const Step& step) const { return description_.slots[static_cast<size_t>(step.result)]; }
  uint64_t kept_space() const { return ~description_.reduced & ((uint64_t{1} << description_.space.size()) - 1); }

  void emit_before() {
    for_each_load([&](const Slot& slot) { return !is_data(slot.varies); });
    for (const Step& step : description_.steps) {
      if (!is_data(varies(step)) && result(step).stage == 0) emit_plain(step);
    }
  }

  void emit_after() {
    for (const Step& step : description_.steps) {
      if (result(step).stage > 0 && !is_data(varies(step)) && !is_reduction(description_, step)) emit_plain(step);
    }
    for_each_store([&](const Slot& slot) { return !is_data(spanned(slot.dimensions)); });
    tiles_.close_to(0);
  }

  // Tiles of the data one after the other, added up on the chip.
  std::vector<Access> emit_data() {
    std::vector<Access> sums;
    const bool chunked = is_chunked(nest_);
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      sums.push_back(chunked ? tiles_.extra(accumulation_dtype(dtype(step)), varies(step)) : tiles_.temporary(step, 0));
      if (chunked) emitter_.program().memset(sums.back(), neutral(step));
    }
    const size_t outer = tiles_.open_loops();
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      if (nest_.dimensions[d].reduced) tiles_.open(d, false);
    }
    for_each_load([&](const Slot& slot) { return is_data(slot.varies); });
    size_t next = 0;
    for (const Step& step : description_.steps) {
      if (is_reduction(description_, step)) {
        const Access part = tiles_.temporary(step, 0);
        reduce_tile(step, part);
        if (chunked) add(unit(step), sums[next], part);
        ++next;
      } else if (is_data(varies(step))) {
        emit_plain(step);
      }
    }
    for_each_store([&](const Slot& slot) { return is_data(spanned(slot.dimensions)); });
    tiles_.close_to(outer);
    return sums;
  }

  void add(const Unit& with, const Access& sum, const Access& part) {
    emitter_.program().tensor_tensor(sum, sum, part, with.op, with.engine);
  }

  Immediate neutral(const Step& step) const {
    Immediate result;
    result.dtype = accumulation_dtype(dtype(step));
    const auto bytes = ir::neutral_element(step.node->as<ir::ReduceAttributes>().reducer, result.dtype);
    std::memcpy(result.bytes.data(), bytes.data(), bytes.size());
    return result;
  }

  // Row-major: the kept dimensions, then the pieces, which dimension `pieces` of the nest counts.
  Line partial_line(const Partials& partial, size_t pieces, int64_t first_piece) const {
    Line line{std::vector<int64_t>(nest_.dimensions.size(), 0), first_piece};
    int64_t step = partial.pieces;
    for (size_t d = nest_.dimensions.size(); d-- > 0;) {
      if (d == pieces) line.strides[d] = 1;
      if (d == pieces || nest_.dimensions[d].reduced) continue;
      line.strides[d] = step;
      step *= nest_.dimensions[d].size;
    }
    return line;
  }

  void open_kept() {
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      if (!nest_.dimensions[d].reduced) tiles_.open(d, true);
    }
  }

  template <typename Choice>
  void for_each_load(Choice choice) {
    for (size_t i = 0; i < description_.slots.size(); ++i) {
      const Slot& slot = description_.slots[i];
      if (slot.kind != Slot::Kind::Load || !choice(slot)) continue;
      emitter_.program().dma_copy(
          tiles_.write(static_cast<int32_t>(i)),
          tiles_.hbm(slot.location.buffer, slot.dtype, nest_.lines[static_cast<size_t>(slot.line)], slot.varies));
    }
  }

  template <typename Choice>
  void for_each_store(Choice choice) {
    for (size_t i = 0; i < description_.slots.size(); ++i) {
      const Slot& slot = description_.slots[i];
      if (!slot.stored || !choice(slot)) continue;
      const uint64_t over = spanned(slot.dimensions);
      emitter_.program().dma_copy(
          tiles_.hbm(slot.location.buffer, slot.dtype, nest_.lines[static_cast<size_t>(slot.line)], over),
          tiles_.read({static_cast<int32_t>(i), slot.dtype}, over));
    }
  }

  void emit_plain(const Step& step) {
    if (step.node->op == Op::Reduce) return emit_initial(step, tiles_.read(step.operands[0], varies(step)));
    const Line* line = step.line < 0 ? nullptr : &nest_.lines[static_cast<size_t>(step.line)];
    emit_step(tiles_, step, line);
  }

  uint64_t varies(const Step& step) const { return description_.slots[static_cast<size_t>(step.result)].varies; }
  DType dtype(const Step& step) const { return step.operands[0].dtype; }
  Unit unit(const Step& step) const { return *binary_unit(step.node->as<ir::ReduceAttributes>().reducer, dtype(step)); }

  bool starts_neutral(const Step& step) const {
    const Slot& initial = description_.slot(step.operands[1]);
    if (initial.kind != Slot::Kind::Splat) return false;
    const auto neutral = ir::neutral_element(step.node->as<ir::ReduceAttributes>().reducer, initial.dtype);
    return std::memcmp(neutral.data(), initial.number.bytes.data(), neutral.size()) == 0;
  }

  // The result is the data's combination, and the initial value's with it.
  void emit_initial(const Step& step, const Access& data) {
    const Access out = tiles_.write(step.result);
    if (starts_neutral(step)) {
      if (data.buffer != out.buffer) emitter_.program().tensor_copy(out, data, copy_engine(data.dtype, out.dtype));
      return;
    }
    const Unit with = unit(step);
    const neuroncore::ScalarOperand scalar = tiles_.scalar(step.operands[1]);
    if (std::holds_alternative<std::monostate>(scalar)) {
      emitter_.program().tensor_tensor(out, data, tiles_.read(step.operands[1], varies(step)), with.op, with.engine);
    } else {
      emitter_.program().tensor_scalar(out, data, with.op, scalar, false, AluOp::Bypass, {}, false, with.engine);
    }
  }

  static neuroncore::Engine copy_engine(DType from, DType to) {
    return from != to && is_integral(from) && is_integral(to) ? neuroncore::Engine::GpSimd : neuroncore::Engine::Vector;
  }

  void reduce_tile(const Step& step, const Access& out) {
    const Unit with = unit(step);
    Access data = tiles_.read(step.operands[0], varies(step) | description_.reduced);
    const int reduced = tiles_.reduced_dimensions();
    if (reduced == 0) data.pattern.push_back({.step = 0, .size = 1});
    emitter_.program().tensor_reduce(out, with.op, std::move(data), std::max(1, reduced), with.engine);
  }

  void emit_reduction(const Step& step) {
    if (starts_neutral(step)) return reduce_tile(step, tiles_.write(step.result));
    const Access sum = tiles_.temporary(step, 0);
    reduce_tile(step, sum);
    emit_initial(step, sum);
  }

  Emitter& emitter_;
  const Description& description_;
  const Nest& nest_;
  Tiles tiles_;
};

Line line_of(const Slot& slot, size_t rank) {
  const ir::View& view = slot.location.view;
  Line line{std::vector<int64_t>(rank, 0), view.offset / view.item_size()};
  for (size_t d = 0; d < slot.dimensions.size(); ++d) {
    if (slot.dimensions[d] >= 0) line.strides[static_cast<size_t>(slot.dimensions[d])] = view.strides[d];
  }
  return line;
}

Line iota_line(const Step& step, const Slot& result, size_t rank) {
  Line line{std::vector<int64_t>(rank, 0), 0};
  const int32_t d = result.dimensions[static_cast<size_t>(step.node->as<ir::IotaAttributes>().iota_dimension)];
  if (d >= 0) line.strides[static_cast<size_t>(d)] = 1;
  return line;
}

// One line for each access, those of stores first: they have the first word in the order of the dimensions.
Nest make_nest(Description& description) {
  Nest nest;
  const size_t rank = description.space.size();
  for (size_t d = 0; d < rank; ++d) {
    nest.dimensions.push_back(
        {.size = description.space[d], .reduced = (description.reduced >> d & 1) != 0, .sources = uint64_t{1} << d});
  }
  const auto add = [&](int32_t& number, Line line) {
    number = static_cast<int32_t>(nest.lines.size());
    nest.lines.push_back(std::move(line));
  };
  for (Slot& slot : description.slots) {
    if (slot.stored) add(slot.line, line_of(slot, rank));
  }
  for (Slot& slot : description.slots) {
    if (slot.kind == Slot::Kind::Load) add(slot.line, line_of(slot, rank));
  }
  for (Step& step : description.steps) {
    if (step.node->op != Op::Iota) continue;
    add(step.line, iota_line(step, description.slots[static_cast<size_t>(step.result)], rank));
  }
  return nest;
}

Nest without_reduced(Nest nest) {
  for (NestDimension& dimension : nest.dimensions) {
    if (dimension.reduced) dimension.size = 1;
  }
  return nest;
}

class RunEmitter {
 public:
  RunEmitter(Emitter& emitter, Description& description)
      : emitter_(emitter), description_(description), nest_(make_nest(description)) {}

  void emit() {
    const bool nothing = nest_.kept() == 0;
    const bool no_data = description_.has_reduction() && nest_.reduced() == 0;
    if (nothing) return;
    if (no_data) nest_ = without_reduced(std::move(nest_));
    normalise(nest_);
    if (no_data) return emit_without_data();
    if (!description_.has_reduction()) return emit_at_once(std::min(kMostFreeElements, most(2)), 2);
    const bool multi_stage = is_multi_stage(description_);
    if (!multi_stage && nest_.kept() < kFewRows && nest_.reduced() >= kManyElements) return emit_in_pieces();
    for (const int copies : {2, 1}) {
      if (nest_.reduced() <= most(copies)) return emit_at_once(most(copies), copies);
    }
    for (const Nest& nest : cut(nest_, limits(std::min(2 * kMostFreeElements, most(2))))) {
      NestEmitter(emitter_, description_, nest, 2).emit_staged();
    }
  }

 private:
  int64_t most(int copies) const { return most_elements(emitter_.machine(), description_, copies); }

  TileLimits limits(int64_t elements) const {
    return {.partitions = emitter_.machine().partitions, .most_elements = elements};
  }

  void emit_at_once(int64_t elements, int copies) {
    for (const Nest& nest : cut(std::move(nest_), limits(elements))) {
      NestEmitter(emitter_, description_, nest, copies).emit_at_once();
    }
  }

  void emit_without_data() {
    for (const Nest& nest : cut(std::move(nest_), limits(kMostFreeElements))) {
      NestEmitter(emitter_, description_, nest, 1).emit_without_data();
    }
  }

  // Few long rows: each is cut into pieces that are reduced side by side, and their results after that.
  void emit_in_pieces() {
    size_t longest = 0;
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      const NestDimension& best = nest_.dimensions[longest];
      const NestDimension& dimension = nest_.dimensions[d];
      if (dimension.reduced && (!best.reduced || dimension.size >= best.size)) longest = d;
    }
    const int64_t size = nest_.dimensions[longest].size;
    const int64_t room = std::min(kMostFreeElements, most(2));
    const int64_t all = nest_.reduced();
    const int64_t length = std::max(size / kMostPieces, (kShortPiece * size + all - 1) / all);
    const int64_t pieces = (size + length - 1) / length;
    const std::vector<Partials> partials = make_partials(pieces);
    Nest main = folded(nest_, longest, length);
    main.dimensions[longest].reduced = false;
    emit_pieces(std::move(main), room, partials, longest, 0);
    if (size % length != 0) {
      Nest rest = folded(remainder(nest_, longest, length), longest, size % length);
      rest.dimensions[longest].reduced = false;
      emit_pieces(std::move(rest), room, partials, longest, size / length);
    }
    Nest combination = nest_;
    for (size_t d = 0; d < combination.dimensions.size(); ++d) {
      NestDimension& dimension = combination.dimensions[d];
      if (dimension.reduced) dimension.size = d == longest ? pieces : 1;
    }
    for (const Nest& nest : cut(std::move(combination), limits(std::max<int64_t>(pieces, kMostFreeElements)))) {
      NestEmitter(emitter_, description_, nest, 1).emit_combined(partials, longest);
    }
  }

  void emit_pieces(Nest nest, int64_t room, const std::vector<Partials>& partials, size_t dimension,
                   int64_t first_piece) {
    for (const Nest& one : cut(std::move(nest), limits(room))) {
      NestEmitter(emitter_, description_, one, 2).emit_partial(partials, dimension, first_piece);
    }
  }

  std::vector<Partials> make_partials(int64_t pieces) {
    std::vector<Partials> partials;
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      const DType dtype = accumulation_dtype(step.operands[0].dtype);
      partials.push_back({emitter_.program().hbm(dtype, nest_.kept() * pieces), pieces});
    }
    return partials;
  }

  Emitter& emitter_;
  Description& description_;
  Nest nest_;
};

}  // namespace

int64_t most_elements(const neuroncore::Machine& machine, const Description& description, int copies) {
  int64_t bytes = 0;
  for (const Tile& tile : description.tiles) {
    const bool grows = description.has_reduction() ? (tile.varies & description.reduced) != 0 : tile.varies != 0;
    if (grows) bytes += size_of(tile.dtype) * (tile.in_flight ? copies : 1);
  }
  // An eighth is left for rows.
  return std::max<int64_t>(1, machine.sbuf_bytes_per_partition / 8 * 7 / std::max<int64_t>(1, bytes));
}

bool rows_fit(const neuroncore::Machine& machine, const Description& description) {
  int64_t elements = 1;
  for (size_t d = 0; d < description.space.size(); ++d) {
    if ((description.reduced >> d & 1) != 0) elements *= description.space[d];
  }
  return elements <= most_elements(machine, description, 1);
}

void emit(Emitter& emitter, Description& description) { RunEmitter(emitter, description).emit(); }

}  // namespace opentrn::compiler::rows
