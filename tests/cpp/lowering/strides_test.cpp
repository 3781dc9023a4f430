#include "lowering/strides.h"

#include <gtest/gtest.h>

namespace opentrn::lowering {
namespace {

TensorArgument argument(Dims shape, Dims strides) {
  TensorArgument result;
  result.type = {DType::F32, std::move(shape)};
  result.strides = std::move(strides);
  return result;
}

Dims result_strides(Dims shape, std::vector<TensorArgument> operands) { return elementwise_strides(shape, operands); }

TEST(ElementwiseStrides, KeepsATransposedOrder) {
  EXPECT_EQ(result_strides({3, 2}, {argument({3, 2}, {1, 3})}), (Dims{1, 3}));
}

TEST(ElementwiseStrides, MakesAStridedSliceDense) {
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 3}, {1, 4})}), (Dims{1, 2}));
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 3}, {12, 2})}), (Dims{3, 1}));
}

TEST(ElementwiseStrides, EarlierOperandDecidesAConflict) {
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 3}, {1, 2}), argument({2, 3}, {3, 1})}), (Dims{1, 2}));
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 3}, {3, 1}), argument({2, 3}, {1, 2})}), (Dims{3, 1}));
}

TEST(ElementwiseStrides, ScalarsAndExpandedOperandsDoNotVote) {
  EXPECT_EQ(result_strides({2, 3}, {argument({}, {}), argument({2, 3}, {1, 2})}), (Dims{1, 2}));
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 3}, {0, 1}), argument({2, 3}, {1, 2})}), (Dims{1, 2}));
}

TEST(ElementwiseStrides, ChannelsLast) {
  EXPECT_EQ(result_strides({2, 3, 4, 5}, {argument({2, 3, 4, 5}, {60, 1, 15, 3})}), (Dims{60, 1, 15, 3}));
}

TEST(ElementwiseStrides, BroadcastShapes) {
  EXPECT_EQ(result_strides({2, 3}, {argument({2, 1}, {1, 1}), argument({3}, {1})}), (Dims{3, 1}));
}

TEST(ElementwiseStrides, EmptyAndZeroDimensional) {
  EXPECT_EQ(result_strides({}, {argument({}, {})}), Dims{});
  EXPECT_EQ(result_strides({0, 3}, {argument({0, 3}, {3, 1})}), (Dims{3, 1}));
}

TEST(PreservedStrides, DenseOnesAreKept) {
  EXPECT_EQ(preserved_strides({3, 2}, {1, 3}), (Dims{1, 3}));
  EXPECT_EQ(preserved_strides({2, 1, 3}, {3, 77, 1}), (Dims{3, 77, 1}));
}

TEST(PreservedStrides, OthersBecomeDenseInTheSameOrder) {
  EXPECT_EQ(preserved_strides({3, 2}, {2, 12}), (Dims{1, 3}));
  EXPECT_EQ(preserved_strides({3, 2}, {0, 0}), (Dims{2, 1}));
}

}  // namespace
}  // namespace opentrn::lowering
