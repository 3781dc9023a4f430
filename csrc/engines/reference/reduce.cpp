// Reductions over any dimensions: along memory where the reduced dimensions lie innermost, row upon row where the kept
// ones do.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "engines/reference/buffer.h"
#include "engines/reference/folder.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

namespace {

constexpr int64_t kMostRowAccumulators = 1024;
constexpr int64_t kFewOutputs = 8;  // fewer results than this: the reduced elements are split over the threads instead
constexpr int64_t kMostPieces =
    64;  // of a split reduction; depends on sizes alone, so that sums do not depend on threads

struct Reduction {
  Folder folder;
  Nest kept;     // steps of the operand, then of the result
  Nest reduced;  // steps of the operand
};

View select_dimensions(const View& view, const std::vector<bool>& selected, bool value) {
  View part{view.dtype, {}, {}, 0};
  for (size_t i = 0; i < selected.size(); ++i) {
    if (selected[i] != value) continue;
    part.shape.push_back(view.shape[i]);
    part.strides.push_back(view.strides[i]);
  }
  return part;
}

Reduction make_reduction(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::ReduceAttributes>();
  const View& operand = problem.operands[0];
  std::vector<bool> is_reduced(operand.shape.size(), false);
  for (const int64_t dimension : attributes.dimensions) is_reduced[static_cast<size_t>(dimension)] = true;
  const View kept = select_dimensions(operand, is_reduced, false);
  const View reduced = select_dimensions(operand, is_reduced, true);
  const std::array<const View*, 2> kept_views{&kept, &problem.results[0]};
  const std::array<const View*, 1> reduced_views{&reduced};
  return {Folder(attributes.reducer, operand.dtype), make_nest(kept_views), make_nest(reduced_views)};
}

void fold_nest(const Reduction& reduction, std::byte* from, std::byte* accumulator) {
  run_sequential(reduction.reduced, {from}, [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
    reduction.folder.fold(n, pointers[0], steps[0], accumulator);
  });
}

// Every result on its own.
void reduce_along(const Reduction& reduction, std::byte* operand, const std::byte* initial, std::byte* result) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, reduction.reduced.elements));
  run_parallel(reduction.kept, {operand, result}, grain,
               [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                 for (int64_t i = 0; i < n; ++i) {
                   alignas(16) std::byte accumulator[kMaxAccumulator];
                   reduction.folder.start(initial, accumulator);
                   fold_nest(reduction, pointers[0] + i * steps[0], accumulator);
                   reduction.folder.finish(1, accumulator, pointers[1] + i * steps[1], 0);
                 }
               });
}

// One result from piece `piece` of `pieces` of the reduced elements.
void fold_piece(const Reduction& reduction, std::byte* from, int64_t piece, int64_t pieces, std::byte* accumulator) {
  const LoopDimension& inner = reduction.reduced.dimensions[0];
  const int64_t rows = reduction.reduced.elements / inner.size;
  const int64_t count = rows > 1 ? rows : inner.size;
  const int64_t begin = count * piece / pieces;
  const int64_t end = count * (piece + 1) / pieces;
  if (rows == 1) return reduction.folder.fold(end - begin, from + begin * inner.steps[0], inner.steps[0], accumulator);
  detail::run_rows(reduction.reduced, {from}, begin, end,
                   [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                     reduction.folder.fold(n, pointers[0], steps[0], accumulator);
                   });
}

// Few results of many elements: pieces in parallel, merged in order.
void reduce_split(const Reduction& reduction, std::byte* operand, const std::byte* initial, std::byte* result) {
  const int64_t pieces = std::clamp<int64_t>(reduction.reduced.elements / kGrain, 1, kMostPieces);
  const int64_t size = reduction.folder.accumulator_size();
  run_sequential(reduction.kept, {operand, result}, [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
    for (int64_t i = 0; i < n; ++i) {
      alignas(16) std::byte partial[kMostPieces * kMaxAccumulator];
      std::byte* from = pointers[0] + i * steps[0];
      parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece) {
          reduction.folder.neutral(partial + piece * size);
          fold_piece(reduction, from, piece, pieces, partial + piece * size);
        }
      });
      alignas(16) std::byte accumulator[kMaxAccumulator];
      reduction.folder.start(initial, accumulator);
      for (int64_t piece = 0; piece < pieces; ++piece) reduction.folder.merge(1, partial + piece * size, accumulator);
      reduction.folder.finish(1, accumulator, pointers[1] + i * steps[1], 0);
    }
  });
}

// `count` neighbouring results at once, row upon row.
void reduce_rows(const Reduction& reduction, std::byte* from, const std::byte* initial, std::byte* to, int64_t count) {
  alignas(64) std::byte accumulators[kMostRowAccumulators * kMaxAccumulator];
  const int64_t size = reduction.folder.accumulator_size();
  reduction.folder.start(initial, accumulators);
  for (int64_t i = 1; i < count; ++i) std::copy_n(accumulators, size, accumulators + i * size);
  const Steps& steps = reduction.kept.dimensions[0].steps;
  run_sequential(reduction.reduced, {from}, [&](int64_t n, std::byte* const* pointers, const int64_t* reduced_steps) {
    for (int64_t i = 0; i < n; ++i) {
      reduction.folder.fold_each(count, pointers[0] + i * reduced_steps[0], steps[0], accumulators);
    }
  });
  reduction.folder.finish(count, accumulators, to, steps[1]);
}

void reduce_across(const Reduction& reduction, std::byte* operand, const std::byte* initial, std::byte* result) {
  const LoopDimension& inner = reduction.kept.dimensions[0];
  const int64_t block = std::clamp<int64_t>((inner.size / 4 + 63) / 64 * 64, 64, kMostRowAccumulators);
  const int64_t blocks = (inner.size + block - 1) / block;
  const int64_t rows = reduction.kept.elements / inner.size;
  const int64_t work = std::min(block, inner.size) * reduction.reduced.elements;
  parallel_for(0, rows * blocks, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % blocks * block;
      const Steps offset = offset_at(reduction.kept, task / blocks * inner.size + first);
      reduce_rows(reduction, operand + offset[0], initial, result + offset[1], std::min(block, inner.size - first));
    }
  });
}

bool kept_lies_innermost(const Reduction& reduction) {
  if (reduction.reduced.elements <= 1 || reduction.kept.dimensions[0].size == 1) return false;
  const int64_t kept = std::abs(reduction.kept.dimensions[0].steps[0]);
  return kept < std::abs(reduction.reduced.dimensions[0].steps[0]);
}

}  // namespace

Kernel reduce_kernel(const Problem& problem) {
  const Reduction reduction = make_reduction(problem);
  if (reduction.kept.elements == 0) return [](std::byte* const*, std::byte* const*) {};
  const bool across = kept_lies_innermost(reduction);
  const bool split = reduction.kept.elements < kFewOutputs && reduction.reduced.elements > 2 * kGrain;
  return [=](std::byte* const* operands, std::byte* const* results) {
    if (split) return reduce_split(reduction, operands[0], operands[1], results[0]);
    if (across) return reduce_across(reduction, operands[0], operands[1], results[0]);
    reduce_along(reduction, operands[0], operands[1], results[0]);
  };
}

}  // namespace opentrn::engines::reference
