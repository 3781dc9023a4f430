#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

Build copy_of(int64_t first, int64_t partitions) {
  return [=](Builder& b) {
    Access src = b.tile(b.sbuf(DType::F32, 128, 4), {1, partitions}, {1, 4});
    src.partition = static_cast<int32_t>(first);
    b.tensor_copy(b.tile(b.sbuf(DType::F32, 128, 4), {1, partitions}, {1, 4}), src);
  };
}

TEST(CheckerOperands, StartPartitions) {
  for (const int64_t first : {0, 32, 64, 96}) EXPECT_EQ(rules(copy_of(first, 32)), kNone) << first;
  for (const int64_t first : {1, 16, 31, 95}) EXPECT_EQ(rules(copy_of(first, 32)), Rules{"start-partition"}) << first;
  EXPECT_EQ(rules(copy_of(96, 1)), kNone);
  EXPECT_EQ(rules(copy_of(0, 33)), kNone);
  EXPECT_EQ(rules(copy_of(64, 33)), kNone);
  EXPECT_EQ(rules(copy_of(64, 64)), kNone);
  EXPECT_EQ(rules(copy_of(32, 33)), Rules{"start-partition"});
  EXPECT_EQ(rules(copy_of(0, 65)), kNone);
  EXPECT_EQ(rules(copy_of(32, 65)), Rules{"start-partition"});
  EXPECT_EQ(rules(copy_of(0, 128)), kNone);
}

TEST(CheckerOperands, DmaStartsAnywhere) {
  EXPECT_EQ(rules([](Builder& b) {
              Access src = b.tile(b.sbuf(DType::F32, 128, 4), {1, 90}, {1, 4});
              src.partition = 37;
              b.dma_copy(b.hbm_access(b.result(0, DType::F32, 360), 0, {}, {{4, 90}, {1, 4}}), src);
            }),
            kNone);
}

TEST(CheckerOperands, PartitionsOfTilesAndBuffers) {
  EXPECT_EQ(rules([](Builder& b) { b.memset(sbuf(b, DType::F32, 129, 4), immediate(DType::F32, 0.0)); }),
            Rules{"partition-limit"});
  EXPECT_EQ(rules(copy_of(96, 33)), (Rules{"bounds", "start-partition"}));
}

TEST(CheckerOperands, PartitionsAreContiguous) {
  EXPECT_EQ(rules([](Builder& b) {
              Access dst = sbuf(b, DType::F32, 64, 4);
              dst.pattern[0] = {.step = 2, .size = 32};
              b.memset(dst, immediate(DType::F32, 0.0));
            }),
            Rules{"partition-step"});
}

Build fill(int64_t size, std::vector<PatternDimension> free, int64_t offset = 0) {
  return [=](Builder& b) {
    Access dst = shaped(b, b.sbuf(DType::U8, 1, size), 1, free);
    dst.offset = offset;
    b.memset(dst, immediate(DType::U8, int64_t{1}));
  };
}

TEST(CheckerOperands, FreeSize) {
  EXPECT_EQ(rules(fill(65536, {{256, 256}, {1, 256}})), kNone);
  EXPECT_EQ(rules(fill(65792, {{256, 257}, {1, 256}})), Rules{"free-size"});
  EXPECT_EQ(rules(fill(65535, {{1, 65535}})), kNone);
  EXPECT_EQ(rules(fill(65536, {{1, 65536}})), Rules{"pattern-size"});
}

TEST(CheckerOperands, StepsFitInSixteenBits) {
  EXPECT_EQ(rules(fill(32768, {{32767, 2}})), kNone);
  EXPECT_EQ(rules(fill(32769, {{32768, 2}})), Rules{"pattern-step"});
  EXPECT_EQ(rules(fill(32768, {{-32767, 2}}, 32767)), kNone);
}

TEST(CheckerOperands, FreeDimensions) {
  EXPECT_EQ(rules(fill(500, {{100, 2}, {30, 2}, {10, 2}, {3, 2}})), kNone);
  EXPECT_EQ(rules(fill(500, {{200, 2}, {100, 2}, {30, 2}, {10, 2}, {3, 2}})), kNone) << "two of them are one";
  EXPECT_EQ(rules(fill(900, {{300, 2}, {100, 2}, {30, 2}, {10, 2}, {3, 2}})), Rules{"pattern-dimensions"});
  EXPECT_EQ(rules(fill(900, {{300, 2}, {100, 2}, {30, 2}, {10, 1}, {3, 2}})), kNone) << "size 1 is none";
}

TEST(CheckerOperands, BoundsOfBuffers) {
  EXPECT_EQ(rules(fill(10, {{1, 10}})), kNone);
  EXPECT_EQ(rules(fill(10, {{1, 11}})), Rules{"bounds"});
  EXPECT_EQ(rules(fill(10, {{1, 9}}, 1)), kNone);
  EXPECT_EQ(rules(fill(10, {{1, 10}}, 1)), Rules{"bounds"});
  EXPECT_EQ(rules(fill(10, {{-1, 5}}, 4)), kNone);
  EXPECT_EQ(rules(fill(10, {{-1, 5}}, 3)), Rules{"bounds"});
}

