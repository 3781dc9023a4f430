// Random programs: whatever the emulator leaves out, fuses or splits, its results are those of executing one
// instruction after the other.
#include <cstdlib>

#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

// Loops over tiles of matrices [rows][columns] of one type; each iteration loads some, computes and stores some.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed), b_("random", "trn2") {
    const DType types[] = {DType::F32, DType::BF16, DType::F32, DType::I32, DType::F16};
    dtype_ = types[pick(5)];
    partitions_ = 1 + pick(128);
    width_ = 1 + pick(pick(4) == 0 ? 600 : 40);
    loops_ = pick(4) != 0;
    row_tiles_ = loops_ ? 1 + pick(4) : 1;
    column_tiles_ = loops_ ? 1 + pick(3) : 1;
    rows_ = row_tiles_ * partitions_ - (loops_ ? pick(partitions_) : 0);
    columns_ = column_tiles_ * width_ - (loops_ ? pick(width_) : 0);
    parameters_ = static_cast<int>(1 + pick(3));
    results_ = static_cast<int>(1 + pick(3));
  }

  Program make() {
    for (int i = 0; i < parameters_; ++i) hbm_.push_back(b_.parameter(i, dtype_, elements()));
    for (int i = 0; i < results_; ++i) written_.push_back(b_.result(i, dtype_, elements()));
    if (loops_) open_loops();
    for (const int32_t parameter : hbm_) load(parameter);
    const int64_t steps = 1 + pick(12);
    for (int64_t i = 0; i < steps; ++i) step();
    for (const int32_t result : written_) store(result);
    if (loops_) {
      b_.end_loop();
      b_.end_loop();
    }
    return b_.finish();
  }

  DType dtype() const { return dtype_; }
  int64_t elements() const { return rows_ * columns_; }
  int parameters() const { return parameters_; }
  int results() const { return results_; }

 private:
  int64_t pick(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(below)); }

  void open_loops() {
    const int32_t i = b_.begin_loop(row_tiles_, true);
    const int32_t j = b_.begin_loop(column_tiles_, pick(2) == 0);
    tile_rows_.tail_loop = i;
    tile_rows_.tail = rows_ - (row_tiles_ - 1) * partitions_;
    tile_columns_.tail_loop = j;
    tile_columns_.tail = columns_ - (column_tiles_ - 1) * width_;
    row_loop_ = i;
    column_loop_ = j;
  }

  PatternDimension rows() {
    PatternDimension dimension = tile_rows_;
    dimension.size = partitions_;
    dimension.step = 1;
    return dimension;
  }
  PatternDimension columns() {
    PatternDimension dimension = tile_columns_;
    dimension.size = width_;
    dimension.step = 1;
    return dimension;
  }

  Access full(int32_t tile) { return b_.tile(tile, rows(), columns()); }
  Access first_column(int32_t tile) { return b_.tile(tile, rows(), {.step = 1, .size = 1}); }

  // The tile's place in a matrix, which may be stored the other way round.
  Access matrix(int32_t buffer, bool transposed) {
    PatternDimension down = rows(), across = columns();
    down.step = transposed ? 1 : columns_;
    across.step = transposed ? rows_ : 1;
    std::vector<Term> terms;
    if (loops_) {
      terms = {{.index = row_loop_, .coefficient = partitions_ * down.step},
               {.index = column_loop_, .coefficient = width_ * across.step}};
    }
    return b_.hbm_access(buffer, 0, terms, {down, across});
  }

  int32_t new_tile() { return b_.sbuf(dtype_, partitions_, width_); }
  int32_t any_tile() { return tiles_[static_cast<size_t>(pick(static_cast<int64_t>(tiles_.size())))]; }

  void load(int32_t buffer) {
    tiles_.push_back(new_tile());
    b_.dma_copy(full(tiles_.back()), matrix(buffer, pick(3) == 0));
  }

  void store(int32_t buffer) {
    // Loops write every place once: the layout is the same in all iterations, and each result is stored once.
    b_.dma_copy(matrix(buffer, pick(3) == 0), full(any_tile()));
  }

  void step() {
    const AluOp ops[] = {AluOp::Add, AluOp::Multiply, AluOp::Max, AluOp::Subtract, AluOp::IsEqual};
    const AluOp op = ops[pick(5)];
    // Now and then in place.
    const int32_t out = pick(4) == 0 ? any_tile() : new_tile();
    const int32_t in = any_tile();
    switch (pick(9)) {
      case 0: b_.tensor_tensor(full(out), full(in), full(any_tile()), op); break;
      case 1: b_.tensor_scalar(full(out), full(in), op, immediate(dtype_, 1.0), pick(2) == 0); break;
      case 2: b_.tensor_scalar(full(out), full(in), op, first_column(any_tile())); break;
      case 3: b_.tensor_copy(full(out), full(in)); break;
      case 4:
        b_.scalar_tensor_tensor(full(out), full(in), op, immediate(dtype_, 2.0), AluOp::Max, full(any_tile()));
        break;
      case 5: {
        const int32_t column = b_.sbuf(DType::F32, partitions_, 1);
        b_.tensor_reduce(b_.tile(column, rows(), {.step = 1, .size = 1}), pick(2) == 0 ? AluOp::Add : AluOp::Max,
                         full(in), 1);
        b_.tensor_scalar(full(out), full(any_tile()), op, b_.tile(column, rows(), {.step = 1, .size = 1}));
        break;
      }
      case 6: {
        const int32_t products = b_.sbuf(DType::F32, partitions_, width_);
        const int32_t column = b_.sbuf(DType::F32, partitions_, 1);
        b_.tensor_tensor(full(products), full(in), full(any_tile()), AluOp::Multiply);
        b_.tensor_reduce(b_.tile(column, rows(), {.step = 1, .size = 1}), AluOp::Add, full(products), 1);
        b_.tensor_scalar(full(out), full(any_tile()), AluOp::Add, b_.tile(column, rows(), {.step = 1, .size = 1}));
        break;
      }
      case 7:
        b_.tensor_copy(full(out), full(in));
        b_.tensor_copy_predicated(full(out), full(any_tile()), full(any_tile()));
        break;
      default: b_.activation(full(out), ActivationFunction::Relu, full(in)); break;
    }
    tiles_.push_back(out);
  }

  std::mt19937 random_;
  Builder b_;
  DType dtype_ = DType::F32;
  bool loops_ = false;
  int64_t partitions_ = 1, width_ = 1, row_tiles_ = 1, column_tiles_ = 1, rows_ = 1, columns_ = 1;
  int parameters_ = 1, results_ = 1;
  PatternDimension tile_rows_, tile_columns_;
  int32_t row_loop_ = -1, column_loop_ = -1;
  std::vector<int32_t> hbm_, written_, tiles_;
};

TEST(EmulatorRandom, EveryModeGivesTheSameBits) {
  setenv("OPENTRN_NUM_THREADS", "4", 1);
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomProgram random(seed);
    const Program program = random.make();
    std::vector<Memory> parameters, results;
    for (int i = 0; i < random.parameters(); ++i)
      parameters.push_back(numbers(random.dtype(), random.elements(), seed + static_cast<uint32_t>(i)));
    for (int i = 0; i < random.results(); ++i) results.emplace_back(random.dtype(), random.elements());
    run_all(program, parameters, results);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      break;
    }
  }
  unsetenv("OPENTRN_NUM_THREADS");
}

}  // namespace
}  // namespace opentrn::neuroncore
