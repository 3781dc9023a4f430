#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

TEST(CheckerPartitionReduce, OnePartition) {
  const auto build = [](int64_t partitions, int64_t elements, AluOp op = AluOp::Add, Engine engine = Engine::GpSimd) {
    return rules([=](Builder& b) {
      b.tensor_partition_reduce(sbuf(b, DType::F32, partitions, elements), op, sbuf(b, DType::F32, 128, 8)).engine =
          engine;
    });
  };
  EXPECT_EQ(build(1, 8), kNone);
  EXPECT_EQ(build(2, 8), Rules{"partition-count"});
  EXPECT_EQ(build(1, 7), Rules{"element-count"});
  EXPECT_EQ(build(1, 8, AluOp::Max), kNone);
  for (const AluOp op : {AluOp::GreaterThan, AluOp::Multiply, AluOp::Min, AluOp::LogicalAnd})
    EXPECT_EQ(build(1, 8, op), Rules{"reduce-op"}) << info(op).name;
  EXPECT_EQ(build(1, 8, AluOp::Add, Engine::Vector), Rules{"engine"});
}

TEST(CheckerMemset, ValueOfTheSameType) {
  EXPECT_EQ(rules([](Builder& b) { b.memset(sbuf(b, DType::BF16, 8, 8), immediate(DType::BF16, 1.0)); }), kNone);
  EXPECT_EQ(rules([](Builder& b) { b.memset(sbuf(b, DType::BF16, 8, 8), immediate(DType::F32, 1.0)); }),
            Rules{"dtype"});
  EXPECT_EQ(
      rules([](Builder& b) { b.memset(sbuf(b, DType::F32, 8, 8), immediate(DType::F32, 1.0)).has_scalar0 = false; }),
      Rules{"scalar-operand"});
}

TEST(CheckerIota, OneStepForEachDimension) {
  const auto build = [](std::vector<int64_t> steps) {
    return rules([=](Builder& b) { b.iota(shaped(b, b.sbuf(DType::I32, 8, 8), 8, {{4, 2}, {1, 4}}), 0, 8, steps); });
  };
  EXPECT_EQ(build({4, 1}), kNone);
  EXPECT_EQ(build({1}), Rules{"affine-steps"});
  EXPECT_EQ(build({8, 4, 1}), Rules{"affine-steps"});
  EXPECT_EQ(rules([](Builder& b) { b.iota(psum(b, DType::I32, 8, 8), 0, 8, {1}); }), Rules{"operand-place"});
  EXPECT_EQ(rules([](Builder& b) { b.iota(sbuf(b, DType::I32, 8, 8), 0, 8, {1}).terms = {{.index = 0}}; }),
            Rules{"loop-scope"});
}

TEST(CheckerAffineSelect, ComparisonWithZero) {
  const auto build = [](AluOp compare) {
    return rules([=](Builder& b) {
      b.affine_select(sbuf(b, DType::F32, 8, 8), sbuf(b, DType::F32, 8, 8), immediate(DType::F32, -1.0), compare, 0, 1,
                      {-1});
    });
  };
  EXPECT_EQ(build(AluOp::GreaterEqual), kNone);
  EXPECT_EQ(build(AluOp::Add), Rules{"alu-class"});
}

TEST(CheckerSearch, Sizes) {
  const auto largest = [](int64_t elements, int64_t found = 8) {
    return rules([=](Builder& b) { b.max8(sbuf(b, DType::F32, 8, found), sbuf(b, DType::F32, 8, elements)); });
  };
  EXPECT_EQ(largest(8), kNone);
  EXPECT_EQ(largest(7), Rules{"search-size"});
  EXPECT_EQ(largest(16384), kNone);
  EXPECT_EQ(largest(16385), Rules{"search-size"});
  EXPECT_EQ(largest(64, 7), Rules{"element-count"});
}

