// The emulator as a whole: loops, tails, threads, programs in place, copies left out, check mode.
#include "neuroncore/emulator.h"

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

PatternDimension dimension(int64_t step, int64_t size) { return {.step = step, .size = size}; }

// Threads of the pool whatever the machine has.
class Emulation : public testing::Test {
 protected:
  void SetUp() override { setenv("OPENTRN_NUM_THREADS", "4", 1); }
  void TearDown() override { unsetenv("OPENTRN_NUM_THREADS"); }
};

// result = a + b in tiles of `partitions` rows of `width`, the last row of tiles and the last column of tiles shorter.
Program addition(int64_t rows, int64_t columns, int64_t partitions, int64_t width, DType dtype = DType::F32) {
  Builder b("add", "trn2");
  const int32_t left = b.parameter(0, dtype, rows * columns);
  const int32_t right = b.parameter(1, dtype, rows * columns);
  const int32_t out = b.result(0, dtype, rows * columns);
  b.share(0, 0);
  const int64_t row_tiles = (rows + partitions - 1) / partitions;
  const int64_t column_tiles = (columns + width - 1) / width;
  const int32_t i = b.begin_loop(row_tiles, true);
  const int32_t j = b.begin_loop(column_tiles, true);
  const PatternDimension tile_rows{
      .step = 1, .size = partitions, .tail_loop = i, .tail = rows - (row_tiles - 1) * partitions};
  const PatternDimension tile_columns{
      .step = 1, .size = width, .tail_loop = j, .tail = columns - (column_tiles - 1) * width};
  PatternDimension hbm_rows = tile_rows;
  hbm_rows.step = columns;
  const std::vector<Term> terms{{.index = i, .coefficient = partitions * columns}, {.index = j, .coefficient = width}};
  const auto tile = [&](int32_t buffer) { return b.tile(buffer, tile_rows, tile_columns); };
  const auto hbm = [&](int32_t buffer) { return b.hbm_access(buffer, 0, terms, {hbm_rows, tile_columns}); };
  const int32_t x = b.sbuf(dtype, partitions, width);
  const int32_t y = b.sbuf(dtype, partitions, width);
  const int32_t z = b.sbuf(dtype, partitions, width);
  b.dma_copy(tile(x), hbm(left));
  b.dma_copy(tile(y), hbm(right));
  b.tensor_tensor(tile(z), tile(x), tile(y), AluOp::Add);
  b.dma_copy(hbm(out), tile(z));
  b.end_loop();
  b.end_loop();
  return b.finish();
}

TEST_F(Emulation, TilesEndAtEdges) {
  for (const int64_t rows : {1, 127, 128, 129, 400}) {
    for (const int64_t columns : {1, 63, 64, 65, 300}) {
      const Memory a = numbers(DType::F32, rows * columns, 1);
      const Memory b = numbers(DType::F32, rows * columns, 2);
      const auto results = run_all(addition(rows, columns, 128, 64), {a, b}, {Memory(DType::F32, rows * columns)});
      for (int64_t i = 0; i < rows * columns; ++i)
        ASSERT_EQ(results[0].as<float>()[i], a.as<float>()[i] + b.as<float>()[i]) << rows << " " << columns << " " << i;
    }
  }
}

