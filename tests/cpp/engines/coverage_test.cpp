#include "engines/core/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/opcode.h"

namespace opentrn::engines::core {
namespace {

TEST(Coverage, EveryPrimitiveIsListed) {
  const std::vector<CoverageRow> rows = coverage(neuroncore::machine("trn2"));
  ASSERT_EQ(rows.size(), ir::catalogue().size());
  for (const CoverageRow& row : rows)
    EXPECT_TRUE(!row.tiles.empty() || !row.library.empty() || !row.note.empty()) << row.primitive;
}

// What must not need a library call; the others are sorting, random numbers, FFT and factorisations.
TEST(Coverage, LibraryCallsAreTheExceptions) {
  const std::vector<std::string_view> exceptions = {"chlo.bessel_i1e",
                                                    "chlo.next_after",
                                                    "stablehlo.cholesky",
                                                    "stablehlo.convolution",
                                                    "stablehlo.count_leading_zeros",
                                                    "stablehlo.fft",
                                                    "stablehlo.reduce_precision",
                                                    "stablehlo.rng_bit_generator",
                                                    "stablehlo.sort",
                                                    "stablehlo.triangular_solve"};
  for (const CoverageRow& row : coverage(neuroncore::machine("trn2"))) {
    if (std::find(exceptions.begin(), exceptions.end(), row.primitive) != exceptions.end()) continue;
    for (const DType dtype : {DType::F32, DType::BF16, DType::I64})
      EXPECT_EQ(std::count(row.library.begin(), row.library.end(), dtype), 0) << row.primitive << " " << name(dtype);
  }
}

}  // namespace
}  // namespace opentrn::engines::core
