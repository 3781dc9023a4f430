#include "ir/view.h"

#include <gtest/gtest.h>

#include "engines/reference/nest.h"

namespace opentrn::engines::reference {
namespace {

using ir::reshape_view;
using ir::slice_view;

View view(const Dims& shape, const Dims& strides) { return {DType::F32, shape, strides, 0}; }

TEST(View, ReshapeWithoutMovingElements) {
  EXPECT_EQ(reshape_view(view({2, 3, 4}, {12, 4, 1}), {6, 4})->strides, (Dims{4, 1}));
  EXPECT_EQ(reshape_view(view({2, 3, 4}, {24, 8, 2}), {24})->strides, (Dims{2}));
  EXPECT_EQ(reshape_view(view({6, 4}, {1, 6}), {2, 3, 4})->strides, (Dims{3, 1, 6}));
  EXPECT_EQ(reshape_view(view({6, 4}, {1, 6}), {6, 1, 2, 2})->strides[0], 1);
  EXPECT_FALSE(reshape_view(view({6, 4}, {1, 6}), {24}).has_value());
  EXPECT_FALSE(reshape_view(view({6, 4}, {8, 1}), {4, 6}).has_value());
  EXPECT_FALSE(reshape_view(view({2, 3}, {10, 1}), {6}).has_value());
  EXPECT_EQ(reshape_view(view({3, 4}, {0, 0}), {12})->strides, (Dims{0}));
  EXPECT_EQ(reshape_view(view({1, 1}, {7, 9}), {})->shape, Dims{});
  EXPECT_EQ(reshape_view(view({0, 4}, {4, 1}), {2, 0})->shape, (Dims{2, 0}));
}

TEST(View, SamePlacesIgnoresStridesThatAreNeverTaken) {
  EXPECT_TRUE(same_places(view({1, 3}, {99, 1}), view({1, 3}, {3, 1})));
  EXPECT_FALSE(same_places(view({2, 3}, {4, 1}), view({2, 3}, {3, 1})));
}

TEST(Nest, MergesAndOrdersDimensions) {
  const View dense = view({4, 5, 6}, {30, 6, 1});
  const std::array<const View*, 2> both{&dense, &dense};
  EXPECT_EQ(make_nest(both).dimensions.size(), 1u);
  const View columns = view({4, 5}, {1, 4});
  const std::array<const View*, 2> column_major{&columns, &columns};
  const Nest nest = make_nest(column_major);
  ASSERT_EQ(nest.dimensions.size(), 1u);
  EXPECT_EQ(nest.dimensions[0].size, 20);
  EXPECT_EQ(nest.dimensions[0].steps[0], 4);
  const View rows = view({4, 5}, {5, 1});
  const std::array<const View*, 2> transposed{&rows, &columns};
  EXPECT_EQ(make_nest(transposed).dimensions.size(), 2u);
}

}  // namespace
}  // namespace opentrn::engines::reference
