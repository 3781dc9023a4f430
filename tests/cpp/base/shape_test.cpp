#include "base/shape.h"

#include <gtest/gtest.h>

namespace opentrn {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
}

TEST(Shape, ContiguousStridesCountEmptyDimensionsAsOne) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

TEST(Shape, ContiguityIgnoresStridesOfSingleElements) {
  EXPECT_TRUE(is_contiguous({2, 1, 3}, {3, 77, 1}));
  EXPECT_FALSE(is_contiguous({2, 3}, {1, 2}));
  EXPECT_FALSE(is_contiguous({2, 3}, {4, 1}));
  EXPECT_TRUE(is_contiguous({0, 3}, {9, 9}));
}

TEST(Shape, OverlapIsSeen) {
  EXPECT_TRUE(is_non_overlapping({2, 3}, {1, 2}));
  EXPECT_TRUE(is_non_overlapping({2, 3}, {10, 2}));
  EXPECT_FALSE(is_non_overlapping({2, 3}, {0, 1}));
  EXPECT_FALSE(is_non_overlapping({4, 3}, {1, 1}));
  EXPECT_TRUE(is_non_overlapping({1, 3}, {0, 1}));
  EXPECT_TRUE(is_non_overlapping({0, 3}, {0, 0}));
}

TEST(Shape, SpanReachesTheLastElement) {
  EXPECT_EQ(span_in_bytes({2, 3}, {10, 2}, 4), (10 + 4 + 1) * 4);
  EXPECT_EQ(span_in_bytes({}, {}, 8), 8);
  EXPECT_EQ(span_in_bytes({3, 0}, {1, 1}, 8), 0);
}

TEST(Shape, BroadcastsAlignedAtTheRight) {
  Dims result;
  EXPECT_TRUE(broadcast_shapes({5, 1, 3}, {4, 1}, result));
  EXPECT_EQ(result, (Dims{5, 4, 3}));
  EXPECT_TRUE(broadcast_shapes({1}, {0}, result));
  EXPECT_EQ(result, Dims{0});
  EXPECT_FALSE(broadcast_shapes({2}, {3}, result));
  EXPECT_FALSE(broadcast_shapes({2}, {0}, result));
  Dims left{1, 3};
  EXPECT_TRUE(broadcast_shapes(left, {2, 1}, left));
  EXPECT_EQ(left, (Dims{2, 3}));
}

TEST(Shape, IdentityMovesNothing) {
  EXPECT_TRUE(is_identity({}));
  EXPECT_TRUE(is_identity({0, 1, 2}));
  EXPECT_FALSE(is_identity({1, 0}));
}

TEST(Shape, Prints) {
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ(to_string(Dims{2, -1}), "[2, -1]");
}

}  // namespace
}  // namespace opentrn
