#include "base/arena.h"

#include <gtest/gtest.h>

namespace opentrn {
namespace {

TEST(Arena, ReusesTheSmallestGapThatFits) {
  Arena arena;
  const int64_t large = arena.take(300);
  arena.take(10);
  const int64_t small = arena.take(100);
  arena.take(10);
  arena.give_back(large, 300);
  arena.give_back(small, 100);
  EXPECT_EQ(arena.take(90), small);
  EXPECT_EQ(arena.take(200), large);
  EXPECT_EQ(arena.high_water(), 420);
}

TEST(Arena, NeighbouringGapsJoin) {
  Arena arena;
  const int64_t first = arena.take(64), second = arena.take(64), third = arena.take(64);
  arena.take(1);
  arena.give_back(first, 64);
  arena.give_back(third, 64);
  arena.give_back(second, 64);
  EXPECT_EQ(arena.take(192), first);
  EXPECT_EQ(arena.high_water(), 193);
}

TEST(Arena, TheLastGapGrows) {
  Arena arena;
  arena.take(10);
  const int64_t last = arena.take(20);
  arena.give_back(last, 20);
  EXPECT_EQ(arena.take(50), last);
  EXPECT_EQ(arena.high_water(), 60);
}

TEST(Arena, NothingTakesNothing) {
  Arena arena;
  EXPECT_EQ(arena.take(0), 0);
  EXPECT_EQ(arena.high_water(), 0);
}

}  // namespace
}  // namespace opentrn
