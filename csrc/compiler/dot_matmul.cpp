// Matrix products on the Tensor engine.
//
// One block of the result is up to four stationary tiles high and one moving tile wide. Its sums stay in PSUM while the
// contraction goes by in steps of 128; each moving tile is loaded once for all stationary tiles of the block. Blocks
// are independent of each other.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/dot.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Access;
using neuroncore::Builder;

constexpr int64_t kMostTilesInBlock = 4;  // half of PSUM: the other half drains meanwhile
constexpr int64_t kFewColumns = 64;    // a moving tile costs at least 64 cycles (AWS Neuron documentation, nc_matmul)
constexpr int64_t kLeastColumns = 64;  // of a moving tile that is cut to have more blocks

/// The types of the tiles: what the Tensor engine takes.
DType tile_dtype(const Contraction& contraction, DType operand) {
  if (contraction.accumulator == DType::F64) return DType::F64;
  const bool narrow = size_of(operand) == 1;  // which 8-bit floats a machine takes differs; bfloat16 holds them all
  return narrow ? DType::BF16 : operand;
}

struct Tiles {
  int64_t k = 0, m = 0, n = 0;
  int64_t inner = 1;  // elements of each of the n
  int64_t m_per_block = 1;
  int64_t bank = 0;  // elements of a PSUM bank: how far apart the sums of two tiles lie
};

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many blocks it takes to keep the cores of a host busy.
int64_t wanted_blocks(int64_t multiplications) {
  if (multiplications >= int64_t{1} << 25) return 8;
  return multiplications >= int64_t{1} << 20 ? 2 : 1;
}

Tiles choose_tiles(const Contraction& contraction, const neuroncore::Machine& machine) {
  Tiles tiles;
  tiles.bank = machine.psum_bank_bytes / size_of(contraction.accumulator);
  tiles.k = std::min<int64_t>(machine.partitions, contraction.k.size);
  // Of about equal height, because a low tile at the edge costs as much as a full one.
  const int64_t high = ceil_divide(contraction.m.size, machine.stationary_free_size);
  tiles.m = ceil_divide(contraction.m.size, high);
  tiles.inner = elements(contraction.inner);
  const int64_t widest = std::min(static_cast<int64_t>(machine.moving_free_size), tiles.bank);
  tiles.n = std::min(widest / tiles.inner, contraction.n.size);
  // Blocks of about equal height.
  tiles.m_per_block = ceil_divide(high, ceil_divide(high, kMostTilesInBlock));
  const int64_t wanted = wanted_blocks(contraction.multiplications());
  const auto blocks = [&] {
    return elements(contraction.loops) * ceil_divide(high, tiles.m_per_block) *
           ceil_divide(contraction.n.size, tiles.n);
  };
  while (blocks() < wanted && tiles.m_per_block > 1) tiles.m_per_block = ceil_divide(tiles.m_per_block, 2);
  while (blocks() < wanted && tiles.n > 1 && tiles.n * tiles.inner >= 2 * kLeastColumns) {
    tiles.n = ceil_divide(tiles.n, 2);
  }
  return tiles;
}

// The smaller side moves when it is so small that the array would be nearly empty as the stationary side; otherwise the
// result's dense dimension becomes the free dimension of its tiles. A single row is stationary: the matrix then passes
// by as it lies in memory.
bool should_swap(const Contraction& contraction) {
  if (!contraction.inner.empty()) return false;
  const int64_t m = contraction.m.size, n = contraction.n.size;
  if (m == 1 || n == 1) return n == 1;
  if (std::min(m, n) <= kFewColumns && m != n) return m < n;
  const int64_t m_step = std::abs(contraction.m.steps[Contraction::kOut]);
  return m_step == 1 && std::abs(contraction.n.steps[Contraction::kOut]) != 1;
}

class Matmul {
 public:
  Matmul(Emitter& emitter, Contraction contraction)
      : program_(emitter.program()),
        machine_(emitter.machine()),
        contraction_(std::move(contraction)),
        tiles_(choose_tiles(contraction_, machine_)) {}

  // Full blocks, then what is left below them: the two differ in the number of tiles in a block.
  void emit() {
    const int64_t height = tiles_.m * tiles_.m_per_block;
    const int64_t full = contraction_.m.size / height * height;
    if (full > 0) emit_blocks(0, full, height);
    if (full < contraction_.m.size) emit_blocks(full, contraction_.m.size - full, contraction_.m.size - full);
  }

 private:
  /// Operands of one nest of blocks, and the loops around a block.
  struct Block {
    Location lhs, rhs, out;
    std::vector<Tiling> loops;
    Axis rows;  // of one block
    Tiling columns;
    int32_t sums = -1;
  };

  void emit_blocks(int64_t first, int64_t rows, int64_t height) {
    const Axis& m = contraction_.m;
    LoopNest nest(program_);
    Block block{moved(contraction_.lhs, first * m.steps[Contraction::kLhs]),
                contraction_.rhs,
                moved(contraction_.out, first * m.steps[Contraction::kOut]),
                nest.open_each(contraction_.loops, true),
                {height, m.steps},
                Tiling(contraction_.n, tiles_.n)};
    nest.open(block.loops.emplace_back(Axis{rows, m.steps}, height), true);
    nest.open(block.columns, true);
    const int64_t in_block = ceil_divide(height, tiles_.m);
    block.sums = program_.psum(contraction_.accumulator, std::min(tiles_.m, height),
                               in_block == 1 ? tiles_.n * tiles_.inner : in_block * tiles_.bank, 2, "sums");
    emit_steps(block);
    emit_result(block);
  }

