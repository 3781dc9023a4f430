// nc_matmul, nc_transpose, nc_stream_shuffle: against plain loops.
#include "base/error.h"
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

// result [m,n] = sum over k of stationary [k,m] moving [k,n], in `steps` accumulating instructions.
Program product(DType left, DType right, DType out, int64_t k, int64_t m, int64_t n, int steps) {
  return on_tiles({{out, m, n}}, {{left, k, m}, {right, k, n}}, [&](Builder& b, auto& o, auto& i) {
    const Access sums = b.tile(b.psum(out == DType::F64 ? DType::F64 : DType::F32, m, n));
    for (int step = 0; step < steps; ++step) b.nc_matmul(sums, i[0], i[1], step > 0);
    b.tensor_copy(o[0], sums);
  });
}

TEST(EmulatorMatmul, AllTypesAndEdges) {
  const std::pair<DType, DType> types[] = {
      {DType::F32, DType::F32}, {DType::BF16, DType::BF16}, {DType::F16, DType::F8E5M2}, {DType::F64, DType::F64}};
  struct Size {
    int64_t k, m, n;
  };
  const Size sizes[] = {{1, 1, 1}, {3, 5, 7}, {128, 128, 513}, {127, 1, 8}, {128, 64, 1}, {17, 128, 33}};
  for (const auto& [left, right] : types) {
    const DType out = left == DType::F64 ? DType::F64 : DType::F32;
    for (const Size& size : sizes) {
      const Memory a = numbers(left, size.k * size.m, 1);
      const Memory b = numbers(right, size.k * size.n, 2);
      const auto results =
          run_on_tiles(product(left, right, out, size.k, size.m, size.n, 2), {a, b}, {Memory(out, size.m * size.n)});
      for (int64_t m = 0; m < size.m; ++m) {
        for (int64_t n = 0; n < size.n; ++n) {
          double expected = 0;
          for (int64_t k = 0; k < size.k; ++k) expected += a.at(k * size.m + m) * b.at(k * size.n + n);
          ASSERT_EQ(results[0].at(m * size.n + n), 2 * expected) << name(left) << " " << m << " " << n;
        }
      }
    }
  }
}

TEST(EmulatorMatmul, OperandsMayBeCutAndStrided) {
  const int64_t k = 40, m = 12, n = 10;
  const Memory a = numbers(DType::F32, k * m, 1);
  const Memory b = numbers(DType::F32, k * 2 * n, 2);
  const Program program = on_tiles(
      {{DType::F32, m, n}}, {{DType::F32, k, m}, {DType::F32, k, 2 * n}}, [&](Builder& builder, auto& o, auto& i) {
        Access stationary = i[0];  // [3][4] with the dimensions swapped
        stationary.pattern = {{.step = 1, .size = k}, {.step = 1, .size = 4}, {.step = 4, .size = 3}};
        Access moving = i[1];
        moving.pattern = {{.step = 1, .size = k}, {.step = 2, .size = n}};
        const Access sums = builder.tile(builder.psum(DType::F32, m, n));
        builder.nc_matmul(sums, stationary, moving, false);
        builder.tensor_copy(o[0], sums);
      });
  const auto results = run_on_tiles(program, {a, b}, {Memory(DType::F32, m * n)});
  for (int64_t row = 0; row < m; ++row) {
    const int64_t column = row % 3 * 4 + row / 3;
    for (int64_t j = 0; j < n; ++j) {
      double expected = 0;
      for (int64_t i = 0; i < k; ++i) expected += a.at(i * m + column) * b.at(i * 2 * n + 2 * j);
      ASSERT_EQ(results[0].at(row * n + j), expected);
    }
  }
}

TEST(EmulatorMatmul, IntegersAreRefused) {
  const Program program = product(DType::I32, DType::I32, DType::F32, 2, 2, 2, 1);
  std::vector<Memory> results{Memory(DType::F32, 4)};
  const std::vector<Memory> parameters{numbers(DType::I32, 4), numbers(DType::I32, 4), Memory(DType::F32, 4)};
  EXPECT_THROW(run(program, {}, parameters, results), Error);
}

TEST(EmulatorTranspose, SwapsPartitionsAndElements) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::U8, DType::C64}) {
    for (const Engine engine : {Engine::Tensor, Engine::Vector}) {
      const int64_t p = 31, f = 20;
      const Memory a = numbers(dtype, p * f, 1);
      const Program program = on_tiles({{dtype, f, p}}, {{dtype, p, f}}, [&](Builder& builder, auto& o, auto& i) {
        builder.nc_transpose(o[0], i[0], engine);
      });
      const auto results = run_on_tiles(program, {a}, {Memory(dtype, p * f)});
      for (int64_t i = 0; i < p * f; ++i) ASSERT_EQ(results[0].at(i), a.at(i % p * f + i / p));
    }
  }
}

TEST(EmulatorShuffle, PermutesEveryQuadrant) {
  std::vector<int64_t> mask;
  for (int64_t i = 0; i < 32; ++i) mask.push_back(i % 4 == 3 ? 255 : 31 - i);
  const TileShape shape{DType::F32, 64, 6};
  const Memory a = numbers(DType::F32, shape.size(), 1);
  const Memory kept = numbers(DType::F32, shape.size(), 2);
  const Program program = on_tiles(
      {shape}, {shape}, [&](Builder& builder, auto& o, auto& i) { builder.nc_stream_shuffle(o[0], i[0], mask); });
  const auto results = run_on_tiles(program, {a}, {kept});
  for (int64_t p = 0; p < 64; ++p) {
    const int64_t source = mask[static_cast<size_t>(p % 32)];
    for (int64_t i = 0; i < 6; ++i) {
      const double expected = source == 255 ? kept.at(p * 6 + i) : a.at((p / 32 * 32 + source) * 6 + i);
      ASSERT_EQ(results[0].at(p * 6 + i), expected) << p;
    }
  }
}

}  // namespace
}  // namespace opentrn::neuroncore