TEST_F(Emulation, ResultsMayLieInTheMemoryOfAParameter) {
  for (const Mode& mode : kModes) {
    Memory a = numbers(DType::F32, 400 * 300, 1);
    const Memory before = a;
    const Memory b = numbers(DType::F32, 400 * 300, 2);
    const Program program = addition(400, 300, 128, 64);
    const Emulator emulator(program, machine("trn2"), mode.options);
    const void* in[] = {a.bytes.data(), b.bytes.data()};
    void* out[] = {a.bytes.data()};
    emulator.run(in, out);
    for (int64_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(a.as<float>()[i], before.as<float>()[i] + b.as<float>()[i]) << mode.name;
  }
}

// Statements of the body itself, one tile: load, add 1, store. `columns`: the matrix is walked the other way round,
// which makes the load a copy.
Program increment(int64_t partitions, int64_t elements, bool columns = false) {
  Builder b("increment", "trn2");
  const int32_t in = b.parameter(0, DType::F32, partitions * elements);
  const int32_t out = b.result(0, DType::F32, partitions * elements);
  std::vector<PatternDimension> rows{dimension(elements, partitions), dimension(1, elements)};
  if (columns) rows = {dimension(1, partitions), dimension(partitions, elements)};
  const int32_t x = b.sbuf(DType::F32, partitions, elements);
  const int32_t y = b.sbuf(DType::F32, partitions, elements);
  b.dma_copy(b.tile(x), b.hbm_access(in, 0, {}, rows));
  b.tensor_scalar(b.tile(y), b.tile(x), AluOp::Add, immediate(DType::F32, 1.0));
  b.dma_copy(b.hbm_access(out, 0, {}, rows), b.tile(y));
  return b.finish();
}

TEST_F(Emulation, MemoryThatOverlapsInOtherWaysIsReadBeforeItIsWritten) {
  for (const int64_t shift : {1, 5, 64, -1, -70, 1001, -1002}) {
    const bool columns = shift % 7 == 0;
    for (const Mode& mode : kModes) {
      const int64_t n = 128 * 200;
      Memory memory = numbers(DType::F32, n + 2200, 3);
      const Memory before = memory;
      float* in = memory.as<float>() + 1100;
      const void* parameters[] = {in};
      void* results[] = {in + shift};
      Emulator(increment(128, 200, columns), machine("trn2"), mode.options).run(parameters, results);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(in[shift + i], before.as<float>()[1100 + i] + 1) << mode.name << " shift " << shift << " at " << i;
    }
  }
}

TEST_F(Emulation, ATileOutlivesItsSource) {
  // The loaded tile is used after its memory was overwritten.
  Builder b("outlive", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 8);
  const int32_t memory = b.hbm(DType::F32, 8);
  const int32_t out = b.result(0, DType::F32, 8);
  const auto whole = [&](int32_t buffer) { return b.hbm_access(buffer, 0, {}, {dimension(8, 1), dimension(1, 8)}); };
  const int32_t x = b.sbuf(DType::F32, 1, 8);
  const int32_t old = b.sbuf(DType::F32, 1, 8);
  const int32_t doubled = b.sbuf(DType::F32, 1, 8);
  const int32_t sum = b.sbuf(DType::F32, 1, 8);
  b.dma_copy(b.tile(x), whole(in));
  b.dma_copy(whole(memory), b.tile(x));
  b.dma_copy(b.tile(old), whole(memory));
  b.tensor_tensor(b.tile(doubled), b.tile(old), b.tile(old), AluOp::Add);
  b.dma_copy(whole(memory), b.tile(doubled));
  b.tensor_tensor(b.tile(sum), b.tile(old), b.tile(doubled), AluOp::Add);
  b.dma_copy(whole(out), b.tile(sum));
  const Memory a = numbers(DType::F32, 8, 1);
  const auto results = run_all(b.finish(), {a}, {Memory(DType::F32, 8)});
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(results[0].at(i), 3 * a.at(i));
}

TEST_F(Emulation, LaterStoresWin) {
  // Two tiles are stored to the same place, in the other order than they were computed.
  Builder b("order", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 8);
  const int32_t out = b.result(0, DType::F32, 8);
  const auto whole = [&](int32_t buffer) { return b.hbm_access(buffer, 0, {}, {dimension(8, 1), dimension(1, 8)}); };
  const int32_t x = b.sbuf(DType::F32, 1, 8);
  const int32_t first = b.sbuf(DType::F32, 1, 8);
  const int32_t second = b.sbuf(DType::F32, 1, 8);
  b.dma_copy(b.tile(x), whole(in));
  b.tensor_scalar(b.tile(second), b.tile(x), AluOp::Add, immediate(DType::F32, 2.0));
  b.tensor_scalar(b.tile(first), b.tile(x), AluOp::Add, immediate(DType::F32, 1.0));
  b.dma_copy(whole(out), b.tile(first));
  b.dma_copy(whole(out), b.tile(second));
  const Memory a = numbers(DType::F32, 8, 1);
  const auto results = run_all(b.finish(), {a}, {Memory(DType::F32, 8)});
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(results[0].at(i), a.at(i) + 2);
}

TEST_F(Emulation, InternalBuffersAtOneAddressFollowEachOther) {
  Builder b("reuse", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 16);
  const int32_t one = b.hbm(DType::F32, 16);
  const int32_t other = b.hbm(DType::F32, 16);
  const int32_t out = b.result(0, DType::F32, 16);
  const auto whole = [&](int32_t buffer) { return b.hbm_access(buffer, 0, {}, {dimension(8, 2), dimension(1, 8)}); };
  const auto add_one = [&](int32_t to, int32_t from) {
    const int32_t x = b.sbuf(DType::F32, 2, 8);
    const int32_t y = b.sbuf(DType::F32, 2, 8);
    b.dma_copy(b.tile(x), whole(from));
    b.tensor_scalar(b.tile(y), b.tile(x), AluOp::Add, immediate(DType::F32, 1.0));
    b.dma_copy(whole(to), b.tile(y));
  };
  add_one(one, in);
  add_one(other, one);
  add_one(out, other);
  Program program = b.finish();
  program.buffers[static_cast<size_t>(one)].address = 0;
  program.buffers[static_cast<size_t>(other)].address = 32;  // overlaps the second half
  // That is a program with a fault when tiles are split, yet right for whole tiles: loads come before stores.
  const Memory a = numbers(DType::F32, 16, 1);
  const auto results = run_all(program, {a}, {Memory(DType::F32, 16)});
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(results[0].at(i), a.at(i) + 3);
}

TEST_F(Emulation, InternalBuffersThatOverlapByALittleAreNotSplit) {
  // The second buffer begins inside the first: partition p of one is partly partition p - 1 of the other.
  for (const int64_t address : {0, 64, 320, 1280}) {
    const int64_t partitions = 125, elements = 640, size = partitions * elements;
    Builder b("shifted", "trn2");
    const int32_t in = b.parameter(0, DType::F32, size);
    const int32_t row = b.parameter(1, DType::F32, 1);
    const int32_t first = b.hbm(DType::F32, size);
    const int32_t column = b.hbm(DType::F32, 1);
    const int32_t second = b.hbm(DType::F32, size);
    const int32_t out = b.result(0, DType::F32, size);
    const std::vector<PatternDimension> rows{dimension(elements, partitions), dimension(1, elements)};
    const std::vector<PatternDimension> one{dimension(1, 1), dimension(1, 1)};
    const auto add = [&](const Access& to, const Access& from, const Access& other) {
      const int32_t x = b.sbuf(DType::F32, partitions, elements);
      const int32_t y = b.sbuf(DType::F32, partitions, 1);
      const int32_t z = b.sbuf(DType::F32, partitions, elements);
      b.dma_copy(b.tile(x), from);
      b.dma_copy(b.tile(y), other);
      b.tensor_scalar(b.tile(z), b.tile(x), AluOp::Add, b.tile(y));
      b.dma_copy(to, b.tile(z));
    };
    const auto all = [&](int32_t buffer) { return b.hbm_access(buffer, 0, {}, rows); };
    const auto repeated = [&](int32_t buffer) {
      return b.hbm_access(buffer, 0, {}, {dimension(0, partitions), dimension(1, 1)});
    };
    const int32_t number = b.sbuf(DType::F32, 1, 1);
    b.dma_copy(b.tile(number), b.hbm_access(row, 0, {}, one));
    b.dma_copy(b.hbm_access(column, 0, {}, one), b.tile(number));
    add(all(first), all(in), repeated(row));
    add(all(second), all(first), repeated(column));
    add(all(out), all(second), repeated(row));
    Program program = b.finish();
    program.buffers[static_cast<size_t>(first)].address = 640;
    program.buffers[static_cast<size_t>(column)].address = 640 + size * 4;
    program.buffers[static_cast<size_t>(second)].address = address;
    const Memory a = numbers(DType::F32, size, 1);
    const Memory n = numbers(DType::F32, 1, 2);
    const auto results = run_all(program, {a, n}, {Memory(DType::F32, size)});
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(results[0].at(i), a.at(i) + 3 * n.at(0)) << address << " " << i;
  }
}

// Softmax over rows, one pass: several instructions on a block, row values in between.
Program softmax(int64_t rows, int64_t columns) {
  Builder b("softmax", "trn2");
  const int32_t in = b.parameter(0, DType::F32, rows * columns);
  const int32_t out = b.result(0, DType::F32, rows * columns);
  const int64_t tiles = (rows + 127) / 128;
  const int32_t loop = b.begin_loop(tiles, true);
  const PatternDimension partitions{.step = 1, .size = 128, .tail_loop = loop, .tail = rows - (tiles - 1) * 128};
  PatternDimension hbm_rows = partitions;
  hbm_rows.step = columns;
  const auto full = [&](int32_t buffer) { return b.tile(buffer, partitions, dimension(1, columns)); };
  const auto column = [&](int32_t buffer) { return b.tile(buffer, partitions, dimension(1, 1)); };
  const auto hbm = [&](int32_t buffer) {
    return b.hbm_access(buffer, 0, {{.index = loop, .coefficient = 128 * columns}}, {hbm_rows, dimension(1, columns)});
  };
  const int32_t x = b.sbuf(DType::F32, 128, columns);
  const int32_t e = b.sbuf(DType::F32, 128, columns);
  const int32_t y = b.sbuf(DType::F32, 128, columns);
  const int32_t highest = b.sbuf(DType::F32, 128, 1);
  const int32_t sum = b.sbuf(DType::F32, 128, 1);
  const int32_t factor = b.sbuf(DType::F32, 128, 1);
  b.dma_copy(full(x), hbm(in));
  b.tensor_reduce(column(highest), AluOp::Max, full(x), 1);
  b.tensor_scalar(column(highest), column(highest), AluOp::Multiply, immediate(DType::F32, -1.0));
  b.activation_reduce(full(e), column(sum), ActivationFunction::Exp, full(x), {}, column(highest));
  b.tensor_scalar(column(factor), column(sum), AluOp::Reciprocal, {});
  b.tensor_scalar(full(y), full(e), AluOp::Multiply, column(factor));
  b.dma_copy(hbm(out), full(y));
  b.end_loop();
  return b.finish();
}

TEST_F(Emulation, SoftmaxInBlocks) {
  for (const int64_t columns : {5, 1000, 9000}) {
    const int64_t rows = 200;
    const Memory a = numbers(DType::F32, rows * columns, 1);
    const auto results = run_all(softmax(rows, columns), {a}, {Memory(DType::F32, rows * columns)});
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) sum += std::exp(a.at(r * columns + c));
      for (int64_t c = 0; c < columns; c += 97) {
        const double expected = std::exp(a.at(r * columns + c)) / sum;
        ASSERT_NEAR(results[0].at(r * columns + c), expected, 4e-6 * expected) << r << " " << c;
      }
    }
  }
}

