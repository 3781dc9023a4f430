// tensor_reduce, tensor_partition_reduce, activation_reduce, tensor_tensor_scan: against plain loops.
#include <cmath>

#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

const DType kTypes[] = {DType::F32, DType::BF16, DType::I32, DType::I64, DType::F64};

class ReduceTypes : public testing::TestWithParam<DType> {};

TEST_P(ReduceTypes, TrailingDimensions) {
  const DType dtype = GetParam();
  const DType sum_type = dtype == DType::BF16 ? DType::F32 : dtype;
  for (const int64_t n : {1, 7, 32, 33, 1024, 1025, 3000}) {
    for (const AluOp op : {AluOp::Add, AluOp::Max, AluOp::Min}) {
      const int64_t partitions = n > 1000 ? 3 : 128;
      const TileShape in{dtype, partitions, 2 * n};
      const TileShape out{sum_type, partitions, 2};
      const Memory a = numbers(dtype, in.size(), 1);
      const Program program = on_tiles({out}, {in}, [&](Builder& builder, auto& o, auto& i) {
        Access rows = i[0];
        rows.pattern = {{.step = 1, .size = partitions}, {.step = n, .size = 2}, {.step = 1, .size = n}};
        builder.tensor_reduce(o[0], op, rows, 1);
      });
      const auto results = run_on_tiles(program, {a}, {Memory(sum_type, out.size())});
      for (int64_t row = 0; row < out.size(); ++row) {
        double expected = a.at(row * n);
        for (int64_t i = 1; i < n; ++i) {
          const double value = a.at(row * n + i);
          expected = op == AluOp::Add   ? expected + value
                     : op == AluOp::Max ? std::max(expected, value)
                                        : std::min(expected, value);
        }
        ASSERT_EQ(results[0].at(row), expected) << info(op).name << " of " << n << ", row " << row;
      }
    }
  }
}

TEST_P(ReduceTypes, StridedDimensions) {
  const DType dtype = GetParam();
  const int64_t rows = 37, columns = 50;
  const TileShape in{dtype, 5, rows * columns};
  const TileShape out{dtype, 5, columns};
  const Memory a = numbers(dtype, in.size(), 1);
  const Program program = on_tiles({out}, {in}, [&](Builder& builder, auto& o, auto& i) {
    Access swapped = i[0];
    swapped.pattern = {{.step = 1, .size = 5}, {.step = 1, .size = columns}, {.step = columns, .size = rows}};
    builder.tensor_reduce(o[0], AluOp::Max, swapped, 1);
  });
  const auto results = run_on_tiles(program, {a}, {Memory(dtype, out.size())});
  for (int64_t p = 0; p < 5; ++p) {
    for (int64_t c = 0; c < columns; ++c) {
      double expected = a.at(p * rows * columns + c);
      for (int64_t r = 1; r < rows; ++r) expected = std::max(expected, a.at((p * rows + r) * columns + c));
      ASSERT_EQ(results[0].at(p * columns + c), expected);
    }
  }
}

TEST_P(ReduceTypes, Partitions) {
  const DType dtype = GetParam();
  for (const int64_t partitions : {1, 31, 128}) {
    const TileShape in{dtype, partitions, 70};
    const TileShape out{dtype, 1, 70};
    const Memory a = numbers(dtype, in.size(), 1);
    const Program program = on_tiles({out}, {in}, [&](Builder& builder, auto& o, auto& i) {
      builder.tensor_partition_reduce(o[0], AluOp::Max, i[0]);
    });
    const auto results = run_on_tiles(program, {a}, {Memory(dtype, 70)});
    for (int64_t c = 0; c < 70; ++c) {
      double expected = a.at(c);
      for (int64_t p = 1; p < partitions; ++p) expected = std::max(expected, a.at(p * 70 + c));
      ASSERT_EQ(results[0].at(c), expected);
    }
  }
}

