// dma_copy, register_load, library_call: casts, transposing and broadcasting patterns, gathering and scattering.
#include "base/error.h"
#include "tests/cpp/neuroncore/emulator_samples.h"

namespace opentrn::neuroncore {
namespace {

PatternDimension dimension(int64_t step, int64_t size) { return {.step = step, .size = size}; }

TEST(EmulatorDma, TransposesBroadcastsAndCasts) {
  Builder b("dma", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 60);
  const int32_t row = b.parameter(1, DType::F32, 12);
  const int32_t out = b.result(0, DType::BF16, 60);
  const int32_t x = b.sbuf(DType::F32, 12, 5);
  const int32_t y = b.sbuf(DType::F32, 12, 5);
  const int32_t z = b.sbuf(DType::F32, 12, 5);
  b.dma_copy(b.tile(x), b.hbm_access(in, 0, {}, {dimension(1, 12), dimension(12, 5)}));
  b.dma_copy(b.tile(y), b.hbm_access(row, 0, {}, {dimension(1, 12), dimension(0, 5)}));
  b.tensor_tensor(b.tile(z), b.tile(x), b.tile(y), AluOp::Add);
  b.dma_copy(b.hbm_access(out, 0, {}, {dimension(1, 12), dimension(12, 5)}), b.tile(z));
  const Memory a = numbers(DType::F32, 60, 1);
  const Memory r = numbers(DType::F32, 12, 2);
  const auto results = run_all(b.finish(), {a, r}, {Memory(DType::BF16, 60)});
  for (int64_t i = 0; i < 60; ++i) ASSERT_EQ(results[0].at(i), a.at(i) + r.at(i % 12));
}

// Rows of a table [rows][width], chosen by `indices` on partitions, stored densely; or the other way round.
Program row_program(bool gather, bool accumulate, OutOfBounds mode, int64_t rows, int64_t width, int64_t count) {
  Builder b("rows", "trn2");
  const int32_t table = gather ? b.parameter(0, DType::F32, rows * width) : b.result(0, DType::F32, rows * width);
  const int32_t dense = gather ? b.result(0, DType::F32, count * width) : b.parameter(0, DType::F32, count * width);
  const int32_t index = b.parameter(1, DType::I64, count);
  const int32_t indices = b.sbuf(DType::I64, count, 1);
  const int32_t tile = b.sbuf(DType::F32, count, width);
  b.dma_copy(b.tile(indices), b.hbm_access(index, 0, {}, {dimension(1, count), dimension(1, 1)}));
  Access chosen = b.hbm_access(table, 0, {}, {dimension(0, count), dimension(1, width)});
  chosen.index_operand = 1;
  chosen.index_step = width;
  chosen.index_limit = rows;
  const Access all = b.hbm_access(dense, 0, {}, {dimension(width, count), dimension(1, width)});
  if (gather) {
    Instruction& copy = b.dma_copy(b.tile(tile), chosen);
    copy.inputs.push_back(b.tile(indices));
    copy.out_of_bounds = mode;
    b.dma_copy(all, b.tile(tile));
  } else {
    b.dma_copy(b.tile(tile), all);
    Instruction& copy = b.dma_copy(chosen, b.tile(tile));
    copy.inputs.push_back(b.tile(indices));
    copy.out_of_bounds = mode;
    copy.accumulate = accumulate;
  }
  return b.finish();
}

Memory index_list(std::vector<int64_t> values) {
  Memory memory(DType::I64, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) memory.as<int64_t>()[i] = values[i];
  return memory;
}

TEST(EmulatorDma, GathersRows) {
  const Memory table = numbers(DType::F32, 50, 1);
  const Memory indices = index_list({4, 0, 4, 9, 2});
  const auto results =
      run_all(row_program(true, false, OutOfBounds::Error, 10, 5, 5), {table, indices}, {Memory(DType::F32, 25)});
  for (int64_t i = 0; i < 25; ++i) ASSERT_EQ(results[0].at(i), table.at(indices.as<int64_t>()[i / 5] * 5 + i % 5));
}

TEST(EmulatorDma, ScattersRowsAndLeavesOutWhatIsOutside) {
  const Memory rows = numbers(DType::F32, 15, 1);
  const Memory before = numbers(DType::F32, 50, 2);
  const auto results =
      run_all(row_program(false, false, OutOfBounds::Skip, 10, 5, 3), {rows, index_list({7, 10, -1})}, {before});
  for (int64_t i = 0; i < 50; ++i) ASSERT_EQ(results[0].at(i), i / 5 == 7 ? rows.at(i % 5) : before.at(i));
}

TEST(EmulatorDma, AccumulatesRepeatedRowsInOrder) {
  const Memory rows = numbers(DType::F32, 20, 1);
  const Memory before = numbers(DType::F32, 50, 2);
  const auto results =
      run_all(row_program(false, true, OutOfBounds::Error, 10, 5, 4), {rows, index_list({3, 1, 3, 3})}, {before});
  for (int64_t i = 0; i < 50; ++i) {
    double expected = before.at(i);
    if (i / 5 == 3) expected += rows.at(i % 5) + rows.at(10 + i % 5) + rows.at(15 + i % 5);
    if (i / 5 == 1) expected += rows.at(5 + i % 5);
    ASSERT_EQ(results[0].at(i), expected);
  }
}

TEST(EmulatorDma, IndicesOutsideRaise) {
  for (const Mode& mode : kModes) {
    std::vector<Memory> results{Memory(DType::F32, 5)};
    try {
      run(row_program(true, false, OutOfBounds::Error, 10, 5, 1), mode.options,
          {numbers(DType::F32, 50), index_list({10})}, results);
      ADD_FAILURE() << mode.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Index);
    }
  }
}

TEST(EmulatorDma, IndicesMayStepBackwards) {
  // Row i of the result is row 9 - index[i] of the table.
  Builder b("backwards", "trn2");
  const int32_t table = b.parameter(0, DType::F32, 50);
  const int32_t index = b.parameter(1, DType::I64, 4);
  const int32_t out = b.result(0, DType::F32, 20);
  const int32_t indices = b.sbuf(DType::I64, 4, 1);
  b.dma_copy(b.tile(indices), b.hbm_access(index, 0, {}, {dimension(1, 4), dimension(1, 1)}));
  Access chosen = b.hbm_access(table, 45, {}, {dimension(0, 4), dimension(1, 5)});
  chosen.index_operand = 1;
  chosen.index_step = -5;
  chosen.index_limit = 10;
  b.dma_copy(b.hbm_access(out, 0, {}, {dimension(5, 4), dimension(1, 5)}), chosen).inputs.push_back(b.tile(indices));
  const Memory a = numbers(DType::F32, 50, 1);
  const Memory i = index_list({0, 9, 3, 1});
  const auto results = run_all(b.finish(), {a, i}, {Memory(DType::F32, 20)});
  for (int64_t at = 0; at < 20; ++at) ASSERT_EQ(results[0].at(at), a.at((9 - i.as<int64_t>()[at / 5]) * 5 + at % 5));
}

TEST(EmulatorDma, GathersSingleElements) {
  // result[p][j] = table[p][index[p][j]], read from HBM to HBM.
  const int64_t partitions = 6, width = 9, count = 700;
  Builder b("elements", "trn2");
  const int32_t table = b.parameter(0, DType::BF16, partitions * width);
  const int32_t index = b.parameter(1, DType::I32, partitions * count);
  const int32_t out = b.result(0, DType::BF16, partitions * count);
  const int32_t indices = b.sbuf(DType::I32, partitions, count);
  const std::vector<PatternDimension> rows{dimension(count, partitions), dimension(1, count)};
  b.dma_copy(b.tile(indices), b.hbm_access(index, 0, {}, rows));
  Access chosen = b.hbm_access(table, 0, {}, {dimension(width, partitions), dimension(0, count)});
  chosen.index_operand = 1;
  chosen.index_step = 1;
  chosen.index_limit = width;
  b.dma_copy(b.hbm_access(out, 0, {}, rows), chosen).inputs.push_back(b.tile(indices));
  const Memory a = numbers(DType::BF16, partitions * width, 1);
  Memory i(DType::I32, partitions * count);
  for (int64_t at = 0; at < i.size(); ++at) i.as<int32_t>()[at] = static_cast<int32_t>(at * 5 % width);
  const auto results = run_all(b.finish(), {a, i}, {Memory(DType::BF16, partitions * count)});
  for (int64_t at = 0; at < i.size(); ++at)
    ASSERT_EQ(results[0].at(at), a.at(at / count * width + i.as<int32_t>()[at]));
}

TEST(EmulatorDma, AccumulatesIntoOnePlace) {
  // Every element of a row is added to one element of the result, in order.
  Builder b("sum", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 3000);
  const int32_t out = b.result(0, DType::F32, 3);
  const int32_t tile = b.sbuf(DType::F32, 3, 1000);
  b.dma_copy(b.tile(tile), b.hbm_access(in, 0, {}, {dimension(1000, 3), dimension(1, 1000)}));
  b.dma_copy(b.hbm_access(out, 0, {}, {dimension(1, 3), dimension(0, 1000)}), b.tile(tile)).accumulate = true;
  const Memory a = numbers(DType::F32, 3000, 1);
  const Memory before = numbers(DType::F32, 3, 2);
  const auto results = run_all(b.finish(), {a}, {before});
  for (int64_t p = 0; p < 3; ++p) {
    double expected = before.at(p);
    for (int64_t i = 0; i < 1000; ++i) expected += a.at(p * 1000 + i);
    EXPECT_EQ(results[0].at(p), expected);
  }
}

TEST(EmulatorControl, RegistersMoveAccesses) {
  Builder b("dynamic", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 100);
  const int32_t start = b.parameter(1, DType::I32, 1);
  const int32_t out = b.result(0, DType::F32, 10);
  const int32_t tile = b.sbuf(DType::F32, 1, 10);
  const int32_t number = b.new_register();
  b.register_load(number, b.hbm_access(start, 0, {}, {dimension(1, 1), dimension(1, 1)}));
  const std::vector<Term> moved{{.index = number, .coefficient = 3, .is_register = true}};
  b.dma_copy(b.tile(tile), b.hbm_access(in, 1, moved, {dimension(10, 1), dimension(1, 10)}));
  b.dma_copy(b.hbm_access(out, 0, {}, {dimension(10, 1), dimension(1, 10)}), b.tile(tile));
  const Program program = b.finish();
  const Memory a = numbers(DType::F32, 100, 1);
  Memory s(DType::I32, 1);
  s.set(0, 20);
  const auto results = run_all(program, {a, s}, {Memory(DType::F32, 10)});
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(results[0].at(i), a.at(61 + i));
  s.set(0, 30);
  std::vector<Memory> outside{Memory(DType::F32, 10)};
  EXPECT_THROW(run(program, {.check = true}, {a, s}, outside), Error) << "91 to 100 of 100 elements";
}

TEST(EmulatorControl, LibraryCallsGetAddresses) {
  Builder b("library", "trn2");
  const int32_t in = b.parameter(0, DType::F32, 4);
  const int32_t between = b.hbm(DType::F32, 4);
  const int32_t out = b.result(0, DType::F32, 4);
  const auto whole = [&](int32_t buffer) { return b.hbm_access(buffer, 0, {}, {dimension(4, 1), dimension(1, 4)}); };
  const auto negate = [](std::byte* const* inputs, std::byte* const* outputs) {
    for (int i = 0; i < 4; ++i) reinterpret_cast<float*>(outputs[0])[i] = -reinterpret_cast<const float*>(inputs[0])[i];
  };
  b.library_call({.name = "negate", .text = "", .cost_cycles = 1, .function = negate}, {whole(between)}, {whole(in)});
  const int32_t tile = b.sbuf(DType::F32, 1, 4);
  b.dma_copy(b.tile(tile), whole(between));
  b.tensor_scalar(b.tile(tile), b.tile(tile), AluOp::Add, immediate(DType::F32, 1.0));
  b.dma_copy(whole(out), b.tile(tile));
  const Memory a = numbers(DType::F32, 4, 1);
  const auto results = run_all(b.finish(), {a}, {Memory(DType::F32, 4)});
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(results[0].at(i), 1 - a.at(i));
}

}  // namespace
}  // namespace opentrn::neuroncore
