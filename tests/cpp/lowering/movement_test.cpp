// Joining, shifting, padding, filling, creation, sorting and searching.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lowering/memory_format.h"
#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveDoubleEq;
using ::testing::Pointwise;

CallBuilder join(std::string name, const std::vector<TestTensor>& tensors, int64_t dim) {
  CallBuilder call(std::move(name));
  call.tensors("tensors", tensors).set("dim", dim);
  return call;
}

TEST(Cat, PromotesAndSkipsEmptyVectors) {
  const auto results = join("cat", {floats({0}, {}), integers({1, 2}, {1, 2}), floats({1, 2}, {3, 4})}, 0).run();
  EXPECT_EQ(results[0].type, (ir::TensorType{DType::F32, {2, 2}}));
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1, 2, 3, 4));
}

TEST(Cat, RefusesBadLists) {
  EXPECT_THAT(error_of([] { join("cat", {}, 0).lower(); }, ErrorKind::Value), HasSubstr("non-empty list"));
  EXPECT_THAT(error_of([] { join("cat", {floats({}, {1})}, 0).lower(); }),
              HasSubstr("zero-dimensional tensor (at position 0)"));
  EXPECT_THAT(error_of([] { join("cat", {floats({1, 1}, {1}), floats({1, 2}, {1, 2})}, 0).lower(); }),
              HasSubstr("Expected size 1 but got size 2 for tensor number 1"));
  EXPECT_THAT(error_of([] { join("cat", {floats({1}, {1})}, 1).lower(); }, ErrorKind::Index),
              HasSubstr("Dimension out of range"));
}

TEST(Cat, KeepsChannelsLast) {
  const Dims shape = {1, 2, 2, 2};
  const TestTensor image = tensor_of<double>(DType::F32, shape, {0, 1, 2, 3, 4, 5, 6, 7}, channels_last_strides(shape));
  const Lowered both = join("cat", {image, image}, 1).lower();
  EXPECT_EQ(both.outputs[0].strides, channels_last_strides({1, 4, 2, 2}));
  const TestTensor rows = floats(shape, {0, 1, 2, 3, 4, 5, 6, 7});
  const Lowered one = join("cat", {image, rows}, 1).lower();
  EXPECT_EQ(one.outputs[0].strides, contiguous_strides({1, 4, 2, 2}));
}

TEST(Stack, AddsADimension) {
  const auto results = join("stack", {floats({2}, {1, 2}), floats({2}, {3, 4})}, -1).run();
  EXPECT_EQ(results[0].type.shape, (Dims{2, 2}));
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(error_of([] { join("stack", {floats({1}, {1}), floats({2}, {1, 2})}, 0).lower(); }),
              HasSubstr("stack expects each tensor to be equal size, but got [1] at entry 0 and [2] at entry 1"));
}

CallBuilder roll(const TestTensor& self, Dims shifts, Dims dims) {
  CallBuilder call("roll");
  call.tensor("self", self).set("shifts", std::move(shifts)).set("dims", std::move(dims));
  return call;
}