Build looped(int64_t buffer, int64_t count, int64_t coefficient, PatternDimension free) {
  return [=](Builder& b) {
    const int32_t tile = b.sbuf(DType::F32, 4, buffer);
    const int32_t loop = b.begin_loop(count, false);
    Access dst = shaped(b, tile, 4, {free});
    if (free.tail > 0) dst.pattern[1].tail_loop = loop;
    dst.terms = {{.index = loop, .coefficient = coefficient}};
    b.memset(dst, immediate(DType::F32, 0.0));
    b.end_loop();
  };
}

TEST(CheckerOperands, BoundsOverLoopsAndTails) {
  EXPECT_EQ(rules(looped(40, 5, 8, {1, 8})), kNone);
  EXPECT_EQ(rules(looped(39, 5, 8, {1, 8})), Rules{"bounds"});
  EXPECT_EQ(rules(looped(35, 5, 8, {.step = 1, .size = 8, .tail = 3})), kNone);
  EXPECT_EQ(rules(looped(34, 5, 8, {.step = 1, .size = 8, .tail = 3})), Rules{"bounds"});
  EXPECT_EQ(rules(looped(8, 2, 1, {.step = 1, .size = 8, .tail = 1})), kNone);
  EXPECT_EQ(rules(looped(7, 2, 1, {.step = 1, .size = 8, .tail = 1})), Rules{"bounds"});
  EXPECT_EQ(rules(looped(40, 5, -8, {1, 8})), Rules{"bounds"});
}

TEST(CheckerOperands, BoundsCountBytesOfAnotherType) {
  const auto real_part = [](int64_t elements) {
    return [=](Builder& b) {
      Access src = b.tile(b.sbuf(DType::C64, 4, 8), {1, 4}, {2, elements});
      src.dtype = DType::F32;
      b.tensor_copy(sbuf(b, DType::F32, 4, elements), src);
    };
  };
  EXPECT_EQ(rules(real_part(8)), kNone);
  EXPECT_EQ(rules(real_part(9)), Rules{"bounds"});
}

TEST(CheckerOperands, WhatDoesNotExist) {
  const auto broken = [](const std::function<void(Access&)>& change) {
    return rules_without_waits([&](Builder& b) {
      Access dst = sbuf(b, DType::F32, 4, 4);
      change(dst);
      b.memset(dst, immediate(DType::F32, 0.0));
    });
  };
  EXPECT_EQ(broken([](Access&) {}), kNone);
  EXPECT_EQ(broken([](Access& access) { access.buffer = 7; }), Rules{"buffer"});
  EXPECT_EQ(broken([](Access& access) { access.pattern.clear(); }), Rules{"pattern"});
  EXPECT_EQ(broken([](Access& access) { access.pattern[1].size = 0; }), Rules{"pattern"});
  EXPECT_EQ(broken([](Access& access) { access.terms = {{.index = 0, .coefficient = 1}}; }), Rules{"loop-scope"});
  EXPECT_EQ(broken([](Access& access) { access.pattern[1].tail_loop = 3; }), Rules{"loop-scope"});
  EXPECT_EQ(broken([](Access& access) { access.terms = {{.index = 0, .coefficient = 1, .is_register = true}}; }),
            Rules{"register"});
  EXPECT_EQ(broken([](Access& access) { access.index_operand = 2; }), Rules{"index-operand"});
}

TEST(CheckerOperands, LoopsMustBeAround) {
  EXPECT_EQ(rules_without_waits([](Builder& b) {
              const int32_t tile = b.sbuf(DType::F32, 4, 8);
              const int32_t loop = b.begin_loop(2, false);
              b.memset(b.tile(tile), immediate(DType::F32, 0.0));
              b.end_loop();
              Access dst = b.tile(tile, {1, 4}, {1, 4});
              dst.terms = {{.index = loop, .coefficient = 4}};
              b.memset(dst, immediate(DType::F32, 0.0));
            }),
            Rules{"loop-scope"});
}

TEST(CheckerOperands, TailsAreShorter) {
  const auto tail = [](int64_t elements) {
    return rules_without_waits([=](Builder& b) {
      Access dst = sbuf(b, DType::F32, 4, 4);
      dst.pattern[1].tail_loop = b.begin_loop(2, false);
      dst.pattern[1].tail = elements;
      b.memset(dst, immediate(DType::F32, 0.0));
      b.end_loop();
    });
  };
  EXPECT_EQ(tail(1), kNone);
  EXPECT_EQ(tail(4), kNone);
  EXPECT_EQ(tail(0), Rules{"pattern"});
  EXPECT_EQ(tail(5), Rules{"pattern"});
}