// y = x w in tiles, the contraction in the innermost loop; the moving side is loaded once for all rows.
Program product(int64_t m, int64_t k, int64_t n, bool transposed) {
  Builder b("product", "trn2");
  const int32_t x = b.parameter(0, DType::F32, m * k);
  const int32_t w = b.parameter(1, DType::F32, k * n);
  const int32_t y = b.result(0, DType::F32, m * n);
  const int64_t k_tiles = (k + 127) / 128, m_tiles = (m + 127) / 128;
  const int64_t k_step = transposed ? 1 : n, n_step = transposed ? k : 1;
  const int32_t moving = b.sbuf(DType::F32, 128, k_tiles * n);
  const int32_t load = b.begin_loop(k_tiles, false);
  const PatternDimension load_k{.step = 1, .size = 128, .tail_loop = load, .tail = k - (k_tiles - 1) * 128};
  PatternDimension hbm_k = load_k;
  hbm_k.step = k_step;
  Access part = b.tile(moving, load_k, dimension(1, n));
  part.terms = {{.index = load, .coefficient = n}};
  b.dma_copy(part, b.hbm_access(w, 0, {{.index = load, .coefficient = 128 * k_step}}, {hbm_k, dimension(n_step, n)}));
  b.end_loop();
  const int32_t i = b.begin_loop(m_tiles, true);
  const PatternDimension rows{.step = 1, .size = 128, .tail_loop = i, .tail = m - (m_tiles - 1) * 128};
  PatternDimension hbm_rows = rows;
  hbm_rows.step = k;
  const int32_t sums = b.psum(DType::F32, 128, n);
  const int32_t stationary = b.sbuf(DType::F32, 128, 128);
  const int32_t result = b.sbuf(DType::F32, 128, n);
  b.memset(b.tile(sums, rows, dimension(1, n)), immediate(DType::F32, 0.0));
  const int32_t l = b.begin_loop(k_tiles, false);
  const PatternDimension k_rows{.step = 1, .size = 128, .tail_loop = l, .tail = k - (k_tiles - 1) * 128};
  b.dma_copy(
      b.tile(stationary, k_rows, rows),
      b.hbm_access(x, 0, {{.index = i, .coefficient = 128 * k}, {.index = l, .coefficient = 128}}, {k_rows, hbm_rows}));
  Access slice = b.tile(moving, k_rows, dimension(1, n));
  slice.terms = {{.index = l, .coefficient = n}};
  b.nc_matmul(b.tile(sums, rows, dimension(1, n)), b.tile(stationary, k_rows, rows), slice, true);
  b.end_loop();
  b.tensor_copy(b.tile(result, rows, dimension(1, n)), b.tile(sums, rows, dimension(1, n)));
  PatternDimension out_rows = rows;
  out_rows.step = n;
  b.dma_copy(b.hbm_access(y, 0, {{.index = i, .coefficient = 128 * n}}, {out_rows, dimension(1, n)}),
             b.tile(result, rows, dimension(1, n)));
  b.end_loop();
  return b.finish();
}

