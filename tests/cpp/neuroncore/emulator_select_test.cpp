// tensor_copy_predicated, select_reduce, affine_select, memset, iota: against plain loops.
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

const DType kTypes[] = {DType::F32, DType::BF16, DType::I8, DType::I64, DType::C128, DType::Bool};

struct Size {
  int64_t partitions, elements;
};
const Size kSizes[] = {{1, 1}, {128, 3}, {7, 300}, {2, 1025}};

class SelectTypes : public testing::TestWithParam<DType> {};

TEST_P(SelectTypes, CopyPredicatedKeepsTheRest) {
  const DType dtype = GetParam();
  for (const Size size : kSizes) {
    const TileShape shape{dtype, size.partitions, size.elements};
    const TileShape mask{DType::U8, size.partitions, size.elements};
    const Memory a = numbers(dtype, shape.size(), 1);
    const Memory kept = numbers(dtype, shape.size(), 2);
    Memory predicate(DType::U8, shape.size());
    for (int64_t i = 0; i < shape.size(); ++i) predicate.set(i, i % 3 == 0 ? 0 : static_cast<double>(i % 200));
    const Program program = on_tiles({shape}, {mask, shape}, [&](Builder& builder, auto& o, auto& i) {
      builder.tensor_copy_predicated(o[0], i[0], i[1]);
    });
    const auto results = run_on_tiles(program, {predicate, a}, {kept});
    for (int64_t i = 0; i < shape.size(); ++i)
      ASSERT_EQ(results[0].at(i), predicate.at(i) != 0 ? a.at(i) : kept.at(i)) << i;
  }
}

TEST_P(SelectTypes, SelectReduceTakesScalarsAndColumns) {
  const DType dtype = GetParam();
  for (const Size size : kSizes) {
    const TileShape shape{dtype, size.partitions, size.elements};
    const TileShape column{dtype, size.partitions, 1};
    const TileShape mask{DType::Bool, size.partitions, size.elements};
    const Memory a = numbers(dtype, shape.size(), 1);
    const Memory c = numbers(dtype, column.size(), 2);
    Memory predicate(DType::Bool, shape.size());
    for (int64_t i = 0; i < shape.size(); ++i) predicate.set(i, i % 5 == 0 ? 1 : 0);
    const Program program = on_tiles({shape, shape}, {mask, shape, column}, [&](Builder& builder, auto& o, auto& i) {
      builder.select_reduce(o[0], i[0], i[1], i[2]);
      builder.select_reduce(o[1], i[0], i[1], immediate(dtype, 1.0));
    });
    const auto results =
        run_on_tiles(program, {predicate, a, c}, {Memory(dtype, shape.size()), Memory(dtype, shape.size())});
    for (int64_t i = 0; i < shape.size(); ++i) {
      const bool chosen = predicate.at(i) != 0;
      ASSERT_EQ(results[0].at(i), chosen ? a.at(i) : c.at(i / size.elements)) << i;
      ASSERT_EQ(results[1].at(i), chosen ? a.at(i) : 1.0) << i;
    }
  }
}

TEST_P(SelectTypes, MemsetFills) {
  const DType dtype = GetParam();
  const TileShape shape{dtype, 128, 77};
  const Program program =
      on_tiles({shape}, {}, [&](Builder& builder, auto& o, auto&) { builder.memset(o[0], immediate(dtype, 1.0)); });
  const auto results = run_on_tiles(program, {}, {Memory(dtype, shape.size())});
  for (int64_t i = 0; i < shape.size(); ++i) ASSERT_EQ(results[0].at(i), 1.0);
}

INSTANTIATE_TEST_SUITE_P(All, SelectTypes, testing::ValuesIn(kTypes),
                         [](const auto& test) { return std::string(opentrn::info(test.param).torch_name); });

TEST(EmulatorSelect, SelectReduceConvertsItsSources) {
  const TileShape shape{DType::F32, 3, 5};
  const TileShape mask{DType::U8, 3, 5};
  const Memory a = numbers(DType::F32, 15, 1);
  Memory predicate(DType::U8, 15);
  for (int64_t i = 0; i < 15; ++i) predicate.set(i, static_cast<double>(i % 2));
  const Program program = on_tiles({{DType::BF16, 3, 5}}, {mask, shape}, [&](Builder& builder, auto& o, auto& i) {
    builder.select_reduce(o[0], i[0], i[1], immediate(DType::F32, -2.5));
  });
  const auto results = run_on_tiles(program, {predicate, a}, {Memory(DType::BF16, 15)});
  for (int64_t i = 0; i < 15; ++i) ASSERT_EQ(results[0].at(i), i % 2 != 0 ? a.at(i) : -2.5);
}

TEST(EmulatorSelect, AffineSelectDrawsACausalMask) {
  const TileShape shape{DType::F32, 128, 200};
  const Memory a = numbers(DType::F32, shape.size(), 1);
  const Program program = on_tiles({shape}, {shape}, [&](Builder& builder, auto& o, auto& i) {
    // Column j of row p stays where p - j >= 0.
    builder.affine_select(o[0], i[0], immediate(DType::F32, -9.0), AluOp::GreaterEqual, 0, 1, {-1});
  });
  const auto results = run_on_tiles(program, {a}, {Memory(DType::F32, shape.size())});
  for (int64_t p = 0; p < 128; ++p) {
    for (int64_t j = 0; j < 200; ++j) ASSERT_EQ(results[0].at(p * 200 + j), p >= j ? a.at(p * 200 + j) : -9.0);
  }
}

TEST(EmulatorSelect, IotaCountsOverPartitionsAndDimensions) {
  for (const DType dtype : {DType::I32, DType::F32, DType::I64, DType::BF16}) {
    const TileShape shape{dtype, 12, 6};
    const Program program = on_tiles({shape}, {}, [&](Builder& builder, auto& o, auto&) {
      Access rows = o[0];
      rows.pattern = {{.step = 1, .size = 12}, {.step = 3, .size = 2}, {.step = 1, .size = 3}};
      builder.iota(rows, 5, 10, {-4, 2});
    });
    const auto results = run_on_tiles(program, {}, {Memory(dtype, shape.size())});
    for (int64_t p = 0; p < 12; ++p) {
      for (int64_t i = 0; i < 6; ++i)
        ASSERT_EQ(results[0].at(p * 6 + i), static_cast<double>(5 + 10 * p - 4 * (i / 3) + 2 * (i % 3)));
    }
  }
}

TEST(EmulatorSelect, IotaAddsTheIterationOfALoop) {
  Builder b("iota", "trn2");
  const int32_t out = b.result(0, DType::I32, 12);
  const int32_t tile = b.sbuf(DType::I32, 2, 2);
  const int32_t loop = b.begin_loop(3, true);
  b.iota(b.tile(tile), 0, 2, {1}).terms = {{.index = loop, .coefficient = 4}};
  b.dma_copy(
      b.hbm_access(out, 0, {{.index = loop, .coefficient = 4}}, {{.step = 2, .size = 2}, {.step = 1, .size = 2}}),
      b.tile(tile));
  b.end_loop();
  const auto results = run_all(b.finish(), {}, {Memory(DType::I32, 12)});
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(results[0].at(i), static_cast<double>(i));
}

}  // namespace
}  // namespace opentrn::neuroncore
