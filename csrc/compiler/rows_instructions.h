// The instructions of one nest: loads, steps and stores of every tile, and the reductions of what does not fit one
// tile.
#pragma once

#include <vector>

#include "compiler/rows_nest.h"

namespace opentrn::compiler::rows {

/// True for steps that go over the reduced dimensions of the run (and not over single elements).
bool is_reduction(const Description& description, const Step& step);

/// A nest to emit.
struct NestPlan {
  Emitter& emitter;
  const Description& description;
  const Nest& nest;
  int copies = 1;  // of the tiles that DMA fills or empties
};

/// All steps in order: every tile holds whole rows.
void emit_at_once(const NestPlan& plan);

/// The reductions of one stage, tile by tile: what comes before them, the data, and what is made of the sums.
void emit_staged(const NestPlan& plan);

/// Where a reduction's partial results lie in HBM, one for each piece of the data.
struct Partials {
  int32_t buffer = -1;
  int64_t pieces = 0;
};

/// The first half of `emit_staged`: the sums go to HBM, one for each piece. Dimension `piece` of the nest counts them.
void emit_partial(const NestPlan& plan, const std::vector<Partials>& partials, size_t piece, int64_t first_piece);
/// And the second.
void emit_combined(const NestPlan& plan, const std::vector<Partials>& partials, size_t piece);

/// Rows that are made of nothing.
void emit_without_data(const NestPlan& plan);

}  // namespace opentrn::compiler::rows