TEST_F(Emulation, MatrixProductsInTiles) {
  for (const bool transposed : {false, true}) {
    for (const int64_t k : {1, 128, 129, 300}) {
      const int64_t m = 300, n = 40;
      const Memory x = numbers(DType::F32, m * k, 1);
      const Memory w = numbers(DType::F32, k * n, 2);
      const auto results = run_all(product(m, k, n, transposed), {x, w}, {Memory(DType::F32, m * n)});
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double expected = 0;
          for (int64_t l = 0; l < k; ++l) expected += x.at(i * k + l) * w.at(transposed ? j * k + l : l * n + j);
          ASSERT_EQ(results[0].at(i * n + j), expected) << k << " " << i << " " << j;
        }
      }
    }
  }
}

TEST_F(Emulation, CheckModeFindsAccessesOutsideTheirBuffers) {
  const auto run_with = [](int64_t offset, int64_t elements, int64_t partitions) {
    Builder b("outside", "trn2");
    const int32_t in = b.parameter(0, DType::F32, 100);
    const int32_t tile = b.sbuf(DType::F32, 4, 10);
    const int32_t out = b.result(0, DType::F32, 40);
    Access to = b.tile(tile, dimension(1, partitions), dimension(1, elements));
    b.dma_copy(to, b.hbm_access(in, offset, {}, {dimension(elements, partitions), dimension(1, elements)}));
    b.dma_copy(b.hbm_access(out, 0, {}, {dimension(10, 4), dimension(1, 10)}), b.tile(tile));
    std::vector<Memory> results{Memory(DType::F32, 40)};
    run(b.finish(), {.check = true}, {numbers(DType::F32, 100)}, results);
  };
  EXPECT_NO_THROW(run_with(60, 10, 4));
  EXPECT_THROW(run_with(61, 10, 4), Error);
  EXPECT_THROW(run_with(-1, 10, 4), Error);
  EXPECT_THROW(run_with(0, 11, 4), Error);
  EXPECT_THROW(run_with(0, 10, 5), Error);
}