  // The first step overwrites what PSUM holds, all others add to it. These others are: the rest of the innermost
  // contracted axis while the outer ones stand at their beginnings, then the rest of the next one with all of the inner
  // ones, and so on.
  void emit_steps(const Block& block) {
    std::vector<Axis> axes = contraction_.more;
    axes.push_back(contraction_.k);
    const Axis beginning{tiles_.k, contraction_.k.steps};
    emit_step(block, {}, Tiling(beginning, tiles_.k), false);
    for (size_t level = axes.size(); level-- > 0;) {
      const bool innermost = level + 1 == axes.size();
      const int64_t done = innermost ? tiles_.k : 1;
      if (axes[level].size == done) continue;
      Block rest = block;
      rest.lhs = moved(block.lhs, done * axes[level].steps[Contraction::kLhs]);
      rest.rhs = moved(block.rhs, done * axes[level].steps[Contraction::kRhs]);
      std::vector<Axis> outer(axes.begin() + static_cast<std::ptrdiff_t>(level), axes.end() - 1);
      Axis k = contraction_.k;
      (innermost ? k : outer.front()).size -= done;
      LoopNest nest(program_);
      const std::vector<Tiling> loops = nest.open_each(outer, false);
      Tiling steps(k, tiles_.k);
      nest.open(steps, false);
      emit_step(rest, loops, steps, true);
    }
  }

  struct Free {
    const Tiling& tiling;
    std::span<const Axis> inner;
  };

  // [k, free] of an operand in SBUF, in the type of the tiles.
  Access load(const Location& operand, size_t position, const Block& block, std::span<const Tiling> steps,
              const Tiling& k, const Free& free) {
    Access from = access_at(operand, position, block.loops, {&k, &free.tiling});
    for (const Tiling& step : steps) advance(from, position, step);
    for (const Axis& axis : free.inner) from.pattern.push_back({.step = axis.steps[position], .size = axis.size});
    const char* name = position == Contraction::kLhs ? "stationary" : "moving";
    const Access loaded = tile(operand.view.dtype, k, free, name);
    program_.dma_copy(loaded, std::move(from));
    const DType dtype = tile_dtype(contraction_, operand.view.dtype);
    if (dtype == operand.view.dtype) return loaded;
    const Access converted = tile(dtype, k, free, name);
    program_.tensor_copy(converted, loaded);
    return converted;
  }

  Access tile(DType dtype, const Tiling& partitions, const Free& free, const char* name) {
    const int64_t inner = elements(free.inner);
    return with_inner(program_.sbuf(dtype, partitions.tile(), free.tiling.tile() * inner, 2, name), partitions,
                      free.tiling, inner);
  }

  // [partitions, free] of a tile that holds `inner` elements for each of the free dimension.
  Access with_inner(int32_t buffer, const Tiling& partitions, const Tiling& free, int64_t inner) const {
    if (inner == 1) return tile_of(program_, buffer, partitions, free);
    Access access = program_.tile(buffer, partitions.dimension(1), free.dimension(inner));
    access.pattern.push_back({.step = 1, .size = inner});
    return access;
  }

  Access sums_of(const Block& block, const Tiling& rows) const {
    Access sums = with_inner(block.sums, rows, block.columns, tiles_.inner);
    if (rows.loop() >= 0) sums.terms.push_back({.index = rows.loop(), .coefficient = tiles_.bank});
    return sums;
  }

  void emit_step(const Block& block, std::span<const Tiling> steps, const Tiling& k, bool accumulate) {
    const Access moving = load(block.rhs, Contraction::kRhs, block, steps, k, {block.columns, contraction_.inner});
    LoopNest nest(program_);
    Tiling rows(block.rows, tiles_.m);
    nest.open(rows, false);
    const Access stationary = load(block.lhs, Contraction::kLhs, block, steps, k, {rows, {}});
    program_.nc_matmul(sums_of(block, rows), stationary, moving, accumulate);
  }

  void emit_result(const Block& block) {
    LoopNest nest(program_);
    Tiling rows(block.rows, tiles_.m);
    nest.open(rows, false);
    const Access result = tile(contraction_.out.view.dtype, rows, {block.columns, contraction_.inner}, "result");
    program_.tensor_copy(result, sums_of(block, rows));
    Access to = access_at(block.out, Contraction::kOut, block.loops, {&rows, &block.columns});
    for (const Axis& axis : contraction_.inner) {
      to.pattern.push_back({.step = axis.steps[Contraction::kOut], .size = axis.size});
    }
    program_.dma_copy(std::move(to), result);
  }

  Builder& program_;
  const neuroncore::Machine& machine_;
  const Contraction contraction_;
  const Tiles tiles_;
};

}  // namespace

void emit_matmul(Emitter& emitter, Contraction contraction) {
  if (should_swap(contraction)) swap_operands(contraction);
  Matmul(emitter, std::move(contraction)).emit();
}

}  // namespace opentrn::compiler
