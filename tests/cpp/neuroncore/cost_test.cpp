#include "neuroncore/cost.h"

#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

double cycles_on(const char* target, const Build& build) {
  const Program program = built(target, build);
  return cycles(program, program.instructions[0], machine(target));
}

Build matmul(DType dtype, int64_t m, int64_t n) {
  return [=](Builder& b) {
    b.nc_matmul(psum(b, DType::F32, m, n), sbuf(b, dtype, 128, m), sbuf(b, dtype, 128, n), false);
  };
}

TEST(Cost, Matmul) {
  EXPECT_EQ(cycles_on("trn2", matmul(DType::BF16, 128, 512)), 512);
  EXPECT_EQ(cycles_on("trn2", matmul(DType::F32, 128, 512)), 2048);
  EXPECT_EQ(cycles_on("trn2", matmul(DType::BF16, 128, 1)), 64);
  EXPECT_EQ(cycles_on("trn2", matmul(DType::BF16, 1, 128)), 128);
  EXPECT_EQ(cycles_on("trn2", matmul(DType::BF16, 1, 1)), 1);
}

TEST(Cost, TransposeOfFloat32RunsAtTwiceTheRateFromV3) {
  const auto build = [](Builder& b) {
    b.nc_transpose(psum(b, DType::F32, 128, 128), sbuf(b, DType::F32, 128, 128), Engine::Tensor);
  };
  EXPECT_EQ(cycles_on("trn1", build), 512);
  EXPECT_EQ(cycles_on("trn2", build), 256);
}

Build add(DType dtype, int64_t n, bool in_psum = false, Engine engine = Engine::Vector) {
  return [=](Builder& b) {
    const Access other = in_psum ? psum(b, dtype, 128, n) : sbuf(b, dtype, 128, n);
    b.tensor_tensor(sbuf(b, dtype, 128, n), sbuf(b, dtype, 128, n), other, AluOp::Add, engine);
  };
}

TEST(Cost, TwoStreams) {
  EXPECT_EQ(cycles_on("trn2", add(DType::F32, 512)), 1024);
  EXPECT_EQ(cycles_on("trn2", add(DType::F32, 512, true)), 512);
  EXPECT_EQ(cycles_on("trn2", add(DType::BF16, 512)), 512);
  EXPECT_EQ(cycles_on("trn2", add(DType::F32, 8)), 64);
  EXPECT_EQ(cycles_on("trn1", add(DType::F32, 8)), 65);
  EXPECT_EQ(cycles_on("trn2", add(DType::I32, 512, false, Engine::GpSimd)), 150 + 1024);
}

TEST(Cost, Checks) {
  const auto index = [](Builder& b) {
    b.checked_index(sbuf(b, DType::I64, 128, 512), sbuf(b, DType::I64, 128, 512), {.size = 9, .where = "x"});
  };
  EXPECT_EQ(cycles_on("trn2", index), 150 + 512);
  EXPECT_EQ(cycles_on("trn2", [](Builder& b) { b.check(sbuf(b, DType::Bool, 128, 64), "x"); }), 150 + 64);
}

Build copy(DType dtype, Engine engine, bool in_psum = false, int64_t step = 1) {
  return [=](Builder& b) {
    const int32_t src = in_psum ? b.psum(dtype, 128, 1024) : b.sbuf(dtype, 128, 1024);
    b.tensor_copy(sbuf(b, dtype, 128, 512), b.tile(src, {1, 128}, {step, 512}), engine);
  };
}

TEST(Cost, PerformanceModes) {
  EXPECT_EQ(cycles_on("trn2", copy(DType::F32, Engine::Vector)), 512);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::Vector)), 128);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::Vector, false, 2)), 256);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::Vector, true)), 256);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::Vector, true, 2)), 512);
  EXPECT_EQ(cycles_on("trn1", copy(DType::BF16, Engine::Vector)), 512);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::Scalar)), 512);
  EXPECT_EQ(cycles_on("trn3", copy(DType::BF16, Engine::Scalar)), 256);
  EXPECT_EQ(cycles_on("trn2", copy(DType::BF16, Engine::GpSimd)), 150 + 512);
}

TEST(Cost, SecondsFollowTheClock) {
  const Program program = built("trn2", matmul(DType::F32, 128, 512));
  // Measured: 859 ns per tile, chained.
  EXPECT_NEAR(engine_seconds(program, program.instructions[0], machine("trn2")), 859e-9, 0.01 * 859e-9);
}

TEST(Cost, ActivationWithSum) {
  const auto build = [](Builder& b) {
    b.activation_reduce(sbuf(b, DType::F32, 8, 512), sbuf(b, DType::F32, 8, 1), ActivationFunction::Exp,
                        sbuf(b, DType::F32, 8, 512));
  };
  EXPECT_EQ(cycles_on("trn2", build), 512 + 64);
}

TEST(Cost, LibraryCallStatesItsOwn) {
  EXPECT_EQ(cycles_on("trn2",
                      [](Builder& b) {
                        b.library_call({.name = "f", .text = "", .cost_cycles = 1234, .function = nullptr}, {}, {});
                      }),
            1234);
}

// AWS's measurements: 128 rows of 1 KiB at 259 GB/s, of 4 KiB at 354 GB/s on one core of trn2.
TEST(Cost, DmaRates) {
  const auto rate = [](int64_t bytes) {
    const Program program = built("trn2", [=](Builder& b) {
      b.dma_copy(sbuf(b, DType::U8, 128, bytes),
                 b.hbm_access(b.parameter(0, DType::U8, 128 * bytes), 0, {}, {{bytes, 128}, {1, bytes}}));
    });
    EXPECT_EQ(cycles(program, program.instructions[0], machine("trn2")), 0);
    return 128 * static_cast<double>(bytes) / dma_seconds(program, program.instructions[0], machine("trn2"));
  };
  EXPECT_NEAR(rate(1024), 259e9, 0.1 * 259e9);
  EXPECT_NEAR(rate(4096), 354e9, 0.1 * 354e9);
  EXPECT_LT(rate(4), 4e9) << "short pieces are slow";
}

}  // namespace
}  // namespace opentrn::neuroncore
