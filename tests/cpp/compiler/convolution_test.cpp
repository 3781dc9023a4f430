// Convolution: one to three dimensions, strides, padding, dilations, groups, layouts, and the form that is chosen.
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

struct Convolution {
  Dims space = {9, 8}, window = {3, 3};
  int64_t batch = 2, channels = 5, features = 6;  // channels: of the input
  int64_t groups = 1, batch_groups = 1;
  Dims strides = {1, 1}, low = {0, 0}, high = {0, 0}, input_dilation = {1, 1}, window_dilation = {1, 1};
  std::vector<bool> reversal = {false, false};
  DType dtype = DType::F32, result = DType::F32;
  bool channels_last = false;
};

Dims range(int64_t first, size_t count) {
  Dims dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(first + static_cast<int64_t>(i));
  return dims;
}

Dims joined(const Dims& left, const Dims& right) {
  Dims both = left;
  both.insert(both.end(), right.begin(), right.end());
  return both;
}

Case convolution(const Convolution& c) {
  const size_t n = c.space.size();
  const auto last = static_cast<int64_t>(n) + 1;
  ir::ConvolutionAttributes a;
  a.window_strides = c.strides;
  a.padding_low = c.low;
  a.padding_high = c.high;
  a.lhs_dilation = c.input_dilation;
  a.rhs_dilation = c.window_dilation;
  a.window_reversal = c.reversal;
  a.feature_group_count = c.groups;
  a.batch_group_count = c.batch_groups;
  Dims input, kernel;
  const int64_t group_channels = c.channels / c.groups;
  if (c.channels_last) {
    a.input_feature_dimension = a.output_feature_dimension = a.kernel_output_feature_dimension = last;
    a.kernel_input_feature_dimension = last - 1;
    a.input_spatial_dimensions = a.output_spatial_dimensions = range(1, n);
    a.kernel_spatial_dimensions = range(0, n);
    input = joined(joined({c.batch}, c.space), {c.channels});
    kernel = joined(c.window, {group_channels, c.features});
  } else {
    a.input_feature_dimension = a.output_feature_dimension = a.kernel_input_feature_dimension = 1;
    a.input_spatial_dimensions = a.output_spatial_dimensions = a.kernel_spatial_dimensions = range(2, n);
    input = joined({c.batch, c.channels}, c.space);
    kernel = joined({c.features, group_channels}, c.window);
  }
  return Case(
      {TensorType{c.dtype, input}, TensorType{c.dtype, kernel}},
      [&](ir::Builder& b, const Values& v) { return Values{b.convolution(v[0], v[1], a, c.result)}; }, small_whole);
}

void expect_tiles(const Convolution& c, const std::string& what) {
  const Case test = convolution(c);
  EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0) << what;
  expect_same_bytes(test, what);
}

TEST(Convolution, Images) {
  expect_tiles({}, "plain");
  expect_tiles({.channels_last = true}, "channels last");
  expect_tiles({.strides = {2, 1}, .low = {1, 2}, .high = {2, 0}}, "strided and padded");
  expect_tiles({.window_dilation = {2, 3}}, "dilated window");
  expect_tiles({.low = {2, 2}, .high = {1, 2}, .input_dilation = {2, 3}}, "transposed");
  expect_tiles({.reversal = {true, false}}, "reversed");
  expect_tiles({.low = {-1, 0}, .high = {0, -2}}, "negative padding");
}

TEST(Convolution, ManyChannels) {
  expect_tiles({.channels = 150, .features = 140, .low = {1, 1}, .high = {1, 1}}, "over several tiles");
  expect_tiles({.space = {30, 40}, .channels = 40, .features = 10}, "many places");
  expect_tiles({.space = {5, 600}, .batch = 1, .channels = 33, .features = 3}, "long lines");
  expect_tiles({.window = {1, 1}, .channels = 70, .features = 50}, "one place in the window");
  expect_tiles({.space = {7, 7}, .window = {7, 7}, .channels = 40, .features = 70}, "one place in the output");
}

TEST(Convolution, Groups) {
  expect_tiles({.channels = 6, .features = 9, .groups = 3}, "three groups");
  expect_tiles({.batch = 4, .channels = 5, .features = 6, .batch_groups = 2}, "batch groups");
}

TEST(Convolution, Depthwise) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    for (const int64_t features : {140, 280}) {
      const Convolution c{.channels = 140,
                          .features = features,
                          .groups = 140,
                          .strides = {2, 1},
                          .low = {1, 1},
                          .high = {1, 1},
                          .dtype = dtype,
                          .result = dtype};
      expect_tiles(c, concat(name(dtype), " ", features));
      EXPECT_EQ(count(compiled(convolution(c).module), Opcode::NcMatmul), 0);
    }
  }
}

// More weights than a partition of the SBUF holds.
TEST(Convolution, DepthwiseWithALongWindow) {
  expect_tiles({.space = {40'006},
                .window = {40'000},
                .batch = 1,
                .channels = 2,
                .features = 2,
                .groups = 2,
                .strides = {1},
                .low = {0},
                .high = {0},
                .input_dilation = {1},
                .window_dilation = {1},
                .reversal = {false}},
               "a long window");
}

TEST(Convolution, OneAndThreeDimensions) {
  expect_tiles({.space = {200},
                .window = {40},
                .channels = 2,
                .features = 7,
                .strides = {3},
                .low = {5},
                .high = {0},
                .input_dilation = {1},
                .window_dilation = {1},
                .reversal = {false}},
               "a line");
  expect_tiles({.space = {5, 6, 7},
                .window = {2, 3, 2},
                .channels = 35,
                .features = 4,
                .strides = {1, 2, 1},
                .low = {1, 0, 1},
                .high = {0, 1, 1},
                .input_dilation = {1, 1, 1},
                .window_dilation = {1, 1, 2},
                .reversal = {false, false, false}},
               "a volume");
}

TEST(Convolution, ElementTypes) {
  for (const auto& [dtype, result] : {std::pair{DType::BF16, DType::BF16}, std::pair{DType::BF16, DType::F32},
                                      std::pair{DType::F16, DType::F16}, std::pair{DType::F64, DType::F64}}) {
    expect_tiles({.channels = 40, .low = {1, 1}, .high = {1, 1}, .dtype = dtype, .result = result},
                 std::string(name(dtype)));
    expect_tiles({.channels = 3, .dtype = dtype, .result = result}, concat(name(dtype), ", few channels"));
  }
}

TEST(Convolution, FewChannelsAreOneProduct) {
  const neuroncore::Program program = compiled(convolution({.channels = 3}).module);
  EXPECT_EQ(count(program, Opcode::NcMatmul), 1);
}

TEST(Convolution, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t size, int64_t channels) {
    return compiled(
               convolution({.space = {size, size}, .window = {3, 3}, .batch = 2, .channels = channels, .features = 512})
                   .module)
        .instructions.size();
  };
  EXPECT_EQ(instructions(30, 512), instructions(300, 1024));
}

}  // namespace

}  // namespace opentrn::compiler
