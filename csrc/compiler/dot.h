// Contractions as the programs see them: loops over batched products of two matrices.
#pragma once

#include <vector>

#include "compiler/tiling.h"

namespace opentrn::compiler {

/// out[m, n, inner] = sum over k and all of `more` of lhs[m, k, more] * rhs[n, inner, k, more] for every iteration of
/// `loops`. Steps are those of out, lhs, rhs.
struct Contraction {
  static constexpr size_t kOut = 0, kLhs = 1, kRhs = 2;

  Location lhs, rhs, out;
  DType accumulator = DType::F32;
  std::vector<Axis> loops;
  Axis m, n, k;
  std::vector<Axis> inner;  // columns that every tile holds whole, for the Tensor engine only
  std::vector<Axis> more;   // contracted as well, for the Tensor engine only

  int64_t multiplications() const {
    return elements(loops) * m.size * n.size * elements(inner) * k.size * elements(more);
  }
};

/// Exchanges the operands, and with them rows and columns of the result.
void swap_operands(Contraction& contraction);

/// Tiles of the Tensor engine, accumulated in PSUM. For accumulators F32 and F64.
void emit_matmul(Emitter& emitter, Contraction contraction);

/// Rows on partitions, multiplied element by element and summed: vectors, integers, complex numbers.
void emit_row_dots(Emitter& emitter, Contraction contraction);

}  // namespace opentrn::compiler