TEST_P(ReduceTypes, Scan) {
  const DType dtype = GetParam();
  for (const int64_t n : {1, 5, 300, 1000}) {
    const TileShape shape{dtype, 9, n};
    const TileShape column{dtype, 9, 1};
    const Memory a = numbers(dtype, shape.size(), 1);
    Memory ones(dtype, shape.size());
    for (int64_t i = 0; i < shape.size(); ++i) ones.set(i, i % 3 == 0 ? 1 : 0);
    const Memory initial = numbers(dtype, 9, 3);
    const Program program = on_tiles({shape}, {shape, shape, column}, [&](Builder& builder, auto& o, auto& i) {
      builder.tensor_tensor_scan(o[0], i[0], i[1], i[2], AluOp::Multiply, AluOp::Add);
    });
    const auto results = run_on_tiles(program, {ones, a, initial}, {Memory(dtype, shape.size())});
    for (int64_t p = 0; p < 9; ++p) {
      double state = initial.at(p);
      for (int64_t i = 0; i < n; ++i) {
        state = ones.at(p * n + i) * state + a.at(p * n + i);
        ASSERT_EQ(results[0].at(p * n + i), state) << p << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReduceTypes, testing::ValuesIn(kTypes),
                         [](const auto& test) { return std::string(opentrn::info(test.param).torch_name); });

TEST(EmulatorReduce, ActivationReduceSumsWhatItWrites) {
  for (const int64_t n : {1, 40, 1023, 1024, 2500}) {
    const TileShape shape{DType::BF16, 6, n};
    const TileShape sum{DType::F32, 6, 1};
    const Memory a = numbers(DType::BF16, shape.size(), 1);
    const Program program = on_tiles({shape, sum}, {shape}, [&](Builder& builder, auto& o, auto& i) {
      builder.activation_reduce(o[0], o[1], ActivationFunction::Square, i[0], immediate(DType::F32, 0.5));
    });
    const auto results = run_on_tiles(program, {a}, {Memory(DType::BF16, shape.size()), Memory(DType::F32, 6)});
    for (int64_t p = 0; p < 6; ++p) {
      double expected = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double value = a.at(p * n + i) / 2;
        ASSERT_EQ(results[0].at(p * n + i), value * value);
        expected += value * value;
      }
      ASSERT_EQ(results[1].at(p), expected) << n;
    }
  }
}

TEST(EmulatorReduce, SubtractionTakesTheRestFromTheFirst) {
  const TileShape in{DType::F32, 2, 40};
  const Memory a = numbers(DType::F32, 80, 1);
  const Program program = on_tiles({{DType::F32, 2, 1}}, {in}, [&](Builder& builder, auto& o, auto& i) {
    builder.tensor_reduce(o[0], AluOp::Subtract, i[0], 1);
  });
  const auto results = run_on_tiles(program, {a}, {Memory(DType::F32, 2)});
  for (int64_t p = 0; p < 2; ++p) {
    double expected = a.at(p * 40);
    for (int64_t i = 1; i < 40; ++i) expected -= a.at(p * 40 + i);
    EXPECT_EQ(results[0].at(p), expected);
  }
}

// The reduced dimension is the outermost one in HBM: elements of one sum lie far apart, sums side by side.
TEST(EmulatorReduce, ColumnsOfAMatrix) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32}) {
    for (const AluOp op : {AluOp::Add, AluOp::Max, AluOp::Multiply}) {
      for (const int64_t rows : {1, 31, 64, 1024, 1100}) {
        const int64_t columns = 100;
        Builder b("columns", "trn2");
        const int32_t in = b.parameter(0, dtype, rows * columns);
        const DType sum = dtype == DType::BF16 ? DType::F32 : dtype;
        const int32_t out = b.result(0, sum, columns);
        const int32_t tile = b.sbuf(dtype, columns, rows);
        const int32_t sums = b.sbuf(sum, columns, 1);
        b.dma_copy(b.tile(tile),
                   b.hbm_access(in, 0, {}, {{.step = 1, .size = columns}, {.step = columns, .size = rows}}));
        b.tensor_reduce(b.tile(sums), op, b.tile(tile), 1, Engine::GpSimd).negate = rows == 31;
        b.dma_copy(b.hbm_access(out, 0, {}, {{.step = 1, .size = columns}, {.step = 1, .size = 1}}), b.tile(sums));
        Memory a = numbers(dtype, rows * columns, 1);
        if (op == AluOp::Multiply) {
          for (int64_t i = 0; i < a.size(); ++i) a.set(i, i < columns ? -3 : i % 7 == 0 ? -1 : 1);
        }
        const auto results = run_all(b.finish(), {a}, {Memory(sum, columns)});
        for (int64_t c = 0; c < columns; ++c) {
          double expected = a.at(c);
          for (int64_t r = 1; r < rows; ++r) {
            const double value = a.at(r * columns + c);
            expected = op == AluOp::Add   ? expected + value
                       : op == AluOp::Max ? std::max(expected, value)
                                          : expected * value;
          }
          ASSERT_EQ(results[0].at(c), rows == 31 ? -expected : expected)
              << name(dtype) << " " << info(op).name << " " << c;
        }
      }
    }
  }
}

