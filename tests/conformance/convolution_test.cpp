// Convolution against the definition: padded, dilated, grouped, in any order of dimensions.
#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using Attributes = ir::ConvolutionAttributes;
using Values = std::vector<ir::Value>;

int64_t at(const Dims& dims, int64_t index) { return dims[static_cast<size_t>(index)]; }

/// Input [batch, feature, space...], kernel [output, feature, space...], output [batch, output, space...].
Attributes plain(size_t space) {
  Attributes a;
  a.window_strides = a.lhs_dilation = a.rhs_dilation = Dims(space, 1);
  a.padding_low = a.padding_high = Dims(space, 0);
  a.window_reversal = std::vector<bool>(space, false);
  a.input_feature_dimension = a.kernel_input_feature_dimension = a.output_feature_dimension = 1;
  for (size_t i = 0; i < space; ++i) {
    for (Dims* dims : {&a.input_spatial_dimensions, &a.kernel_spatial_dimensions, &a.output_spatial_dimensions}) {
      dims->push_back(static_cast<int64_t>(i) + 2);
    }
  }
  return a;
}

class Convolution : public Conformance {
 protected:
  // Element `index` of the result, summed as the specification says.
  static double expected(const Attributes& a, const Tensor& input, const Tensor& kernel, const std::vector<double>& x,
                         const std::vector<double>& w, const Dims& index) {
    const int64_t n = at(index, a.output_batch_dimension);
    const int64_t output = at(index, a.output_feature_dimension);
    const int64_t outputs = at(kernel.shape(), a.kernel_output_feature_dimension);
    const int64_t features = at(kernel.shape(), a.kernel_input_feature_dimension);
    const int64_t batches = at(input.shape(), a.input_batch_dimension) / a.batch_group_count;
    const int64_t group = output / (outputs / (a.feature_group_count * a.batch_group_count));
    Dims window_shape;
    for (const int64_t d : a.kernel_spatial_dimensions) window_shape.push_back(at(kernel.shape(), d));
    double sum = 0;
    for (int64_t linear = 0; linear < element_count(window_shape); ++linear) {
      const Dims window = coordinates(linear, window_shape);
      Dims in(input.shape().size()), of(kernel.shape().size());
      in[static_cast<size_t>(a.input_batch_dimension)] = a.batch_group_count > 1 ? group * batches + n : n;
      of[static_cast<size_t>(a.kernel_output_feature_dimension)] = output;
      bool inside = true;
      for (size_t i = 0; i < window.size(); ++i) {
        const int64_t place = at(index, a.output_spatial_dimensions[i]) * a.window_strides[i] +
                              window[i] * a.rhs_dilation[i] - a.padding_low[i];
        const auto dimension = static_cast<size_t>(a.input_spatial_dimensions[i]);
        inside = inside && place >= 0 && place % a.lhs_dilation[i] == 0 &&
                 place / a.lhs_dilation[i] < input.shape()[dimension];
        in[dimension] = place / a.lhs_dilation[i];
        of[static_cast<size_t>(a.kernel_spatial_dimensions[i])] =
            a.window_reversal[i] ? window_shape[i] - 1 - window[i] : window[i];
      }
      if (!inside) continue;
      for (int64_t feature = 0; feature < features; ++feature) {
        in[static_cast<size_t>(a.input_feature_dimension)] =
            a.feature_group_count > 1 ? group * features + feature : feature;
        of[static_cast<size_t>(a.kernel_input_feature_dimension)] = feature;
        sum += x[static_cast<size_t>(linear_index(in, input.shape()))] *
               w[static_cast<size_t>(linear_index(of, kernel.shape()))];
      }
    }
    return sum;
  }

  void check(const Attributes& a, const Dims& input_shape, const Dims& kernel_shape, DType dtype, DType result_dtype,
             Arrangement arrangement = Arrangement::RowMajor) const {
    Tensor input(dtype, input_shape, arrangement), kernel(dtype, kernel_shape, arrangement);
    const bool exact = is_integer(dtype);
    input.fill(ramp(input.elements(), exact ? -4 : -2, exact ? 1 : 0.25));
    kernel.fill(ramp(kernel.elements(), exact ? -3 : -1, exact ? 1 : 0.125, 13));
    const ir::Graph graph = build({&input, &kernel}, [&](ir::Builder& b, const Values& p) {
      return Values{b.convolution(p[0], p[1], a, result_dtype)};
    });
    const ir::TensorType& type = graph.type(graph.results[0]);
    Tensor result(type.dtype, type.shape, arrangement);
    run(graph, {{&input, &kernel}, {&result}, {}});
    const std::vector<double> x = input.values<double>();
    const std::vector<double> w = kernel.values<double>();
    std::vector<double> sums;
    for (int64_t i = 0; i < result.elements(); ++i) {
      sums.push_back(expected(a, input, kernel, x, w, coordinates(i, type.shape)));
    }
    ASSERT_GT(result.elements(), 0);
    // The numbers have few digits, so that sums of them are exact and only the last rounding shows.
    expect_near(result, sums, exact ? 0 : 1, std::string(name(dtype)));
  }
};

