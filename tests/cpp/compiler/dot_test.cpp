// Contractions: values at the edges of tiles, and the structure of their programs.
#include <fstream>
#include <iterator>

#include "neuroncore/text.h"
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using neuroncore::Opcode;

struct Product {
  DType dtype = DType::F32;
  int64_t m = 1, n = 1, k = 1;
  bool lhs_transposed = false, rhs_transposed = false;
  int64_t batch = 0;  // 0: no batch dimension
  DType result = DType::F32;
};

Case product(const Product& p) {
  Dims lhs = p.lhs_transposed ? Dims{p.k, p.m} : Dims{p.m, p.k};
  Dims rhs = p.rhs_transposed ? Dims{p.n, p.k} : Dims{p.k, p.n};
  const int64_t first = p.batch > 0 ? 1 : 0;
  if (p.batch > 0) {
    lhs.insert(lhs.begin(), p.batch);
    rhs.insert(rhs.begin(), p.batch);
  }
  const Dims batching = p.batch > 0 ? Dims{0} : Dims{};
  const ir::DotAttributes dot{
      batching, batching, {first + (p.lhs_transposed ? 0 : 1)}, {first + (p.rhs_transposed ? 1 : 0)}};
  return Case(
      {ir::TensorType{p.dtype, lhs}, ir::TensorType{p.dtype, rhs}},
      [&](ir::Builder& b, const std::vector<ir::Value>& v) {
        return std::vector{b.dot_general(v[0], v[1], dot, p.result)};
      },
      small_whole);
}

TEST(Dot, TheDocumentationShowsTheProgramOfAProduct) {
  Case test = product({.dtype = DType::BF16, .m = 512, .n = 512, .k = 384, .result = DType::F32});
  test.module.graph.name = "matmul";
  const std::string program = neuroncore::print(compiled(test.module, neuroncore::machine("trn2")));
  std::ifstream file(std::string(OPENTRN_SOURCE_DIR) + "/docs/neuroncore.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_NE(page.find("```neuroncore\n" + program + "```"), std::string::npos) << program;
}

std::string text(const Product& p) {
  return concat(name(p.dtype), " ", p.m, "x", p.n, "x", p.k, p.lhs_transposed ? " lhs^T" : "",
                p.rhs_transposed ? " rhs^T" : "", " batch ", p.batch);
}

TEST(Dot, EdgesOfTiles) {
  for (const int64_t m : {1, 2, 64, 65, 127, 128, 129}) {
    for (const int64_t n : {1, 3, 511, 512, 513}) {
      for (const int64_t k : {1, 127, 128, 129, 257}) {
        const Product p{.m = m, .n = n, .k = k};
        expect_same_bytes(product(p), text(p));
      }
    }
  }
}

TEST(Dot, TallAndWideBlocks) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{512, 100, 40},
                                {513, 70, 130},
                                {1100, 70, 33},
                                {640, 600, 20},
                                {70, 1100, 33},
                                {5, 1100, 300},
                                {1100, 5, 300},
                                {300, 300, 300}}) {
    const Product p{.m = m, .n = n, .k = k};
    expect_same_bytes(product(p), text(p));
  }
}

TEST(Dot, Transpositions) {
  for (const bool lhs : {false, true}) {
    for (const bool rhs : {false, true}) {
      for (const int64_t batch : {0, 3}) {
        for (const int64_t m : {1, 4, 130}) {
          const Product p{.m = m, .n = 140, .k = 150, .lhs_transposed = lhs, .rhs_transposed = rhs, .batch = batch};
          expect_same_bytes(product(p), text(p));
        }
      }
    }
  }
}

TEST(Dot, ElementTypes) {
  const std::pair<DType, DType> types[] = {
      {DType::BF16, DType::BF16}, {DType::BF16, DType::F32},   {DType::F16, DType::F16},       {DType::F64, DType::F64},
      {DType::F32, DType::F64},   {DType::F8E5M2, DType::F32}, {DType::F8E4M3FN, DType::BF16}, {DType::I32, DType::I32},
      {DType::I8, DType::I32},    {DType::I64, DType::I64},    {DType::U8, DType::U8},         {DType::I16, DType::I64},
      {DType::C64, DType::C64},   {DType::C128, DType::C128}};
  for (const auto& [dtype, result] : types) {
    for (const int64_t m : {1, 3, 130}) {
      for (const bool transposed : {false, true}) {
        const Product p{.dtype = dtype, .m = m, .n = 70, .k = 140, .rhs_transposed = transposed, .result = result};
        expect_same_bytes(product(p), concat(text(p), " to ", name(result)));
      }
    }
  }
}

