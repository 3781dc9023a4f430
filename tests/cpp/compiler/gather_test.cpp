// Gather: rows, single elements, several index components, batches, starts that are moved.
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

/// Parameter 0 is the operand; the others hold indices in 0 .. limit - 1.
std::function<double(size_t, int64_t)> indices_below(int64_t limit) {
  return [limit](size_t p, int64_t i) {
    return p == 0 ? static_cast<double>(i % 1009)
                  : static_cast<double>((i * 37 + 11 * static_cast<int64_t>(p)) % limit);
  };
}

ir::GatherAttributes rows_of(int64_t columns) {
  return {.offset_dims = {1},
          .collapsed_slice_dims = {0},
          .operand_batching_dims = {},
          .start_indices_batching_dims = {},
          .start_index_map = {0},
          .index_vector_dim = 1,
          .slice_sizes = {1, columns}};
}

Case rows(DType dtype, DType index, int64_t count, int64_t columns) {
  return Case(
      {TensorType{dtype, {50, columns}}, TensorType{index, {count}}},
      [&](ir::Builder& b, const Values& v) { return Values{b.gather(v[0], v[1], rows_of(columns))}; },
      indices_below(50));
}

TEST(Gather, Rows) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::U8, DType::I64}) {
    for (const int64_t count : {0, 1, 127, 128, 129, 300}) {
      for (const int64_t columns : {1, 15, 16, 64, 513}) {
        expect_same_bytes(rows(dtype, DType::I64, count, columns), concat(name(dtype), " ", count, " of ", columns));
      }
    }
  }
  expect_same_bytes(rows(DType::F32, DType::I64, 3, 40'000), "long rows");
  expect_same_bytes(rows(DType::F32, DType::I64, 5000, 2), "many short rows");
}

TEST(Gather, IndexTypes) {
  for (const DType index : {DType::I32, DType::I64}) {
    expect_same_bytes(rows(DType::F32, index, 40, 20), std::string(name(index)));
  }
}

TEST(Gather, StartsAreMovedToWhereTheWindowFits) {
  const Case test(
      {TensorType{DType::F32, {10, 20}}, TensorType{DType::I64, {9, 2}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.gather(v[0], v[1],
                               {.offset_dims = {1, 2},
                                .collapsed_slice_dims = {},
                                .operand_batching_dims = {},
                                .start_indices_batching_dims = {},
                                .start_index_map = {1, 0},
                                .index_vector_dim = 1,
                                .slice_sizes = {3, 7}})};
      },
      [](size_t p, int64_t i) { return p == 0 ? static_cast<double>(i) : static_cast<double>(i * 5 - 30); });
  expect_same_bytes(test, "windows of 3x7");
}

TEST(Gather, ElementsAlongADimension) {
  for (const int64_t dim : {0, 1}) {
    for (const Dims& shape : {Dims{5, 7}, Dims{130, 1030}, Dims{1, 3000}, Dims{300, 1}}) {
      const Dims others = dim == 0 ? Dims{1} : Dims{0};
      const int64_t limit = shape[static_cast<size_t>(dim)];
      const Case test(
          {TensorType{DType::F32, shape}, TensorType{DType::I64, shape}},
          [&](ir::Builder& b, const Values& v) {
            return Values{b.gather(v[0], v[1],
                                   {.offset_dims = {},
                                    .collapsed_slice_dims = {dim},
                                    .operand_batching_dims = others,
                                    .start_indices_batching_dims = others,
                                    .start_index_map = {dim},
                                    .index_vector_dim = 2,
                                    .slice_sizes = {1, 1}})};
          },
          indices_below(limit));
      expect_same_bytes(test, concat("dimension ", dim, " of ", to_string(shape)));
    }
  }
}

TEST(Gather, SeveralComponents) {
  for (const DType index : {DType::I64, DType::I32}) {
    const Case test(
        {TensorType{DType::BF16, {6, 9, 4}}, TensorType{index, {200, 2}}},
        [](ir::Builder& b, const Values& v) {
          return Values{b.gather(v[0], v[1],
                                 {.offset_dims = {1},
                                  .collapsed_slice_dims = {0, 2},
                                  .operand_batching_dims = {},
                                  .start_indices_batching_dims = {},
                                  .start_index_map = {2, 0},
                                  .index_vector_dim = 1,
                                  .slice_sizes = {1, 9, 1}})};
        },
        indices_below(7));
    expect_same_bytes(test, std::string(name(index)));
  }
}

TEST(Gather, OfTransposedAndReversedOperands) {
  const Case test(
      {TensorType{DType::F32, {30, 50}}, TensorType{DType::I64, {70}}},
      [](ir::Builder& b, const Values& v) {
        return Values{b.gather(b.reverse(b.transpose(v[0], {1, 0}), {0, 1}), v[1], rows_of(30))};
      },
      indices_below(50));
  expect_same_bytes(test, "reversed and transposed");
}

TEST(Gather, CheckedIndicesAreNotMoved) {
  const auto clamps = [](bool checked) {
    const Case test(
        {TensorType{DType::F32, {50, 64}}, TensorType{DType::I64, {70}}},
        [&](ir::Builder& b, const Values& v) {
          const ir::Value index = checked ? b.checked_index(v[1], 50, 0, "embedding") : v[1];
          return Values{b.gather(v[0], index, rows_of(64))};
        },
        indices_below(50));
    expect_same_bytes(test, checked ? "checked" : "unchecked");
    return count(compiled(test.module), Opcode::TensorScalar);
  };
  EXPECT_EQ(clamps(true), 0);
  EXPECT_EQ(clamps(false), 1);
}

TEST(Gather, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t count) {
    return compiled(rows(DType::F32, DType::I64, count, 64).module).instructions.size();
  };
  EXPECT_EQ(instructions(3), instructions(30'000));
}

}  // namespace

}  // namespace opentrn::compiler
