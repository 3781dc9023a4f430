// Pooling: every reducer, strides, dilations, padding, in one to three dimensions.
#include <limits>

#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

double ramp(size_t, int64_t i) { return static_cast<double>(i * 7 % 23) - 9; }

ir::ReduceWindowAttributes plain(size_t rank) {
  ir::ReduceWindowAttributes window;
  for (Dims* dims :
       {&window.window_dimensions, &window.window_strides, &window.base_dilations, &window.window_dilations}) {
    dims->assign(rank, 1);
  }
  window.padding_low.assign(rank, 0);
  window.padding_high.assign(rank, 0);
  return window;
}

Case pooling(DType dtype, const Dims& shape, const ir::ReduceWindowAttributes& window, double initial) {
  return Case(
      {TensorType{dtype, shape}},
      [&](ir::Builder& b, const Values& v) { return Values{b.reduce_window(v[0], b.scalar(dtype, initial), window)}; },
      ramp);
}

void expect_tiles(const Case& test, const std::string& what) {
  EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0) << what;
  expect_same_bytes(test, what);
}

TEST(Window, MaximaAndSumsOfImages) {
  ir::ReduceWindowAttributes window = plain(4);
  window.window_dimensions = {1, 1, 3, 2};
  window.window_strides = {1, 1, 2, 1};
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64, DType::U8}) {
    for (const Op reducer : {Op::Maximum, Op::Minimum, Op::Add}) {
      window.reducer = reducer;
      const double initial = reducer == Op::Add ? 0 : reducer == Op::Maximum ? -100 : 100;
      const double start = dtype == DType::U8 && reducer == Op::Maximum ? 0 : initial;
      expect_tiles(pooling(dtype, {2, 3, 9, 8}, window, start), concat(ir::name(reducer), " ", name(dtype)));
    }
  }
}

TEST(Window, PaddingAndDilations) {
  ir::ReduceWindowAttributes window = plain(3);
  window.reducer = Op::Maximum;
  window.window_dimensions = {1, 3, 3};
  window.window_dilations = {1, 2, 1};
  window.base_dilations = {1, 1, 2};
  window.padding_low = {0, 2, 1};
  window.padding_high = {0, 1, 3};
  expect_tiles(pooling(DType::F32, {130, 9, 7}, window, -std::numeric_limits<double>::infinity()), "maxima");
  window.reducer = Op::Add;
  expect_tiles(pooling(DType::BF16, {130, 9, 7}, window, 0), "sums");
}

TEST(Window, OneAndThreeDimensions) {
  ir::ReduceWindowAttributes line = plain(1);
  line.window_dimensions = {5};
  line.window_strides = {3};
  expect_tiles(pooling(DType::F32, {1000}, line, 0), "a line");
  ir::ReduceWindowAttributes volume = plain(5);
  volume.reducer = Op::Maximum;
  volume.window_dimensions = {1, 1, 2, 3, 2};
  volume.window_strides = {1, 1, 2, 2, 2};
  expect_tiles(pooling(DType::F32, {2, 70, 5, 7, 6}, volume, -100), "a volume");
}

TEST(Window, ChannelsLast) {
  ir::ReduceWindowAttributes window = plain(4);
  window.reducer = Op::Maximum;
  window.window_dimensions = {1, 2, 2, 1};
  window.window_strides = {1, 2, 2, 1};
  expect_tiles(pooling(DType::F32, {2, 20, 20, 96}, window, -100), "channels last");
}

TEST(Window, ProgramsDoNotGrowWithSizes) {
  ir::ReduceWindowAttributes window = plain(2);
  window.reducer = Op::Maximum;
  const auto instructions = [&](int64_t size, int64_t places) {
    window.window_dimensions = {places, places};
    return compiled(pooling(DType::F32, {size, size}, window, -100).module).instructions.size();
  };
  EXPECT_EQ(instructions(10, 2), instructions(1000, 7));
}

}  // namespace

}  // namespace opentrn::compiler