TEST(Dot, LongVectors) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::I32}) {
    for (const int64_t k : {2047, 2048, 2049, 5000, 140'000}) {
      const Product p{.dtype = dtype, .m = 1, .n = 1, .k = k, .result = dtype == DType::BF16 ? DType::F32 : dtype};
      expect_same_bytes(product(p), text(p));
    }
  }
  const Product rows{.m = 1, .n = 5, .k = 20'000, .rhs_transposed = true};
  expect_same_bytes(product(rows), text(rows));
}

TEST(Dot, NothingToSum) {
  for (const DType dtype : {DType::F32, DType::I64}) {
    const Product p{.dtype = dtype, .m = 3, .n = 5, .k = 0, .result = dtype};
    expect_same_bytes(product(p), text(p));
  }
}

TEST(Dot, ConversionRightAfterIsTheRoundingOfTheSums) {
  const Case test(
      {ir::TensorType{DType::BF16, {40, 130}}, ir::TensorType{DType::BF16, {130, 60}}},
      [](ir::Builder& b, const std::vector<ir::Value>& v) {
        const ir::Value sums = b.dot_general(v[0], v[1], {{}, {}, {1}, {0}}, DType::F32);
        return std::vector{b.convert(sums, DType::BF16)};
      },
      small_whole);
  expect_same_bytes(test, "bf16 product");
  const neuroncore::Program program = compiled(test.module);
  for (const neuroncore::Buffer& buffer : program.buffers) {
    EXPECT_FALSE(buffer.space == neuroncore::Space::Hbm && buffer.role == neuroncore::Role::Internal);
  }
}

TEST(Dot, StridedResultsAndBatches) {
  Case test(
      {ir::TensorType{DType::F32, {3, 2, 4, 5}}, ir::TensorType{DType::F32, {2, 5, 2, 3, 6}}},
      [](ir::Builder& b, const std::vector<ir::Value>& v) {
        return std::vector{b.dot_general(v[0], v[1], {{1}, {0}, {0, 3}, {3, 1}}, DType::F32)};
      },
      small_whole);
  expect_same_bytes(test, "two contracting dimensions in different orders");
  test.strides_of_result(0, {1, 2 * 12 * 2, 2 * 6 * 2, 4});
  expect_same_bytes(test, "strided result");
}

TEST(Dot, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t m, int64_t n, int64_t k) {
    return compiled(product({.m = m, .n = n, .k = k}).module).instructions.size();
  };
  EXPECT_EQ(instructions(1024, 1024, 1024), instructions(4096, 8192, 2048));
  EXPECT_LE(instructions(1000, 1000, 1000), size_t{16});
  EXPECT_EQ(instructions(8, 8, 8), size_t{5});  // two loads, product, copy out of PSUM, store
}

TEST(Dot, AVectorTimesAMatrixOfDenseRowsReadsThemAsTheyLie) {
  const neuroncore::Program program = compiled(product({.m = 1, .n = 300, .k = 500, .rhs_transposed = true}).module);
  EXPECT_EQ(count(program, Opcode::NcMatmul), 0);
  EXPECT_EQ(count(program, Opcode::TensorReduce), 1);
  const neuroncore::Program other = compiled(product({.m = 1, .n = 300, .k = 500}).module);
  EXPECT_EQ(count(other, Opcode::NcMatmul), 2);
}

TEST(Dot, LargeProductsHaveIndependentBlocks) {
  const neuroncore::Program program = compiled(product({.m = 512, .n = 512, .k = 512}).module);
  int64_t iterations = 1;
  for (const neuroncore::Loop& loop : program.loops) iterations *= loop.independent ? loop.count : 1;
  EXPECT_GE(iterations, 2);
}

}  // namespace

}  // namespace opentrn::compiler