TEST(Roll, AlongDimensionsOrThroughAll) {
  const TestTensor x = integers({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(roll(x, {1}, {1}).run_for<int64_t>(), ElementsAre(2, 0, 1, 5, 3, 4));
  EXPECT_THAT(roll(x, {-4}, {1}).run_for<int64_t>(), ElementsAre(1, 2, 0, 4, 5, 3));
  EXPECT_THAT(roll(x, {1}, {}).run_for<int64_t>(), ElementsAre(5, 0, 1, 2, 3, 4));
  EXPECT_THAT(error_of([&] { roll(x, {1, 1}, {0}).lower(); }), HasSubstr("shifts and dimensions must align"));
}

TEST(Flip, KeepsTheLayout) {
  CallBuilder call("flip");
  const TestTensor x = tensor_of<double>(DType::F32, {2, 2}, {1, 2, 3, 4}, Dims{1, 2});
  const auto results = call.tensor("self", x).set("dims", Dims{0}).run();
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(3, 4, 1, 2));
  EXPECT_EQ(results[0].strides, (Dims{1, 2}));
}

CallBuilder pad(Dims amounts, double value) {
  CallBuilder call("constant_pad_nd");
  call.tensor("self", floats({2, 2}, {1, 2, 3, 4})).set("pad", std::move(amounts)).scalar("value", value);
  return call;
}

TEST(Pad, StartsAtTheLastDimensionAndCuts) {
  EXPECT_THAT(pad({1, 0}, 9).run_for<double>(), ElementsAre(9, 1, 2, 9, 3, 4));
  EXPECT_THAT(pad({0, -1, 1, 0}, 0).run_for<double>(), ElementsAre(0, 1, 3));
  EXPECT_THAT(error_of([] { pad({1}, 0).lower(); }), HasSubstr("Length of pad must be even but instead it equals 1"));
  EXPECT_THAT(error_of([] { pad({-2, -1}, 0).lower(); }), HasSubstr("negative output size"));
}

CallBuilder fill(DType dtype, double value) {
  CallBuilder call("fill.Scalar");
  call.tensor("self", empty_tensor(dtype, {2})).scalar("value", value);
  return call;
}

TEST(Fill, ConvertsAndRefusesWhatDoesNotFit) {
  EXPECT_THAT(fill(DType::I64, 1.7).run_for<int64_t>(), ElementsAre(1, 1));
  EXPECT_THAT(fill(DType::U8, -1).run_for<int64_t>(), ElementsAre(255, 255));
  EXPECT_THAT(fill(DType::F16, kInfinity).run_for<double>(), ElementsAre(kInfinity, kInfinity));
  EXPECT_THAT(fill(DType::F32, kNan).run_for<double>(), Pointwise(NanSensitiveDoubleEq(), {kNan, kNan}));
  for (const auto& [dtype, value] : {std::pair{DType::I8, 128.0},
                                     {DType::U8, 256.0},
                                     {DType::F16, 1e6},
                                     {DType::F32, 1e39},
                                     {DType::I32, kNan},
                                     {DType::I64, 1e19},
                                     {DType::U8, -256.0}}) {
    EXPECT_THAT(error_of([&] { fill(dtype, value).run(); }), HasSubstr("without overflow"))
        << name(dtype) << " " << value;
  }
}

TEST(Triangles, OfRectangularMatrices) {
  const TestTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(CallBuilder("tril").tensor("self", x).set("diagonal", int64_t{0}).run_for<double>(),
              ElementsAre(1, 0, 0, 4, 5, 0));
  EXPECT_THAT(CallBuilder("triu").tensor("self", x).set("diagonal", int64_t{1}).run_for<double>(),
              ElementsAre(0, 2, 3, 0, 0, 6));
}

template <typename Start, typename End, typename Step>
CallBuilder arange(Start start, End end, Step step, Argument dtype = std::monostate{}) {
  CallBuilder call("arange.start_step");
  call.scalar("start", start).scalar("end", end).scalar("step", step).set("dtype", std::move(dtype));
  return call;
}

TEST(Arange, OfIntegersIsExactAndOfFloatsIsRoundedOnce) {
  const int64_t base = (int64_t{1} << 60) + 1;
  EXPECT_THAT(arange(base, base + 3, int64_t{1}).run_for<int64_t>(), ElementsAre(base, base + 1, base + 2));
  EXPECT_THAT(arange(5, 0, -2).run_for<int64_t>(), ElementsAre(5, 3, 1));
  const auto tenths = arange(0.0, 1.0, 0.1).run();
  EXPECT_EQ(tenths[0].type, (ir::TensorType{DType::F32, {10}}));
  EXPECT_EQ(values_of<double>(tenths[0])[7], static_cast<double>(0.7f));
}

TEST(Arange, CountsInTheTypeOfTheResult) {
  EXPECT_EQ(arange(0.7, 5.2, 1.5, DType::I64).lower().outputs[0].type.shape, (Dims{5}));
  EXPECT_EQ(arange(0.7, 5.2, 1.5, DType::I32).lower().outputs[0].type.shape, (Dims{3}));
  CallBuilder call("arange.start_step");
  call.scalar("start", 0).scalar("end", 5).scalar("step", 1).out(empty_tensor(DType::F32, {2}));
  EXPECT_EQ(call.lower().resize_destinations, (std::vector<Dims>{{5}}));
}

TEST(Arange, RefusesImpossibleRanges) {
  EXPECT_THAT(error_of([] { arange(0, 5, 0).lower(); }), HasSubstr("step must be nonzero"));
  EXPECT_THAT(error_of([] { arange(0, 5, -1).lower(); }), HasSubstr("inconsistent with step sign"));
  EXPECT_THAT(error_of([] { arange(0.0, kInfinity, 1.0).lower(); }), HasSubstr("unsupported range"));
}

TEST(Linspace, IsExactAtBothEndsAndBeyondFloat) {
  const auto spaced = [](int64_t start, int64_t end, int64_t steps, DType dtype) {
    CallBuilder call("linspace");
    return call.scalar("start", start).scalar("end", end).set("steps", steps).set("dtype", dtype);
  };
  const int64_t base = int64_t{1} << 40;
  EXPECT_THAT(spaced(base, base + 8, 3, DType::I64).run_for<int64_t>(), ElementsAre(base, base + 4, base + 8));
  EXPECT_THAT(spaced(0, 10, 4, DType::I64).run_for<int64_t>(), ElementsAre(0, 3, 6, 10));
  EXPECT_THAT(spaced(3, 7, 1, DType::F32).run_for<double>(), ElementsAre(3));
}

CallBuilder sort(const TestTensor& self, bool descending) {
  CallBuilder call("sort.stable");
  call.tensor("self", self).set("stable", true).set("dim", int64_t{-1}).set("descending", descending);
  return call;
}

TEST(Sort, KeepsEqualElementsInOrderAndPutsNanLast) {
  EXPECT_THAT(values_of<int64_t>(sort(integers({5}, {1, 0, 1, 0, 1}), false).run()[1]), ElementsAre(1, 3, 0, 2, 4));
  EXPECT_THAT(values_of<int64_t>(sort(integers({5}, {1, 0, 1, 0, 1}), true).run()[1]), ElementsAre(0, 2, 4, 1, 3));
  const TestTensor x = floats({5}, {1, -kNan, 2, kInfinity, -kInfinity});
  EXPECT_THAT(values_of<int64_t>(sort(x, false).run()[1]), ElementsAre(4, 0, 2, 3, 1));
}

TEST(Sort, BothResultsKeepTheLayout) {
  const Lowered lowered = sort(tensor_of<double>(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6}, Dims{1, 2}), false).lower();
  EXPECT_EQ(lowered.outputs[0].strides, (Dims{1, 2}));
  EXPECT_EQ(lowered.outputs[1].strides, (Dims{1, 2}));
}

