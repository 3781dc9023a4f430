#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

struct Product {
  int64_t k = 128, m = 128, n = 512;
  DType stationary = DType::BF16, moving = DType::BF16, dst = DType::F32;
};

Build product(Product p) {
  return [p](Builder& b) {
    b.nc_matmul(psum(b, p.dst, p.m, p.n), sbuf(b, p.stationary, p.k, p.m), sbuf(b, p.moving, p.k, p.n), false);
  };
}

TEST(CheckerMatmul, TilesOfTheLimitsAreLegal) {
  for (const char* target : {"trn1", "trn2", "trn3"}) EXPECT_EQ(rules_on(target, product({})), kNone) << target;
  EXPECT_EQ(rules(product({.k = 1, .m = 1, .n = 1})), kNone);
}

TEST(CheckerMatmul, StationaryColumns) {
  EXPECT_EQ(rules([](Builder& b) {
              // 129 partitions of the destination do not exist either.
              b.nc_matmul(psum(b, DType::F32, 128, 8), sbuf(b, DType::BF16, 128, 129), sbuf(b, DType::BF16, 128, 8),
                          false);
            }),
            (Rules{"matmul-rows", "stationary-free-size"}));
}

TEST(CheckerMatmul, MovingColumnsByGeneration) {
  EXPECT_EQ(rules_on("trn1", product({.n = 513})), (Rules{"moving-free-size", "psum-bank"}));
  EXPECT_EQ(rules_on("trn2", product({.n = 513})), (Rules{"moving-free-size", "psum-bank"}));
  EXPECT_EQ(rules_on("trn3", product({.n = 4096})), kNone);
  EXPECT_EQ(rules_on("trn3", product({.n = 4097})), (Rules{"psum-capacity", "moving-free-size"}));
  EXPECT_EQ(rules_on("trn3", product({.n = 8192, .dst = DType::BF16})), kNone);
  EXPECT_EQ(rules_on("trn3", product({.n = 8193, .dst = DType::BF16})), (Rules{"psum-capacity", "moving-free-size"}));
}

TEST(CheckerMatmul, MessageNamesInstructionLimitAndMachine) {
  const std::string text = complaints("trn2", product({.n = 600}));
  for (const char* part : {"[nc_matmul #0]", "moving tile", "600 columns", "at most 512 on trn2"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CheckerMatmul, Extents) {
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_matmul(psum(b, DType::F32, 8, 16), sbuf(b, DType::F32, 128, 8), sbuf(b, DType::F32, 64, 16), false);
            }),
            Rules{"matmul-contraction"});
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_matmul(psum(b, DType::F32, 7, 16), sbuf(b, DType::F32, 128, 8), sbuf(b, DType::F32, 128, 16), false);
            }),
            Rules{"matmul-rows"});
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_matmul(psum(b, DType::F32, 8, 15), sbuf(b, DType::F32, 128, 8), sbuf(b, DType::F32, 128, 16), false);
            }),
            Rules{"matmul-columns"});
}

TEST(CheckerMatmul, EdgesMustMatchToo) {
  const auto tiled = [](int64_t tail) {
    return [tail](Builder& b) {
      const Access stationary = sbuf(b, DType::BF16, 128, 8);
      Access moving = sbuf(b, DType::BF16, 128, 16);
      Access dst = psum(b, DType::F32, 8, 16);
      const int32_t loop = b.begin_loop(3, false);
      moving.pattern[1] = {.step = 1, .size = 16, .tail_loop = loop, .tail = 5};
      dst.pattern[1] = {.step = 1, .size = 16, .tail_loop = loop, .tail = tail};
      b.nc_matmul(dst, stationary, moving, false);
      b.end_loop();
    };
  };
  EXPECT_EQ(rules(tiled(5)), kNone);
  EXPECT_EQ(rules(tiled(6)), Rules{"matmul-columns"});
}

TEST(CheckerMatmul, OperandTypes) {
  for (const DType dtype : {DType::BF16, DType::F16, DType::F8E5M2, DType::F32})
    EXPECT_EQ(rules(product({.stationary = dtype, .moving = dtype})), kNone) << name(dtype);
  for (const DType dtype : {DType::I32, DType::I8, DType::Bool, DType::I64, DType::C64, DType::F8E5M2FNUZ})
    EXPECT_EQ(rules(product({.stationary = dtype, .moving = dtype})), Rules{"matmul-dtype"}) << name(dtype);
}

TEST(CheckerMatmul, Float8E4M3FnOnlyFromV4) {
  const Build build = product({.stationary = DType::F8E4M3FN, .moving = DType::F8E4M3FN});
  EXPECT_EQ(rules_on("trn1", build), Rules{"matmul-dtype"});
  EXPECT_EQ(rules_on("trn2", build), Rules{"matmul-dtype"});
  EXPECT_EQ(rules_on("trn3", build), kNone);
}

TEST(CheckerMatmul, Float32OnlyWithFloat32) {
  EXPECT_EQ(rules(product({.stationary = DType::F32, .moving = DType::BF16})), Rules{"matmul-mixed-dtype"});
  EXPECT_EQ(rules(product({.stationary = DType::F16, .moving = DType::F32})), Rules{"matmul-mixed-dtype"});
  EXPECT_EQ(rules(product({.stationary = DType::F16, .moving = DType::BF16})), kNone);
}

