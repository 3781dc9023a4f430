// Reductions, scans, softmax, normalisation, losses, dropout, optimizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pointwise;

CallBuilder reduce(std::string name, const TestTensor& self, Argument dim, bool keepdim = false) {
  CallBuilder call(std::move(name));
  call.tensor("self", self).set("dim", std::move(dim)).set("keepdim", keepdim);
  return call;
}

TEST(Sum, OfBoolsAndSmallIntegersIsInt64) {
  for (const DType dtype : {DType::Bool, DType::U8, DType::I32}) {
    CallBuilder call("sum");
    const auto results = call.tensor("self", tensor_of<double>(dtype, {3}, {1, 1, 1})).none("dtype").run();
    EXPECT_EQ(results[0].type, (ir::TensorType{DType::I64, {}}));
    EXPECT_THAT(values_of<int64_t>(results[0]), ElementsAre(3));
  }
}

TEST(Sum, OverDimensions) {
  const TestTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto rows = reduce("sum.dim_IntList", x, Dims{-1}, true).none("dtype").run();
  EXPECT_EQ(rows[0].type.shape, (Dims{2, 1}));
  EXPECT_THAT(values_of<double>(rows[0]), ElementsAre(6, 15));
  EXPECT_THAT(reduce("sum.dim_IntList", x, Dims{}).none("dtype").run_for<double>(), ElementsAre(21));
  EXPECT_THAT(error_of([&] { reduce("sum.dim_IntList", x, Dims{2}).none("dtype").lower(); }, ErrorKind::Index),
              HasSubstr("Dimension out of range"));
  EXPECT_THAT(error_of([&] { reduce("sum.dim_IntList", x, Dims{0, -2}).none("dtype").lower(); }),
              HasSubstr("appears multiple times"));
}

TEST(Sum, OfNothingIsZeroAndMeanIsNan) {
  const TestTensor nothing = floats({0, 3}, {});
  EXPECT_THAT(reduce("sum.dim_IntList", nothing, Dims{0}).none("dtype").run_for<double>(), ElementsAre(0, 0, 0));
  EXPECT_TRUE(std::isnan(CallBuilder("mean").tensor("self", nothing).none("dtype").run_for<double>()[0]));
}

TEST(Mean, OfIntegersIsRefused) {
  CallBuilder call("mean");
  call.tensor("self", integers({2}, {1, 2})).none("dtype");
  EXPECT_THAT(error_of([&] { call.lower(); }), HasSubstr("could not infer output dtype"));
}

TEST(Any, OfAnEmptyListOfDimensionsIsElementwise) {
  EXPECT_THAT(reduce("any.dims", floats({2}, {0, 2}), Dims{}).run_for<double>(), ElementsAre(0, 1));
  EXPECT_THAT(reduce("any.dims", floats({2}, {0, 2}), std::monostate{}).run_for<double>(), ElementsAre(1));
}

TEST(Max, OverAnEmptyDimensionIsAnIndexError) {
  const TestTensor nothing = floats({2, 0}, {});
  EXPECT_THAT(error_of([&] { reduce("amax", nothing, Dims{1}).lower(); }, ErrorKind::Index),
              HasSubstr("amax(): Expected"));
  EXPECT_THAT(error_of([&] { reduce("max.dim", nothing, int64_t{1}).lower(); }, ErrorKind::Index), HasSubstr("max()"));
  EXPECT_THAT(error_of([&] { CallBuilder("max").tensor("self", nothing).lower(); }), HasSubstr("numel() == 0"));
}

TEST(Max, FirstIndexWinsAndNanWinsOverAll) {
  const auto results = reduce("max.dim", floats({2, 4}, {1, 3, 3, 2, 1, kNan, 5, kNan}), int64_t{1}).run();
  EXPECT_THAT(values_of<double>(results[0]), Pointwise(NanSensitiveDoubleEq(), {3.0, kNan}));
  EXPECT_THAT(values_of<int64_t>(results[1]), ElementsAre(1, 1));
  EXPECT_THAT(reduce("argmin", integers({3}, {2, 0, 0}), std::monostate{}).run_for<int64_t>(), ElementsAre(1));
}