CallBuilder topk(const TestTensor& self, int64_t k) {
  CallBuilder call("topk");
  call.tensor("self", self).set("k", k).set("dim", int64_t{-1}).set("largest", true).set("sorted", true);
  return call;
}

TEST(Topk, IsExactOnIntegersBeyondFloat) {
  const auto results = topk(integers({3}, {1 << 24, (1 << 24) + 1, 5}), 2).run();
  EXPECT_THAT(values_of<int64_t>(results[0]), ElementsAre((1 << 24) + 1, 1 << 24));
  EXPECT_THAT(values_of<int64_t>(results[1]), ElementsAre(1, 0));
  EXPECT_THAT(error_of([] { topk(integers({1}, {1}), 2).lower(); }), HasSubstr("selected index k out of range"));
}

TEST(Median, IsTheLowerMiddleAndNanWins) {
  const auto median = [](std::string name, const TestTensor& x) {
    return CallBuilder(std::move(name)).tensor("self", x).run_for<double>()[0];
  };
  EXPECT_EQ(median("median", floats({4}, {4, 1, 3, 2})), 2);
  EXPECT_TRUE(std::isnan(median("median", floats({3}, {1, kNan, 2}))));
  EXPECT_EQ(median("nanmedian", floats({4}, {7, kNan, 1, 5})), 5);
  EXPECT_TRUE(std::isnan(median("median", floats({0}, {}))));
}

TEST(Bucketize, FindsBothBounds) {
  const auto find = [](bool right) {
    CallBuilder call("bucketize.Tensor");
    call.tensor("self", floats({5}, {0, 1, 2.5, 3, kNan})).tensor("boundaries", floats({3}, {1, 2, 3}));
    return call.set("out_int32", true).set("right", right).run();
  };
  EXPECT_EQ(find(false)[0].type.dtype, DType::I32);
  EXPECT_THAT(values_of<int64_t>(find(false)[0]), ElementsAre(0, 0, 2, 2, 3));
  EXPECT_THAT(values_of<int64_t>(find(true)[0]), ElementsAre(0, 1, 2, 3, 3));
}

TEST(Histc, CountsIntegersToo) {
  const auto count = [](const TestTensor& x, int64_t bins, int low, int high) {
    CallBuilder call("histc");
    return call.tensor("self", x).set("bins", bins).scalar("min", low).scalar("max", high).run_for<double>();
  };
  EXPECT_THAT(count(tensor_of<double>(DType::I32, {5}, {0, 3, 3, 1, 9}), 4, 0, 3), ElementsAre(1, 1, 0, 2));
  EXPECT_THAT(count(floats({4}, {1, 2, 3, kNan}), 3, 0, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(count(floats({3}, {1, 1, 1}), 3, 0, 0), ElementsAre(0, 3, 0));
  EXPECT_THAT(error_of([&] { count(floats({1}, {1}), 3, 2, 1); }), HasSubstr("max must be larger than min"));
  EXPECT_THAT(error_of([&] { count(floats({2}, {1, kNan}), 3, 0, 0); }), HasSubstr("is not finite"));
}

}  // namespace
}  // namespace opentrn::lowering::testing