TEST_F(Emulation, CheckModePoisonsWhatWasNotWritten) {
  Builder b("poison", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 4);
  const int32_t out = b.result(0, DType::F32, 8);
  const int32_t loop = b.begin_loop(2, false);
  const int32_t tile = b.sbuf(DType::F32, 1, 4);
  // Only the first half of the tile is loaded.
  b.dma_copy(b.tile(tile, dimension(1, 1), dimension(1, 2)),
             b.hbm_access(in, 0, {{.index = loop, .coefficient = 2}}, {dimension(2, 1), dimension(1, 2)}));
  b.dma_copy(b.hbm_access(out, 0, {{.index = loop, .coefficient = 4}}, {dimension(4, 1), dimension(1, 4)}),
             b.tile(tile));
  b.end_loop();
  std::vector<Memory> results{Memory(DType::F32, 8)};
  const Memory a = numbers(DType::F32, 4, 1);
  run(b.finish(), {.check = true}, {a}, results);
  for (int64_t i = 0; i < 8; ++i) {
    if (i % 4 < 2) {
      EXPECT_EQ(results[0].at(i), a.at(i / 4 * 2 + i % 4));
    } else {
      EXPECT_TRUE(std::isnan(results[0].at(i)));
    }
  }
}

TEST_F(Emulation, WrongNumbersOfAddressesAreRefused) {
  const Emulator emulator(increment(1, 8), machine("trn2"));
  const Memory a = numbers(DType::F32, 8);
  const void* in[] = {a.bytes.data()};
  EXPECT_THROW(emulator.run(in, {}), Error);
}

}  // namespace
}  // namespace opentrn::neuroncore