TEST(Argmax, RefusesBools) {
  CallBuilder call = reduce("argmax", tensor_of<double>(DType::Bool, {1}, {1}), std::monostate{});
  EXPECT_THAT(error_of([&] { call.lower(); }), HasSubstr("does not support bool"));
}

TEST(Variance, IsAccurateAroundALargeMean) {
  CallBuilder call =
      reduce("var_mean.correction", floats({4}, {10000.001, 10000.002, 10000.003, 10000.004}), std::monostate{});
  const auto results = call.scalar("correction", 0).run();
  const std::vector<double> rounded = values_of<double>(floats({4}, {10000.001, 10000.002, 10000.003, 10000.004}));
  const double mean = (rounded[0] + rounded[1] + rounded[2] + rounded[3]) / 4;
  double variance = 0;
  for (const double x : rounded) variance += (x - mean) * (x - mean) / 4;
  EXPECT_NEAR(values_of<double>(results[0])[0], variance, variance * 1e-5);
}

TEST(Variance, OfOneElementIsNan) {
  EXPECT_TRUE(
      std::isnan(reduce("var.correction", floats({1}, {3}), std::monostate{}).none("correction").run_for<double>()[0]));
}

TEST(VectorNorm, OfEachOrder) {
  const auto norm = [](auto order) {
    CallBuilder call("linalg_vector_norm");
    call.tensor("self", floats({3}, {-3, 0, 4})).scalar("ord", order).none("dim").set("keepdim", false).none("dtype");
    return call.template run_for<double>()[0];
  };
  EXPECT_EQ(norm(0), 2);
  EXPECT_EQ(norm(1), 7);
  EXPECT_EQ(norm(2), 5);
  EXPECT_EQ(norm(std::numeric_limits<double>::infinity()), 4);
  EXPECT_EQ(norm(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_NEAR(norm(3.0), std::cbrt(91.0), 1e-6);
}

TEST(Logsumexp, OfInfinities) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(reduce("logsumexp", floats({2, 2}, {-infinity, -infinity, infinity, 1}), Dims{1}).run_for<double>(),
              ElementsAre(-infinity, infinity));
}

TEST(Cumsum, OfBoolsIsInt64) {
  CallBuilder call("cumsum");
  const auto results =
      call.tensor("self", tensor_of<double>(DType::Bool, {3}, {1, 0, 1})).set("dim", int64_t{-1}).none("dtype").run();
  EXPECT_EQ(results[0].type.dtype, DType::I64);
  EXPECT_THAT(values_of<int64_t>(results[0]), ElementsAre(1, 1, 2));
}

TEST(Cummax, TakesTheLastOfEquals) {
  CallBuilder call("cummax");
  const auto results = call.tensor("self", floats({6}, {1, 3, 3, kNan, 2, kNan})).set("dim", int64_t{0}).run();
  EXPECT_THAT(values_of<double>(results[0]), Pointwise(NanSensitiveDoubleEq(), {1.0, 3.0, 3.0, kNan, kNan, kNan}));
  EXPECT_THAT(values_of<int64_t>(results[1]), ElementsAre(0, 1, 2, 3, 3, 5));
}

TEST(Softmax, OverTheMiddleDimension) {
  CallBuilder call("_softmax");
  call.tensor("self", floats({1, 2, 2}, {0, 1000, 0, 1000})).set("dim", int64_t{1}).set("half_to_float", false);
  EXPECT_THAT(call.run_for<double>(), Each(0.5));
}

TEST(LayerNorm, OfTinyNumbers) {
  CallBuilder call("native_layer_norm");
  call.tensor("input", floats({1, 3}, {1e-10, -2e-10, 3e-10})).set("normalized_shape", Dims{3});
  call.none("weight").none("bias").scalar("eps", 1e-5);
  const auto results = call.run();
  EXPECT_THAT(values_of<double>(results[0]), Pointwise(DoubleNear(1e-10), {1.054e-8, -8.433e-8, 7.379e-8}));
  EXPECT_EQ(results[1].type.shape, (Dims{1, 1}));
}

TEST(LayerNorm, BackwardReturnsOnlyWhatIsAskedFor) {
  const TestTensor x = floats({1, 2}, {1, 2});
  const TestTensor one = floats({1, 1}, {1});
  CallBuilder call("native_layer_norm_backward");
  call.tensor("grad_out", x)
      .tensor("input", x)
      .set("normalized_shape", Dims{2})
      .tensor("mean", one)
      .tensor("rstd", one);
  call.none("weight").none("bias").set("output_mask", std::vector<bool>{true, false, false});
  const Lowered lowered = call.lower();
  ASSERT_EQ(lowered.outputs.size(), 3u);
  EXPECT_EQ(lowered.graph.results.size(), 1u);
  EXPECT_TRUE(lowered.outputs[0].defined);
  EXPECT_FALSE(lowered.outputs[1].defined);
}

TEST(BatchNorm, WritesTheRunningStatistics) {
  CallBuilder call("native_batch_norm");
  call.tensor("input", floats({2, 2}, {0, 0, 2, 4})).none("weight").none("bias");
  call.tensor("running_mean", floats({2}, {0, 0})).tensor("running_var", floats({2}, {1, 1}));
  call.set("training", true).scalar("momentum", 0.1).scalar("eps", 0.0);
  const auto results = call.run();
  ASSERT_EQ(results.size(), 5u);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(-1, -1, 1, 1));
  EXPECT_THAT(values_of<double>(results[3]), Pointwise(DoubleNear(1e-6), {0.1, 0.2}));
  EXPECT_THAT(values_of<double>(results[4]), Pointwise(DoubleNear(1e-6), {1.1, 1.7}));
}