TEST_P(Convolution, OneToThreeDimensions) {
  for (const auto& [dtype, result] : {std::pair{DType::F32, DType::F32},
                                      {DType::F64, DType::F64},
                                      {DType::BF16, DType::BF16},
                                      {DType::BF16, DType::F32},
                                      {DType::I8, DType::I32},
                                      {DType::I32, DType::I32}}) {
    check(plain(1), {2, 3, 9}, {4, 3, 3}, dtype, result);
    check(plain(2), {2, 3, 6, 7}, {4, 3, 3, 2}, dtype, result);
    check(plain(3), {1, 2, 4, 5, 4}, {3, 2, 2, 3, 1}, dtype, result);
  }
  check(plain(0), {5, 3}, {4, 3}, DType::F32, DType::F32);
}

TEST_P(Convolution, WindowsThatStepReachAndTurn) {
  Attributes a = plain(2);
  a.window_strides = {2, 3};
  check(a, {2, 3, 8, 9}, {4, 3, 3, 2}, DType::F32, DType::F32);
  a.padding_low = {1, 2};
  a.padding_high = {2, 0};
  check(a, {2, 3, 8, 9}, {4, 3, 3, 2}, DType::F32, DType::F32);
  a.rhs_dilation = {2, 1};
  check(a, {2, 3, 8, 9}, {4, 3, 3, 2}, DType::F32, DType::F32);
  a.window_reversal = {true, false};
  check(a, {2, 3, 8, 9}, {4, 3, 3, 2}, DType::F32, DType::F32);
  a.padding_low = {-1, 2};  // cuts off
  check(a, {2, 3, 8, 9}, {4, 3, 3, 2}, DType::F32, DType::F32);
}

TEST_P(Convolution, TransposedByDilationOfTheInput) {
  Attributes a = plain(2);
  a.lhs_dilation = {2, 3};
  a.padding_low = {2, 1};
  a.padding_high = {2, 2};
  a.window_reversal = {true, true};
  check(a, {1, 2, 4, 3}, {3, 2, 3, 2}, DType::F32, DType::F32);
}

TEST_P(Convolution, GroupsOfFeaturesAndOfBatches) {
  Attributes features = plain(1);
  features.feature_group_count = 2;
  check(features, {2, 4, 7}, {6, 2, 3}, DType::F32, DType::F32);
  features.feature_group_count = 4;  // depthwise
  check(features, {2, 4, 7}, {8, 1, 3}, DType::F32, DType::F32);
  Attributes batches = plain(1);
  batches.batch_group_count = 2;
  check(batches, {4, 3, 7}, {6, 3, 3}, DType::F32, DType::F32);
}

TEST_P(Convolution, AnyOrderOfDimensionsAndLayout) {
  Attributes a = plain(2);
  a.input_batch_dimension = 2;
  a.input_feature_dimension = 3;
  a.input_spatial_dimensions = {1, 0};
  a.kernel_output_feature_dimension = 1;
  a.kernel_input_feature_dimension = 2;
  a.kernel_spatial_dimensions = {3, 0};
  a.output_batch_dimension = 1;
  a.output_feature_dimension = 0;
  a.output_spatial_dimensions = {3, 2};
  for (const Arrangement arrangement : kResultArrangements) {
    check(a, {6, 7, 2, 3}, {2, 4, 3, 3}, DType::F32, DType::F32, arrangement);
  }
}

TEST_P(Convolution, IntegersWrap) {
  Tensor input(DType::I32, {1, 1, 1}), kernel(DType::I32, {1, 1, 1});
  input.fill(std::vector<double>{1 << 20});
  kernel.fill(std::vector<double>{(1 << 12) + 1});
  const Tensor result = evaluate({&input, &kernel}, [](ir::Builder& b, const Values& p) {
    return Values{b.convolution(p[0], p[1], plain(1), DType::I32)};
  });
  EXPECT_EQ(result.values<int64_t>(), std::vector<int64_t>{1 << 20});
}

TEST_P(Convolution, ComplexNumbers) {
  using Complex = std::complex<double>;
  Tensor input(DType::C64, {1, 2, 2}), kernel(DType::C64, {1, 2, 1});
  input.fill(std::vector<Complex>{{1, 2}, {3, 4}, {0, 1}, {-1, 0}});
  kernel.fill(std::vector<Complex>{{2, -1}, {0, 3}});
  const Tensor result = evaluate({&input, &kernel}, [](ir::Builder& b, const Values& p) {
    return Values{b.convolution(p[0], p[1], plain(1), DType::C64)};
  });
  EXPECT_EQ(result.values<Complex>(), (std::vector<Complex>{{1, 3}, {10, 2}}));
}

TEST_P(Convolution, NothingToSum) {
  Tensor input(DType::F32, {1, 0, 3}), kernel(DType::F32, {2, 0, 2});
  const Tensor result = evaluate({&input, &kernel}, [](ir::Builder& b, const Values& p) {
    return Values{b.convolution(p[0], p[1], plain(1), DType::F32)};
  });
  EXPECT_EQ(result.values<double>(), std::vector<double>(4, 0));
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Convolution);

}  // namespace opentrn::conformance
