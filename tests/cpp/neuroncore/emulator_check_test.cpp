// checked_index and check: what they let pass, what they raise, and what is written before.
#include "base/error.h"
#include "neuroncore/dependencies.h"
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

Program indexing(DType dtype, int64_t partitions, int64_t elements, const IndexCheck& check) {
  const TileShape shape{dtype, partitions, elements};
  return on_tiles({shape}, {shape}, [&](Builder& b, auto& o, auto& i) { b.checked_index(o[0], i[0], check); });
}

/// The error of a run in one mode, "" when there is none.
std::string error_of(const Program& program, EmulatorOptions options, const std::vector<Memory>& parameters,
                     std::vector<Memory>& results, ErrorKind kind) {
  try {
    run(program, options, parameters, results);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return {};
}

TEST(EmulatedCheckedIndex, WrapsNegativeIndices) {
  for (const DType dtype : {DType::I32, DType::I64}) {
    for (const auto& [partitions, elements] : {std::pair{1, 1}, {128, 3}, {7, 300}}) {
      const int64_t size = 50;
      Memory index(dtype, int64_t{partitions} * elements);
      for (int64_t i = 0; i < index.size(); ++i) index.set(i, static_cast<double>(i % (2 * size) - size));
      const Program program = indexing(dtype, partitions, elements, {.size = size, .where = "aten.index"});
      const auto results = run_on_tiles(program, {index}, {Memory(dtype, index.size())});
      for (int64_t i = 0; i < index.size(); ++i) ASSERT_EQ(results[0].at(i), static_cast<double>(i % size)) << i;
    }
  }
}

TEST(EmulatedCheckedIndex, InPlaceAndTransposed) {
  const TileShape shape{DType::I64, 4, 6};
  const Program program = on_tiles({shape}, {shape}, [&](Builder& b, auto& o, auto& i) {
    Access in = i[0], out = o[0];
    in.pattern = {in.pattern[0], {1, 2}, {2, 3}};
    out.pattern = {out.pattern[0], {3, 2}, {1, 3}};
    b.checked_index(in, in, {.size = 24, .where = "x"});
    b.checked_index(out, in, {.size = 24, .where = "x"});
  });
  Memory index(DType::I64, 24);
  for (int64_t i = 0; i < 24; ++i) index.set(i, static_cast<double>(i - 24));
  const auto results = run_on_tiles(program, {index}, {Memory(DType::I64, 24)});
  for (int64_t p = 0; p < 4; ++p) {
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(results[0].at(6 * p + i), static_cast<double>(6 * p + i % 3 * 2 + i / 3));
  }
}

TEST(EmulatedCheckedIndex, NamesTheFirstWrongIndex) {
  struct Row {
    IndexRule rule;
    int64_t wrong;
    ErrorKind kind;
  };
  for (const Row& row :
       {Row{IndexRule::WrapNegative, 7, ErrorKind::Index}, Row{IndexRule::WrapNegative, -8, ErrorKind::Index},
        Row{IndexRule::NonNegative, -1, ErrorKind::Index}, Row{IndexRule::NonNegativeRuntime, 7, ErrorKind::Runtime}}) {
    Memory index(DType::I64, 128 * 40);
    index.set(3 * 40 + 5, static_cast<double>(row.wrong));
    index.set(4 * 40, 1000);
    const Program program =
        indexing(DType::I64, 128, 40, {.size = 7, .dimension = 2, .rule = row.rule, .where = "aten.gather"});
    for (const Mode& mode : kModes) {
      std::vector<Memory> results{Memory(DType::I64, index.size())};
      const std::vector<Memory> before = results;
      EXPECT_EQ(error_of(program, mode.options, {index, results[0]}, results, row.kind),
                concat("[aten.gather] index ", row.wrong, " is out of bounds for dimension 2 with size 7"))
          << mode.name;
      EXPECT_EQ(results[0].bytes, before[0].bytes) << mode.name;
    }
  }
}

// result = x + 1, on 128 partitions that would be worked through in blocks, with a check before the store.
Program guarded_sum(bool in_front) {
  constexpr int64_t kColumns = 4096;
  Builder b("guarded", "trn2");
  const int32_t x = b.parameter(0, DType::F32, 128 * kColumns);
  const int32_t flags = b.parameter(1, DType::Bool, 128);
  const int32_t result = b.result(0, DType::F32, 128 * kColumns);
  const Access in = b.tile(b.sbuf(DType::F32, 128, kColumns));
  const Access out = b.tile(b.sbuf(DType::F32, 128, kColumns));
  const Access predicate = b.tile(b.sbuf(DType::Bool, 128, 1));
  const std::vector<PatternDimension> rows{{kColumns, 128}, {1, kColumns}};
  b.dma_copy(predicate, b.hbm_access(flags, 0, {}, {{1, 128}, {1, 1}}));
  b.dma_copy(in, b.hbm_access(x, 0, {}, rows));
  b.tensor_scalar(out, in, AluOp::Add, immediate(DType::F32, 1.0));
  if (in_front) b.check(predicate, "no\nsuch \"thing\"");
  b.dma_copy(b.hbm_access(result, 0, {}, rows), out);
  if (!in_front) b.check(predicate, "too late");
  return b.finish();
}

TEST(EmulatedCheck, NothingIsWrittenBehindAFailedCheck) {
  const Memory x = numbers(DType::F32, 128 * 4096);
  Memory flags(DType::Bool, 128);
  for (int64_t i = 0; i < 128; ++i) flags.set(i, 1);
  for (const bool fails : {false, true}) {
    if (fails) flags.set(127, 0);
    for (const bool in_front : {true, false}) {
      for (const Mode& mode : kModes) {
        std::vector<Memory> results{numbers(DType::F32, x.size(), 7)};
        const std::vector<Memory> before = results;
        const std::string error =
            error_of(guarded_sum(in_front), mode.options, {x, flags}, results, ErrorKind::Runtime);
        EXPECT_EQ(error, !fails ? "" : in_front ? "no\nsuch \"thing\"" : "too late") << mode.name;
        EXPECT_EQ(results[0].bytes == before[0].bytes, fails && in_front) << mode.name;
      }
    }
  }
}

}  // namespace
}  // namespace opentrn::neuroncore
