// Batched matrix products C[m, n] = sum over k of A[m, k] B[n, k], any strides: what every contraction is brought to.
#pragma once

#include "engines/reference/nest.h"

namespace opentrn::engines::reference {

struct MatrixProduct {
  int64_t m = 1, n = 1, k = 1;
  DType a = DType::F32, b = DType::F32, c = DType::F32;
  int64_t a_m = 0, a_k = 0, b_n = 0, b_k = 0, c_m = 0, c_n = 0;  // strides in elements
  Nest batches;                                                  // steps of C, A, B
  DType accumulator = DType::F32;  // F32, F64, C128, or an integer type of the result's width
};

struct MatrixAddresses {
  std::byte* c;
  const std::byte* a;
  const std::byte* b;
};

/// Exchanges A and B, and with them the rows and columns of C.
void transpose_product(MatrixProduct& product, MatrixAddresses& addresses);

/// The addresses of one product of the batch.
MatrixAddresses batch_addresses(const MatrixProduct& product, const MatrixAddresses& first, int64_t batch);

/// Few rows of A against a large B, read once as it lies in memory. Accumulates in float32.
inline constexpr int64_t kFewRows = 16;       // where k is contiguous in B
inline constexpr int64_t kFewRowsAcross = 4;  // where the columns are
bool few_rows_apply(const MatrixProduct& product);
void few_rows_product(const MatrixProduct& product, const MatrixAddresses& addresses);

/// Blocks packed into panels, multiplied tile by tile. Accumulates in float32 or float64.
void blocked_product(const MatrixProduct& product, const MatrixAddresses& addresses);

/// Plain dot products of packed rows, for integers and complex numbers.
void plain_product(const MatrixProduct& product, const MatrixAddresses& addresses);

}  // namespace opentrn::engines::reference