TEST(CheckerMatmul, DestinationTypes) {
  EXPECT_EQ(rules_on("trn2", product({.dst = DType::BF16})), Rules{"matmul-destination-dtype"});
  EXPECT_EQ(rules_on("trn3", product({.dst = DType::BF16})), kNone);
  EXPECT_EQ(rules_on("trn3", product({.dst = DType::F16})), Rules{"matmul-destination-dtype"});
  EXPECT_EQ(rules(product({.n = 256, .dst = DType::F64})), Rules{"matmul-destination-dtype"});
  EXPECT_EQ(rules(product({.n = 256, .stationary = DType::F64, .moving = DType::F64, .dst = DType::F64})), kNone);
}

TEST(CheckerMatmul, ReadsSbufAndWritesPsum) {
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_matmul(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), false);
            }),
            Rules{"operand-place"});
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_matmul(psum(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), psum(b, DType::F32, 8, 8), false);
            }),
            Rules{"operand-place"});
}

Build into_bank(int64_t address, int64_t offset, int64_t columns) {
  return [=](Builder& b) {
    const int32_t sums = b.psum(DType::F32, 8, 1024);
    Access dst = b.tile(sums, {1, 8}, {1, columns});
    dst.offset = offset;
    b.nc_matmul(dst, sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, columns), false);
    const_cast<Buffer&>(b.buffer(sums)).address = address;
  };
}

TEST(CheckerMatmul, DestinationLiesInOneBank) {
  EXPECT_EQ(rules(into_bank(0, 0, 512)), kNone);
  EXPECT_EQ(rules(into_bank(0, 512, 512)), kNone);
  EXPECT_EQ(rules(into_bank(0, 1, 512)), Rules{"psum-bank"});
  EXPECT_EQ(rules(into_bank(1024, 0, 256)), kNone);
  EXPECT_EQ(rules(into_bank(1024, 0, 257)), Rules{"psum-bank"});
  EXPECT_EQ(rules_on("trn1", into_bank(1024, 0, 257)), Rules{"psum-bank"});
  EXPECT_EQ(rules_on("trn3", into_bank(1024, 0, 257)), kNone);
}

TEST(CheckerMatmul, EveryIterationLiesInOneBank) {
  const auto looped = [](int64_t step, int64_t columns) {
    return [=](Builder& b) {
      Access dst = b.tile(b.psum(DType::F32, 8, 1024), {1, 8}, {1, columns});
      const Access stationary = sbuf(b, DType::F32, 8, 8);
      const Access moving = sbuf(b, DType::F32, 8, columns);
      const int32_t loop = b.begin_loop(2, false);
      dst.terms = {{.index = loop, .coefficient = step}};
      b.nc_matmul(dst, stationary, moving, false);
      b.end_loop();
    };
  };
  EXPECT_EQ(rules(looped(512, 512)), kNone);
  EXPECT_EQ(rules(looped(256, 256)), kNone);
  EXPECT_EQ(rules(looped(511, 512)), Rules{"psum-bank"});
  EXPECT_EQ(rules(looped(300, 300)), Rules{"psum-bank"});
}

Build transposition(Engine engine, int64_t rows, int64_t columns, DType from = DType::BF16, DType to = DType::BF16) {
  return [=](Builder& b) {
    const Access dst = engine == Engine::Tensor ? psum(b, to, columns, rows) : sbuf(b, to, columns, rows);
    b.nc_transpose(dst, sbuf(b, from, rows, columns), engine);
  };
}

TEST(CheckerTranspose, Limits) {
  EXPECT_EQ(rules(transposition(Engine::Tensor, 128, 128)), kNone);
  EXPECT_EQ(rules(transposition(Engine::Tensor, 64, 129)), (Rules{"partition-limit", "transpose-limit"}));
  EXPECT_EQ(rules(transposition(Engine::Vector, 32, 32)), kNone);
  EXPECT_EQ(rules(transposition(Engine::Vector, 33, 32)), Rules{"transpose-limit"});
  EXPECT_EQ(rules(transposition(Engine::Vector, 32, 33)), Rules{"transpose-limit"});
  EXPECT_EQ(rules(transposition(Engine::Scalar, 32, 32)), Rules{"engine"});
}

TEST(CheckerTranspose, TypesAndShape) {
  EXPECT_EQ(rules(transposition(Engine::Tensor, 32, 32, DType::BF16, DType::F32)), Rules{"dtype"});
  EXPECT_EQ(rules(transposition(Engine::Tensor, 32, 32, DType::I32, DType::I32)), kNone);
  for (const DType dtype : {DType::U8, DType::I64, DType::F64})
    EXPECT_EQ(rules_on("trn3", transposition(Engine::Tensor, 32, 32, dtype, dtype)), Rules{"transpose-dtype"});
  EXPECT_EQ(rules_on("trn1", transposition(Engine::Tensor, 32, 32, DType::I32, DType::I32)), Rules{"matmul-dtype"});
  EXPECT_EQ(rules([](Builder& b) {
              b.nc_transpose(psum(b, DType::F32, 16, 32), sbuf(b, DType::F32, 16, 32), Engine::Tensor);
            }),
            Rules{"transpose-extent"});
}

}  // namespace
}  // namespace opentrn::neuroncore