CallBuilder nll(const std::vector<int64_t>& target, int64_t reduction) {
  CallBuilder call("nll_loss_forward");
  call.tensor("self", floats({3, 2}, {-1, -2, -3, -4, -5, -6})).tensor("target", integers({3}, target)).none("weight");
  call.set("reduction", reduction).set("ignore_index", int64_t{-100});
  return call;
}

TEST(NllLoss, SkipsIgnoredTargets) {
  EXPECT_THAT(nll({1, 0, -100}, 0).run_for<double>(), ElementsAre(2, 3, 0));
  EXPECT_THAT(nll({1, 0, -100}, 1).run_for<double>(), ElementsAre(2.5));
  EXPECT_TRUE(std::isnan(nll({-100, -100, -100}, 1).run_for<double>()[0]));
}

TEST(NllLoss, RefusesTargetsOutOfRange) {
  EXPECT_THAT(error_of([] { nll({1, 0, 2}, 1).run(); }, ErrorKind::Index), HasSubstr("out of bounds"));
  EXPECT_THAT(error_of([] { nll({1, 0, -1}, 1).run(); }, ErrorKind::Index), HasSubstr("out of bounds"));
}

TEST(Dropout, KeepsAboutTheShareAskedFor) {
  CallBuilder call("native_dropout");
  call.tensor("input", floats({1000}, std::vector<double>(1000, 1.0))).scalar("p", 0.25).set("train", true);
  EXPECT_EQ(CallBuilder(call).lower().random_blocks, 250);
}

TEST(FusedSgd, UpdatesEveryParameter) {
  CallBuilder call("_fused_sgd_");
  call.tensors("self", {floats({2}, {1, 2}), floats({1}, {3})})
      .tensors("grads", {floats({2}, {1, 1}), floats({1}, {2})});
  call.tensors("momentum_buffer_list", {});
  call.scalar("weight_decay", 0.0).scalar("momentum", 0.0).scalar("lr", 0.5).scalar("dampening", 0.0);
  call.set("nesterov", false).set("maximize", false).set("is_first_step", false).none("grad_scale").none("found_inf");
  const auto results = call.run();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(0.5, 1.5));
  EXPECT_THAT(values_of<double>(results[1]), ElementsAre(2));
}

}  // namespace
}  // namespace opentrn::lowering::testing