TEST(CheckerSearch, Indices) {
  const auto find = [](DType index, int64_t elements, int64_t values) {
    return rules([=](Builder& b) {
      b.nc_find_index8(sbuf(b, index, 8, 8), sbuf(b, DType::F32, 8, elements), sbuf(b, DType::F32, 8, values));
    });
  };
  EXPECT_EQ(find(DType::U32, 64, 8), kNone);
  EXPECT_EQ(find(DType::U16, 64, 8), kNone);
  EXPECT_EQ(find(DType::I32, 64, 8), Rules{"dtype"});
  EXPECT_EQ(find(DType::U32, 7, 8), Rules{"search-size"});
  EXPECT_EQ(find(DType::U32, 64, 9), Rules{"element-count"});
}

TEST(CheckerSearch, Replacement) {
  const auto replace = [](int64_t elements, int64_t data) {
    return rules([=](Builder& b) {
      b.nc_match_replace8(sbuf(b, DType::F32, 8, elements), sbuf(b, DType::F32, 8, data), sbuf(b, DType::F32, 8, 8),
                          immediate(DType::F32, 0.0));
    });
  };
  EXPECT_EQ(replace(64, 64), kNone);
  EXPECT_EQ(replace(64, 63), Rules{"element-count"});
  EXPECT_EQ(replace(16385, 16385), Rules{"search-size"});
}

TEST(CheckerShuffle, Mask) {
  const auto shuffle = [](std::vector<int64_t> mask, DType dtype = DType::F32) {
    return rules([=](Builder& b) { b.nc_stream_shuffle(sbuf(b, DType::F32, 32, 8), sbuf(b, dtype, 32, 8), mask); });
  };
  EXPECT_EQ(shuffle(std::vector<int64_t>(32, 31)), kNone);
  EXPECT_EQ(shuffle(std::vector<int64_t>(32, 255)), kNone);
  EXPECT_EQ(shuffle(std::vector<int64_t>(32, 32)), Rules{"shuffle-mask"});
  EXPECT_EQ(shuffle(std::vector<int64_t>(32, -1)), Rules{"shuffle-mask"});
  EXPECT_EQ(shuffle(std::vector<int64_t>(31, 0)), Rules{"shuffle-mask"});
  EXPECT_EQ(shuffle(std::vector<int64_t>(32, 0), DType::I32), Rules{"dtype"});
}

TEST(CheckerDma, EqualElements) {
  const auto copy = [](std::vector<PatternDimension> source) {
    return rules([=](Builder& b) {
      b.dma_copy(sbuf(b, DType::F32, 8, 16), b.hbm_access(b.parameter(0, DType::BF16, 128), 0, {}, source));
    });
  };
  EXPECT_EQ(copy({{16, 8}, {1, 16}}), kNone);
  EXPECT_EQ(copy({{1, 8}, {8, 16}}), kNone) << "transposing";
  EXPECT_EQ(copy({{0, 8}, {1, 16}}), kNone) << "broadcasting";
  EXPECT_EQ(copy({{16, 8}, {1, 15}}), Rules{"element-count"});
  EXPECT_EQ(copy({{16, 7}, {1, 16}}), Rules{"partition-count"});
}

struct Gather {
  DType index = DType::I32;
  int64_t indices = 1, limit = 16;
  bool index_in_psum = false, source_on_chip = false;
  Engine engine = Engine::GpSimd;
};

Build gather(Gather g) {
  return [g](Builder& b) {
    const int32_t table = b.parameter(0, DType::F32, 16 * 12);
    Access src = b.hbm_access(table, 0, {}, {{0, 8}, {1, 12}});
    if (g.source_on_chip) src = b.tile(b.sbuf(DType::F32, 8, 16 * 12), {1, 8}, {1, 12});
    src.index_operand = 1;
    src.index_step = 12;
    src.index_limit = g.limit;
    const Access index = g.index_in_psum ? psum(b, g.index, 8, g.indices) : sbuf(b, g.index, 8, g.indices);
    Instruction& copy = b.dma_copy(sbuf(b, DType::F32, 8, 12), src);
    copy.inputs.push_back(index);
    copy.engine = g.engine;
  };
}