TEST(CheckerOperands, PlacesByEngine) {
  const auto copy = [](Engine engine, Space from, Space to) {
    return rules([=](Builder& b) {
      const auto tile = [&](Space space) {
        return space == Space::Hbm    ? b.hbm_access(b.hbm(DType::F32, 32), 0, {}, {{8, 4}, {1, 8}})
               : space == Space::Sbuf ? sbuf(b, DType::F32, 4, 8)
                                      : psum(b, DType::F32, 4, 8);
      };
      b.tensor_copy(tile(to), tile(from), engine);
    });
  };
  EXPECT_EQ(copy(Engine::Vector, Space::Psum, Space::Sbuf), kNone);
  EXPECT_EQ(copy(Engine::Vector, Space::Sbuf, Space::Psum), kNone);
  EXPECT_EQ(copy(Engine::Scalar, Space::Psum, Space::Psum), kNone);
  EXPECT_EQ(copy(Engine::GpSimd, Space::Sbuf, Space::Sbuf), kNone);
  EXPECT_EQ(copy(Engine::GpSimd, Space::Psum, Space::Sbuf), Rules{"operand-place"});
  EXPECT_EQ(copy(Engine::GpSimd, Space::Sbuf, Space::Psum), Rules{"operand-place"});
  EXPECT_EQ(copy(Engine::Vector, Space::Hbm, Space::Sbuf), Rules{"operand-place"});
  EXPECT_EQ(copy(Engine::Scalar, Space::Sbuf, Space::Hbm), Rules{"operand-place"});
}

TEST(CheckerOperands, DmaDoesNotReachPsum) {
  const auto dma = [](bool from_psum) {
    return rules([=](Builder& b) {
      const Access on_chip = psum(b, DType::F32, 4, 8);
      const Access hbm = b.hbm_access(b.hbm(DType::F32, 32), 0, {}, {{8, 4}, {1, 8}});
      b.dma_copy(from_psum ? hbm : on_chip, from_psum ? on_chip : hbm);
    });
  };
  EXPECT_EQ(dma(true), Rules{"operand-place"});
  EXPECT_EQ(dma(false), Rules{"operand-place"});
}

TEST(CheckerOperands, ParametersAndConstantsAreNotWritten) {
  const auto store = [](bool constant) {
    return rules([=](Builder& b) {
      const int32_t target =
          constant ? b.constant(DType::F32, std::vector<std::byte>(128)) : b.parameter(0, DType::F32, 32);
      b.dma_copy(b.hbm_access(target, 0, {}, {{8, 4}, {1, 8}}), sbuf(b, DType::F32, 4, 8));
    });
  };
  EXPECT_EQ(store(false), Rules{"operand-place"});
  EXPECT_EQ(store(true), Rules{"operand-place"});
}

TEST(CheckerOperands, EnginesAndOperandCounts) {
  EXPECT_EQ(rules([](Builder& b) {
              b.tensor_tensor(sbuf(b, DType::F32, 4, 8), sbuf(b, DType::F32, 4, 8), sbuf(b, DType::F32, 4, 8),
                              AluOp::Add, Engine::Scalar);
            }),
            Rules{"engine"});
  EXPECT_EQ(
      rules([](Builder& b) { b.tensor_copy(sbuf(b, DType::F32, 4, 8), sbuf(b, DType::F32, 4, 8)).inputs.clear(); }),
      Rules{"operand-count"});
  EXPECT_EQ(
      rules([](Builder& b) { b.tensor_copy(sbuf(b, DType::F32, 4, 8), sbuf(b, DType::F32, 4, 8)).outputs.clear(); }),
      Rules{"operand-count"});
  EXPECT_EQ(rules([](Builder& b) {
              Instruction& add = b.tensor_scalar(sbuf(b, DType::F32, 4, 8), sbuf(b, DType::F32, 4, 8), AluOp::Add,
                                                 sbuf(b, DType::F32, 4, 1));
              add.scalar_operand[0] = 2;
            }),
            Rules{"scalar-operand"});
}

TEST(CheckerOperands, EveryStatementOnce) {
  Program program = built("trn2", fill(4, {{1, 4}}));
  program.body.push_back(program.body.front());
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"structure"});
  program.body.clear();
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"structure"});
}

TEST(CheckerOperands, LoopsRunAtLeastOnce) {
  const auto loop = [](int64_t count) {
    return rules_without_waits([=](Builder& b) {
      const Access dst = sbuf(b, DType::F32, 4, 4);
      b.begin_loop(count, false);
      b.memset(dst, immediate(DType::F32, 0.0));
      b.end_loop();
    });
  };
  EXPECT_EQ(loop(1), kNone);
  EXPECT_EQ(loop(0), Rules{"loop-count"});
}

}  // namespace
}  // namespace opentrn::neuroncore
