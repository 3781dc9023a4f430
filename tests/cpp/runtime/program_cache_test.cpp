#include "runtime/program_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace opentrn::runtime {
namespace {

ProgramKey key_of(std::initializer_list<int64_t> words) {
  ProgramKey key;
  for (const int64_t word : words) key.add(word);
  return key;
}

TEST(ProgramKey, EqualWordsMakeEqualKeys) {
  EXPECT_EQ(key_of({1, 2, 3}).hash(), key_of({1, 2, 3}).hash());
  EXPECT_TRUE(key_of({1, 2, 3}).equals(key_of({1, 2, 3}).words()));
  EXPECT_FALSE(key_of({1, 2, 3}).equals(key_of({1, 2, 4}).words()));
  EXPECT_FALSE(key_of({1, 2}).equals(key_of({1, 2, 0}).words()));
}

TEST(ProgramKey, TextsAreKeptApart) {
  ProgramKey tanh, none;
  tanh.add(std::string_view("tanh"));
  none.add(std::string_view("none"));
  EXPECT_FALSE(tanh.equals(none.words()));
  ProgramKey split, joined;
  split.add(std::string_view("ab"));
  split.add(std::string_view("c"));
  joined.add(std::string_view("abc"));
  EXPECT_FALSE(split.equals(joined.words()));
}

TEST(ProgramKey, LongKeysSpillAndStillCompare) {
  ProgramKey left, right;
  for (int64_t i = 0; i < 1000; ++i) {
    left.add(i);
    right.add(i == 999 ? int64_t{-1} : i);
  }
  EXPECT_EQ(left.size(), 1000U);
  EXPECT_TRUE(left.equals(left.words()));
  EXPECT_FALSE(left.equals(right.words()));
}

TEST(ProgramCache, FindsWhatWasInserted) {
  ProgramCache<std::string> cache;
  EXPECT_EQ(cache.find(key_of({1})), nullptr);
  cache.insert(key_of({1}), "one");
  ASSERT_NE(cache.find(key_of({1})), nullptr);
  EXPECT_EQ(*cache.find(key_of({1})), "one");
  EXPECT_EQ(cache.find(key_of({2})), nullptr);
}

TEST(ProgramCache, TheFirstProgramOfAKeyStays) {
  ProgramCache<std::string> cache;
  const auto first = cache.insert(key_of({5}), "first");
  EXPECT_EQ(cache.insert(key_of({5}), "second"), first);
  EXPECT_EQ(*first, "first");
  EXPECT_EQ(cache.size(), 1U);
}

TEST(ProgramCache, CachesDoNotSeeEachOther) {
  ProgramCache<std::string> left, right;
  left.insert(key_of({7}), "left");
  EXPECT_NE(left.find(key_of({7})), nullptr);
  EXPECT_EQ(right.find(key_of({7})), nullptr);
}

TEST(ProgramCache, DropsWhatNobodyAsksForAndKeepsTheRest) {
  ProgramCache<int64_t> cache(8);
  cache.insert(key_of({-1}), -1);
  for (int64_t i = 0; i < 1000; ++i) {
    cache.insert(key_of({i}), i);
    EXPECT_LE(cache.size(), 8U + 1U);
    // Asked for on fresh threads, which have nothing in front of the shared table.
    if (i % 2 == 0) std::thread([&] { EXPECT_NE(cache.find(key_of({-1})), nullptr); }).join();
  }
  std::thread([&] {
    EXPECT_EQ(cache.find(key_of({0})), nullptr);
    ASSERT_NE(cache.find(key_of({999})), nullptr);
    EXPECT_EQ(*cache.find(key_of({999})), 999);
  }).join();
}

TEST(ProgramCache, ADroppedProgramStaysValidWhileItIsHeld) {
  ProgramCache<std::vector<int>> cache(2);
  const auto held = cache.insert(key_of({0}), std::vector<int>(100, 7));
  std::thread([&] {
    for (int64_t i = 1; i < 20; ++i) cache.insert(key_of({i}), {});
  }).join();
  EXPECT_EQ(held->at(99), 7);
}

TEST(ProgramCache, ThreadsAgreeOnOneProgram) {
  ProgramCache<int64_t> cache;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int64_t i = 0; i < 500; ++i) {
        if (cache.find(key_of({i})) == nullptr) cache.insert(key_of({i}), i * 10 + t * 0);
        EXPECT_EQ(*cache.find(key_of({i})), i * 10);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.size(), 500U);
}

}  // namespace
}  // namespace opentrn::runtime