TEST(CheckerDma, IndirectAccess) {
  EXPECT_EQ(rules(gather({})), kNone);
  EXPECT_EQ(rules(gather({.indices = 12, .limit = 5})), kNone);
  EXPECT_EQ(rules(gather({.indices = 5})), Rules{"index-count"});
  EXPECT_EQ(rules(gather({.limit = 17})), Rules{"bounds"});
  EXPECT_EQ(rules(gather({.index = DType::F32})), Rules{"index-dtype"});
  EXPECT_EQ(rules(gather({.index = DType::U8})), Rules{"index-dtype"});
  EXPECT_EQ(rules(gather({.index = DType::I64})), kNone);
  EXPECT_EQ(rules(gather({.engine = Engine::Sync})), Rules{"indirect-engine"});
  EXPECT_EQ(rules(gather({.source_on_chip = true})), Rules{"indirect-place"});
  EXPECT_EQ(rules(gather({.index_in_psum = true})), (Rules{"operand-place", "index-place"}));
}

TEST(CheckerDma, BuilderStartsIndirectAccessOnGpSimd) {
  const Program program = built("trn2", [](Builder& b) {
    Access src = b.hbm_access(b.parameter(0, DType::F32, 64), 0, {}, {{0, 8}, {1, 8}});
    src.index_operand = 1;
    src.index_step = 8;
    src.index_limit = 8;
    b.dma_copy(sbuf(b, DType::F32, 8, 8), src).inputs.push_back(sbuf(b, DType::I32, 8, 1));
  });
  EXPECT_EQ(program.instructions[0].engine, Engine::GpSimd);
}

TEST(CheckerRegister, LoadsOneInteger) {
  const auto load = [](DType dtype, int64_t elements, int32_t index) {
    return rules_without_waits([=](Builder& b) {
      b.new_register();
      b.register_load(index, sbuf(b, dtype, 1, elements));
    });
  };
  EXPECT_EQ(load(DType::I32, 1, 0), kNone);
  EXPECT_EQ(load(DType::I32, 2, 0), Rules{"element-count"});
  EXPECT_EQ(load(DType::F32, 1, 0), Rules{"dtype"});
  EXPECT_EQ(load(DType::I32, 1, 1), Rules{"register"});
}

TEST(CheckerRegister, SixtyFour) {
  const auto many = [](int count) {
    return rules([=](Builder& b) {
      for (int i = 0; i < count; ++i) b.new_register();
      b.register_load(0, sbuf(b, DType::I32, 1, 1));
    });
  };
  EXPECT_EQ(many(64), kNone);
  EXPECT_EQ(many(65), Rules{"register-limit"});
}

TEST(CheckerCheckedIndex, IndicesOfOneType) {
  const auto index = [](DType from, DType to, int64_t elements, std::vector<int64_t> integers = {9, 0, 2}) {
    return rules([=](Builder& b) {
      Instruction& check = b.checked_index(sbuf(b, to, 8, 8), sbuf(b, from, 8, elements), {.size = 9, .where = "x"});
      check.integers = integers;
    });
  };
  EXPECT_EQ(index(DType::I64, DType::I64, 8), kNone);
  EXPECT_EQ(index(DType::I32, DType::I32, 8), kNone);
  EXPECT_EQ(index(DType::I64, DType::I64, 7), Rules{"element-count"});
  EXPECT_EQ(index(DType::I32, DType::I64, 8), Rules{"dtype"});
  EXPECT_EQ(index(DType::U32, DType::U32, 8), Rules{"dtype"});
  EXPECT_EQ(index(DType::I64, DType::I64, 8, {9, 0}), Rules{"index-check"});
  EXPECT_EQ(index(DType::I64, DType::I64, 8, {-1, 0, 0}), Rules{"index-check"});
  EXPECT_EQ(index(DType::I64, DType::I64, 8, {9, 0, 3}), Rules{"index-check"});
}

