#include "compiler/rows_instructions.h"

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

class NestEmitter {
 public:
  explicit NestEmitter(const NestPlan& plan)
      : emitter_(plan.emitter),
        description_(plan.description),
        nest_(plan.nest),
        tiles_(plan.emitter.program(), plan.description, plan.nest, plan.copies) {}

  void at_once() {
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

  void staged() {
    open_kept();
    emit_before();
    const std::vector<Access> sums = emit_data();
    size_t next = 0;
    for (const Step& step : description_.steps) {
      if (is_reduction(description_, step)) emit_initial(step, sums[next++]);
    }
    emit_after();
  }

  void partial(const std::vector<Partials>& partials, size_t pieces, int64_t first_piece) {
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

  void combined(const std::vector<Partials>& partials, size_t pieces) {
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

  void without_data() {
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

  // Checks run in the order of the elements: the error names the first that is wrong.
  void open_kept() {
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      if (!nest_.dimensions[d].reduced) tiles_.open(d, !description_.may_trap());
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

}  // namespace

bool is_reduction(const Description& description, const Step& step) {
  return step.node->op == Op::Reduce &&
         description.slots[static_cast<size_t>(step.result)].stage > description.slot(step.operands[0]).stage;
}

void emit_at_once(const NestPlan& plan) { NestEmitter(plan).at_once(); }

void emit_staged(const NestPlan& plan) { NestEmitter(plan).staged(); }

void emit_partial(const NestPlan& plan, const std::vector<Partials>& partials, size_t piece, int64_t first_piece) {
  NestEmitter(plan).partial(partials, piece, first_piece);
}

void emit_combined(const NestPlan& plan, const std::vector<Partials>& partials, size_t piece) {
  NestEmitter(plan).combined(partials, piece);
}

void emit_without_data(const NestPlan& plan) { NestEmitter(plan).without_data(); }

}  // namespace opentrn::compiler::rows
