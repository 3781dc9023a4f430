// Blocks of matrix products that run as one kernel: bit for bit what their instructions give one by one.
#include <array>
#include <cmath>

#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

constexpr int64_t kRows = 24, kSteps = 64, kColumns = 160;  // of a tile

struct Sizes {
  int64_t m, n, k;
};

struct Layouts {
  bool stationary_transposed, moving_transposed;
};

int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

PatternDimension tiled(int64_t step, int64_t size, int64_t tile, int32_t loop) {
  return {.step = step, .size = tile, .tail_loop = loop, .tail = size - (tiles(size, tile) - 1) * tile};
}

// y [m,n] = x [m,k] w [k,n], columns in the outer loop. The first step of k overwrites the sums of all tiles of rows.
class Blocks {
 public:
  Blocks(DType dtype, DType result, const Sizes& sizes, const Layouts& layouts) : b_("product", "trn2"), s_(sizes) {
    x_ = b_.parameter(0, dtype, s_.m * s_.k);
    w_ = b_.parameter(1, dtype, s_.k * s_.n);
    y_ = b_.result(0, result, s_.m * s_.n);
    x_steps_ = layouts.stationary_transposed ? std::array{int64_t{1}, s_.m} : std::array{s_.k, int64_t{1}};
    w_steps_ = layouts.moving_transposed ? std::array{int64_t{1}, s_.k} : std::array{s_.n, int64_t{1}};
    result_ = result;
    dtype_ = dtype;
  }

  Program program() {
    columns_ = b_.begin_loop(tiles(s_.n, kColumns), true);
    const int64_t bank = 2048 / 4;
    sums_ = b_.psum(DType::F32, kRows, tiles(s_.m, kRows) * bank);
    multiply(-1, std::min(kSteps, s_.k), false);
    if (s_.k > kSteps) {
      const int32_t steps = b_.begin_loop(tiles(s_.k - kSteps, kSteps), false);
      multiply(steps, s_.k - kSteps, true);
      b_.end_loop();
    }
    const int32_t rows = b_.begin_loop(tiles(s_.m, kRows), false);
    const Access out = tile(result_, tiled(1, s_.m, kRows, rows), columns(1), kRows, kColumns);
    b_.tensor_copy(out, sums(rows));
    b_.dma_copy(b_.hbm_access(
                    y_, 0, {{.index = rows, .coefficient = kRows * s_.n}, {.index = columns_, .coefficient = kColumns}},
                    {tiled(s_.n, s_.m, kRows, rows), columns(1)}),
                out);
    b_.end_loop();
    b_.end_loop();
    return b_.finish();
  }

 private:
  PatternDimension columns(int64_t step) const { return tiled(step, s_.n, kColumns, columns_); }

  Access tile(DType dtype, PatternDimension partitions, PatternDimension free, int64_t most, int64_t elements) {
    return b_.tile(b_.sbuf(dtype, most, elements), partitions, free);
  }

  Access sums(int32_t rows) {
    Access access = b_.tile(sums_, tiled(1, s_.m, kRows, rows), columns(1));
    access.terms = {{.index = rows, .coefficient = 2048 / 4}};
    return access;
  }

  // `steps` loops over the `k` steps that are left; -1: there is no loop, these are the first.
  void multiply(int32_t steps, int64_t k, bool accumulate) {
    const auto chunk = [&](int64_t step) {
      return steps < 0 ? PatternDimension{.step = step, .size = k} : tiled(step, k, kSteps, steps);
    };
    const auto at = [&](int64_t step) {
      return steps < 0 ? std::vector<Term>{} : std::vector<Term>{{.index = steps, .coefficient = step * kSteps}};
    };
    const int64_t first = accumulate ? kSteps : 0;
    const Access moving = tile(dtype_, chunk(1), columns(1), kSteps, kColumns);
    std::vector<Term> terms = at(w_steps_[0]);
    terms.push_back({.index = columns_, .coefficient = kColumns * w_steps_[1]});
    b_.dma_copy(moving, b_.hbm_access(w_, first * w_steps_[0], terms, {chunk(w_steps_[0]), columns(w_steps_[1])}));
    const int32_t rows = b_.begin_loop(tiles(s_.m, kRows), false);
    const Access stationary = tile(dtype_, chunk(1), tiled(1, s_.m, kRows, rows), kSteps, kRows);
    terms = at(x_steps_[1]);
    terms.push_back({.index = rows, .coefficient = kRows * x_steps_[0]});
    b_.dma_copy(stationary, b_.hbm_access(x_, first * x_steps_[1], terms,
                                          {chunk(x_steps_[1]), tiled(x_steps_[0], s_.m, kRows, rows)}));
    b_.nc_matmul(sums(rows), stationary, moving, accumulate);
    b_.end_loop();
  }

  Builder b_;
  Sizes s_;
  DType dtype_ = DType::F32, result_ = DType::F32;
  int32_t x_ = -1, w_ = -1, y_ = -1, sums_ = -1, columns_ = -1;
  std::array<int64_t, 2> x_steps_{}, w_steps_{};
};

Memory fractions(DType dtype, int64_t elements, uint32_t seed) {
  Memory memory(dtype, elements);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < elements; ++i) memory.set(i, static_cast<double>(random() % 2001) / 1000.0 - 1.0);
  return memory;
}

// Half a spacing, relative to the number. What is already float32 is not rounded again.
double rounding_to(DType dtype) { return dtype == DType::BF16 ? 0x1p-8 : dtype == DType::F16 ? 0x1p-11 : 0; }

TEST(EmulatorProduct, EqualsItsInstructions) {
  for (const Sizes& s :
       {Sizes{20, 40, 64}, {24, 40, 65}, {44, 60, 128}, {72, 199, 150}, {95, 79, 1300}, {30, 345, 200}}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
      for (const Layouts& layouts : {Layouts{false, false}, {false, true}, {true, false}, {true, true}}) {
        for (const DType result : {DType::F32, dtype}) {
          const Memory x = fractions(dtype, s.m * s.k, 1), w = fractions(dtype, s.k * s.n, 2);
          const auto results =
              run_all(Blocks(dtype, result, s, layouts).program(), {x, w}, {Memory(result, s.m * s.n)});
          for (int64_t i = 0; i < s.m; ++i) {
            for (int64_t j = 0; j < s.n; j += 13) {
              double expected = 0, magnitude = 0;
              for (int64_t l = 0; l < s.k; ++l) {
                const double product = x.at(layouts.stationary_transposed ? l * s.m + i : i * s.k + l) *
                                       w.at(layouts.moving_transposed ? j * s.k + l : l * s.n + j);
                expected += product;
                magnitude += std::abs(product);
              }
              // k additions in float32, and the rounding to the result's type.
              const double tolerance =
                  static_cast<double>(s.k) * 0x1p-24 * magnitude + rounding_to(result) * std::abs(expected);
              ASSERT_NEAR(results[0].at(i * s.n + j), expected, tolerance) << s.m << " " << s.n << " " << s.k;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace opentrn::neuroncore