TEST(CheckerCheckedIndex, OnGpSimdWithAText) {
  const auto build = [](const std::function<void(Instruction&)>& change) {
    return rules([&](Builder& b) {
      change(b.checked_index(sbuf(b, DType::I64, 8, 8), sbuf(b, DType::I64, 8, 8), {.size = 9, .where = "x"}));
    });
  };
  EXPECT_EQ(build([](Instruction& i) { i.engine = Engine::Vector; }), Rules{"engine"});
  EXPECT_EQ(build([](Instruction& i) { i.text = -1; }), Rules{"text"});
  EXPECT_EQ(build([](Instruction& i) { i.text = 1; }), Rules{"text"});
}

TEST(CheckerCheck, PredicateOnTheChip) {
  const auto check = [](DType dtype, int32_t text = 0) {
    return rules([=](Builder& b) { b.check(sbuf(b, dtype, 8, 8), "no").text = text; });
  };
  EXPECT_EQ(check(DType::Bool), kNone);
  EXPECT_EQ(check(DType::U8), kNone);
  EXPECT_EQ(check(DType::F32), Rules{"dtype"});
  EXPECT_EQ(check(DType::Bool, 1), Rules{"text"});
  EXPECT_EQ(rules([](Builder& b) { b.check(psum(b, DType::Bool, 8, 8), "no"); }), Rules{"operand-place"});
  EXPECT_EQ(
      rules([](Builder& b) { b.check(b.hbm_access(b.parameter(0, DType::Bool, 8), 0, {}, {{1, 8}, {1, 1}}), "no"); }),
      Rules{"operand-place"});
}

TEST(CheckerLibraryCall, WorksOnHbm) {
  const auto call = [](bool on_chip) {
    return rules([=](Builder& b) {
      const Access in =
          on_chip ? sbuf(b, DType::F32, 4, 8) : b.hbm_access(b.parameter(0, DType::F32, 32), 0, {}, {{1, 32}});
      b.library_call({.name = "stablehlo.sort", .text = "", .cost_cycles = 100, .function = nullptr},
                     {b.hbm_access(b.result(0, DType::F32, 32), 0, {}, {{1, 32}})}, {in});
    });
  };
  EXPECT_EQ(call(false), kNone);
  EXPECT_EQ(call(true), Rules{"operand-place"});
  Program program = built("trn2", [](Builder& b) {
    b.library_call({.name = "x", .text = "", .cost_cycles = 1, .function = nullptr}, {}, {});
  });
  program.library.clear();
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"library"});
}

TEST(WithoutNativeUnit, NamesEachOnce) {
  const Program program = built("trn2", [](Builder& b) {
    for (const DType dtype : {DType::I64, DType::I64, DType::F64, DType::C64, DType::Bool, DType::F32})
      b.tensor_copy(sbuf(b, dtype, 4, 4), sbuf(b, dtype, 4, 4));
  });
  EXPECT_EQ(broken_rules(program, "trn2"), kNone);
  EXPECT_EQ(without_native_unit(program),
            (std::vector<std::string>{"int64 tensor_copy", "float64 tensor_copy", "complex64 tensor_copy"}));
}

TEST(WithoutNativeUnit, DependsOnTheGeneration) {
  const auto build = [](Builder& b) { b.tensor_copy(sbuf(b, DType::F32, 4, 4), sbuf(b, DType::F8E4M3FN, 4, 4)); };
  EXPECT_EQ(without_native_unit(built("trn2", build)), std::vector<std::string>{"float8_e4m3fn tensor_copy"});
  EXPECT_TRUE(without_native_unit(built("trn3", build)).empty());
}

}  // namespace
}  // namespace opentrn::neuroncore