TEST(EmulatorReduce, SumsOfColumnsRoundAsSumsOfRowsDo) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const int64_t rows : {33, 1000, 2100}) {
      const int64_t columns = 90;
      Builder b("columns", "trn2");
      const int32_t in = b.parameter(0, dtype, rows * columns);
      const int32_t out = b.result(0, DType::F32, columns);
      const int32_t tile = b.sbuf(dtype, columns, rows);
      const int32_t sums = b.sbuf(DType::F32, columns, 1);
      b.dma_copy(b.tile(tile),
                 b.hbm_access(in, 0, {}, {{.step = 1, .size = columns}, {.step = columns, .size = rows}}));
      b.tensor_reduce(b.tile(sums), AluOp::Add, b.tile(tile), 1);
      b.dma_copy(b.hbm_access(out, 0, {}, {{.step = 1, .size = columns}, {.step = 1, .size = 1}}), b.tile(sums));
      Memory a(dtype, rows * columns);
      for (int64_t i = 0; i < a.size(); ++i) a.set(i, std::sin(static_cast<double>(i)) * std::exp2(i % 20));
      const auto results = run_all(b.finish(), {a}, {Memory(DType::F32, columns)});
      for (int64_t c = 0; c < columns; ++c) {
        double expected = 0, size = 0;
        for (int64_t r = 0; r < rows; ++r) {
          expected += a.at(r * columns + c);
          size += std::abs(a.at(r * columns + c));
        }
        ASSERT_NEAR(results[0].at(c), expected, size * 1e-7);
      }
    }
  }
}

TEST(EmulatorReduce, ProductsThatAreOnlySummed) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const int64_t n : {2, 33, 1024, 3000}) {
      const int64_t rows = 130;
      Builder b("dot", "trn2");
      const int32_t in = b.parameter(0, dtype, rows * n);
      const int32_t vector = b.parameter(1, dtype, n);
      const int32_t out = b.result(0, DType::F32, rows);
      const int32_t loop = b.begin_loop(2, true);
      const PatternDimension partitions{.step = 1, .size = 128, .tail_loop = loop, .tail = rows - 128};
      PatternDimension hbm_rows = partitions, repeated = partitions;
      hbm_rows.step = n;
      repeated.step = 0;
      const PatternDimension free{.step = 1, .size = n}, one{.step = 1, .size = 1};
      const int32_t x = b.sbuf(dtype, 128, n), y = b.sbuf(dtype, 128, n);
      const int32_t products = b.sbuf(DType::F32, 128, n), sums = b.sbuf(DType::F32, 128, 1);
      b.dma_copy(b.tile(x, partitions, free),
                 b.hbm_access(in, 0, {{.index = loop, .coefficient = 128 * n}}, {hbm_rows, free}));
      b.dma_copy(b.tile(y, partitions, free), b.hbm_access(vector, 0, {}, {repeated, free}));
      b.tensor_tensor(b.tile(products, partitions, free), b.tile(x, partitions, free), b.tile(y, partitions, free),
                      AluOp::Multiply);
      b.tensor_reduce(b.tile(sums, partitions, one), AluOp::Add, b.tile(products, partitions, free), 1);
      b.dma_copy(b.hbm_access(out, 0, {{.index = loop, .coefficient = 128}}, {partitions, one}),
                 b.tile(sums, partitions, one));
      b.end_loop();
      Memory a(dtype, rows * n), v(dtype, n);  // products and sums that have to be rounded
      for (int64_t i = 0; i < a.size(); ++i) a.set(i, std::sin(static_cast<double>(i)));
      for (int64_t i = 0; i < n; ++i) v.set(i, std::cos(static_cast<double>(3 * i)));
      const auto results = run_all(b.finish(), {a, v}, {Memory(DType::F32, rows)});
      for (int64_t r = 0; r < rows; ++r) {
        double expected = 0;
        for (int64_t i = 0; i < n; ++i) expected += a.at(r * n + i) * v.at(i);
        ASSERT_NEAR(results[0].at(r), expected, 1e-4);
      }
    }
  }
}

TEST(EmulatorReduce, NothingGivesTheNeutralElement) {
  const Program program = on_tiles({{DType::F32, 3, 2}}, {{DType::F32, 3, 4}}, [&](Builder& builder, auto& o, auto& i) {
    Access none = i[0];
    none.pattern = {{.step = 1, .size = 3}, {.step = 1, .size = 2}, {.step = 1, .size = 0}};
    builder.tensor_reduce(o[0], AluOp::Max, none, 1);
  });
  const auto results = run_on_tiles(program, {numbers(DType::F32, 12)}, {Memory(DType::F32, 6)});
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(results[0].at(i), -INFINITY);
}

}  // namespace
}  // namespace opentrn::neuroncore
