// Whole matrix products: the instructions of one block of a result, from the first step of the contraction to the copy
// out of PSUM, as one kernel that packs each operand once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "neuroncore/emulator/operand.h"
#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

/// out[m, n] = sum over k of stationary[k, m] * moving[k, n], in chunks of k that are summed by themselves.
struct Product {
  Access stationary, moving, out;
  int64_t chunk = 0;
  int64_t multiplications = 0;
  size_t statements = 0;              // of the body that holds the product
  std::vector<int32_t> instructions;  // that the product stands for
};

/// The product that begins with the first of some statements. `uses`: by buffer, how many operands of the program are
/// accesses to it.
std::optional<Product> find_product(const Program& program, const std::vector<int32_t>& uses,
                                    std::span<const Statement> statements);

/// Operands resolved as for any other instruction.
struct ProductOperands {
  Operand stationary, moving, out;
};

/// How many pieces of rows or columns a product can be given to threads in.
int64_t product_pieces(const ProductOperands& operands);

/// The "partitions" of a frame are pieces.
Kernel prepare_product(const ProductOperands& operands, int64_t chunk);

}  // namespace opentrn::neuroncore::emulator
