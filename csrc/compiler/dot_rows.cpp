// Contractions without the Tensor engine: each partition multiplies two rows element by element and sums the products.
// For products with a vector, which read every element of the matrix only once, and for the types the Tensor engine
// does not take.
#include <algorithm>
#include <utility>

#include "compiler/dot.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Builder;
using neuroncore::Engine;

constexpr int64_t kPieceBytes = 16 << 10;  // of a row in SBUF: five such tiles fit beside each other on every machine
constexpr int64_t kLongVector = 2048;      // inner products from this length on are spread over the partitions
constexpr int64_t kRowOfVector = 1024;     // elements on each partition then

class RowDots {
 public:
  RowDots(Emitter& emitter, const Contraction& contraction)
      : program_(emitter.program()),
        partitions_(emitter.machine().partitions),
        accumulator_(contraction.accumulator),
        engine_(is_float(accumulator_) ? Engine::Vector : Engine::GpSimd) {}

  /// out[loops, row] = sum over k of lhs[loops, row, k] * rhs[loops, row, k]
  void emit(const Contraction& at, const Axis& row) {
    LoopNest nest(program_);
    const std::vector<Tiling> loops = nest.open_each(at.loops, true);
    Tiling rows(row, partitions_);
    nest.open(rows, true);
    const int64_t widest = std::max(size_of(at.lhs.view.dtype), size_of(accumulator_));
    const Tiling pieces(at.k, kPieceBytes / widest);
    const Tiling one(Axis{}, 1);
    const Access sum = tile_of(program_, tile(at.out.view.dtype, rows, one), rows, one);
    if (pieces.count() == 1) {
      emit_piece(at, loops, rows, pieces, sum);
    } else {
      const Tiling partial(Axis{pieces.count()}, pieces.count());
      const int32_t sums = tile(accumulator_, rows, partial);
      emit_pieces(at, loops, rows, pieces, sums);
      program_.tensor_reduce(sum, AluOp::Add, tile_of(program_, sums, rows, partial), 1, engine_);
    }
    program_.dma_copy(access_at(at.out, Contraction::kOut, loops, {&rows, &one}), sum);
  }

  /// out[0] = sum of a row of partial sums
  void emit_sum(const Location& partial, const Location& out) {
    const Tiling all({partial.view.elements(), {1, 0, 0}}, partial.view.elements());
    const Tiling one(Axis{}, 1);
    const Access row = tile_of(program_, tile(accumulator_, one, all), one, all);
    const Access sum = tile_of(program_, tile(out.view.dtype, one, one), one, one);
    program_.dma_copy(row, access_at(partial, 0, {}, {&one, &all}));
    program_.tensor_reduce(sum, AluOp::Add, row, 1, engine_);
    program_.dma_copy(access_at(out, 0, {}, {&one, &one}), sum);
  }

 private:
  int32_t tile(DType dtype, const Tiling& rows, const Tiling& elements) {
    return program_.sbuf(dtype, rows.tile(), elements.tile());
  }

  Access load(const Location& operand, size_t position, const std::vector<Tiling>& loops, const Tiling& rows,
              const Tiling& pieces) {
    const Access loaded = tile_of(program_, tile(operand.view.dtype, rows, pieces), rows, pieces);
    program_.dma_copy(loaded, access_at(operand, position, loops, {&rows, &pieces}));
    return loaded;
  }

  void emit_piece(const Contraction& at, const std::vector<Tiling>& loops, const Tiling& rows, const Tiling& piece,
                  const Access& sum) {
    const Access lhs = load(at.lhs, Contraction::kLhs, loops, rows, piece);
    const Access rhs = load(at.rhs, Contraction::kRhs, loops, rows, piece);
    const Access products = tile_of(program_, tile(accumulator_, rows, piece), rows, piece);
    program_.tensor_tensor(products, lhs, rhs, AluOp::Multiply, engine_);
    program_.tensor_reduce(sum, AluOp::Add, products, 1, engine_);
  }

  void emit_pieces(const Contraction& at, const std::vector<Tiling>& loops, const Tiling& rows, Tiling pieces,
                   int32_t sums) {
    LoopNest nest(program_);
    nest.open(pieces, false);
    Access sum = program_.tile(sums, rows.dimension(1), {.step = 1, .size = 1});
    sum.terms.push_back({.index = pieces.loop(), .coefficient = 1});
    emit_piece(at, loops, rows, pieces, sum);
  }

  Builder& program_;
  int64_t partitions_;
  DType accumulator_;
  Engine engine_;
};

Steps scaled(const Steps& steps, int64_t factor) { return {steps[0] * factor, steps[1] * factor, steps[2] * factor}; }

// Cuts the vectors into rows, so that all partitions work, and adds up the sums of the rows.
void emit_inner_product(Emitter& emitter, RowDots& dots, const Contraction& whole) {
  const Axis& k = whole.k;
  const int64_t rows = k.size / kRowOfVector;
  const int64_t rest = k.size % kRowOfVector;
  const Location partial = emitter.internal({whole.accumulator, {rows + (rest > 0 ? 1 : 0)}});
  Contraction part = whole;
  part.out = partial;
  part.k.size = kRowOfVector;
  Axis row{rows, scaled(k.steps, kRowOfVector)};
  row.steps[Contraction::kOut] = 1;
  dots.emit(part, row);
  if (rest > 0) {
    const int64_t first = rows * kRowOfVector;
    part.lhs = moved(whole.lhs, first * k.steps[Contraction::kLhs]);
    part.rhs = moved(whole.rhs, first * k.steps[Contraction::kRhs]);
    part.out = moved(partial, rows);
    part.k.size = rest;
    dots.emit(part, {1, {}});
  }
  dots.emit_sum(partial, whole.out);
}

}  // namespace

void emit_row_dots(Emitter& emitter, Contraction contraction) {
  RowDots dots(emitter, contraction);
  std::vector<Axis> axes = contraction.loops;
  axes.push_back(contraction.m);
  axes.push_back(contraction.n);
  std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
  const Axis row = take_longest(axes);
  contraction.loops = axes;
  if (row.size == 1 && contraction.k.size >= kLongVector) return emit_inner_product(emitter, dots, contraction);
  dots.emit(contraction, row);
}

}  // namespace opentrn::compiler
