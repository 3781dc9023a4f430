#include "runtime/allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/configuration.h"

namespace opentrn::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(Allocator, ZeroBytesNeedNoBlock) {
  EXPECT_EQ(allocate(0, 0), nullptr);
  deallocate(nullptr);
}

TEST(Allocator, BlocksAreAlignedWritableAndCounted) {
  const MemoryStatistics before = memory_statistics(0);
  for (const size_t bytes : {1UL, 63UL, 64UL, 65UL, 4096UL, 65536UL, 65537UL, 5UL << 20}) {
    void* block = allocate(0, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U) << bytes;
    std::memset(block, 0x5A, bytes);
    EXPECT_GE(memory_statistics(0).allocated - before.allocated, static_cast<int64_t>(bytes));
    deallocate(block);
    EXPECT_EQ(memory_statistics(0).allocated, before.allocated) << bytes;
  }
}

TEST(Allocator, PeakFollowsTheLargestUseUntilReset) {
  reset_peak_memory(0);
  const int64_t start = memory_statistics(0).peak_allocated;
  deallocate(allocate(0, static_cast<size_t>(8 * kMiB)));
  EXPECT_GE(memory_statistics(0).peak_allocated, start + 8 * kMiB);
  reset_peak_memory(0);
  EXPECT_EQ(memory_statistics(0).peak_allocated, memory_statistics(0).allocated);
}

TEST(Allocator, FreedBlocksAreCachedUntilEmptied) {
  empty_cache();
  deallocate(allocate(0, static_cast<size_t>(3 * kMiB)));
  EXPECT_GE(memory_statistics(0).reserved - memory_statistics(0).allocated, 3 * kMiB);
  empty_cache();
  EXPECT_EQ(memory_statistics(0).reserved, memory_statistics(0).allocated);
}

TEST(Allocator, BeyondTheDeviceRaisesAndLeavesItUsable) {
  const auto [free, total] = memory_info(0);
  try {
    allocate(0, static_cast<size_t>(total + 1));
    FAIL() << "an allocation larger than the HBM succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::OutOfMemory);
    const std::string text = error.what();
    for (const char* part : {"requested", "used", "free", "largest holders", "trn"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  void* block = allocate(0, 1024);
  EXPECT_NE(block, nullptr);
  deallocate(block);
}

TEST(Allocator, OutOfMemoryNamesTheLargestHolder) {
  const int64_t total = memory_info(0).second;
  set_allocation_label("aten::big");
  void* big = allocate(0, static_cast<size_t>(total - 64 * kMiB));
  set_allocation_label("tensor");
  try {
    allocate(0, static_cast<size_t>(128 * kMiB));
    FAIL() << "the second allocation exceeds the HBM";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("aten::big"), std::string::npos) << error.what();
  }
  deallocate(big);
  empty_cache();
}

TEST(Allocator, CachedBlocksMakeRoomForOtherSizes) {
  const int64_t total = memory_info(0).second;
  deallocate(allocate(0, static_cast<size_t>(total - 64 * kMiB)));
  void* other = allocate(0, static_cast<size_t>(total / 2));
  EXPECT_NE(other, nullptr);
  deallocate(other);
  empty_cache();
}

TEST(Allocator, BlocksMayBeFreedOnAnotherThread) {
  const int64_t before = memory_statistics(0).allocated;
  std::vector<void*> blocks;
  for (size_t i = 1; i <= 200; ++i) blocks.push_back(allocate(0, i * 37));
  std::thread([&] {
    for (void* block : blocks) deallocate(block);
  }).join();
  EXPECT_EQ(memory_statistics(0).allocated, before);
}

TEST(Allocator, ManyThreadsKeepTheBooks) {
  const int64_t before = memory_statistics(0).allocated;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      std::vector<void*> live;
      for (int i = 0; i < 2000; ++i) {
        if (live.size() > 20 || (!live.empty() && random() % 2 == 0)) {
          deallocate(live.back());
          live.pop_back();
        } else {
          live.push_back(allocate(0, random() % 100000 + 1));
        }
      }
      for (void* block : live) deallocate(block);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory_statistics(0).allocated, before);
}

TEST(Allocator, KnowsTheDeviceOfALargeBlock) {
  void* block = allocate(0, static_cast<size_t>(kMiB));
  EXPECT_EQ(device_of_block(block), 0);
  deallocate(block);
  static std::byte elsewhere[256];
  EXPECT_EQ(device_of_block(elsewhere + 128), -1);
}

TEST(Configuration, RefusesDevicesThatDoNotExist) {
  check_device(0, "test");
  try {
    check_device(7, "empty");
    FAIL() << "there is one device only";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("[empty]"), std::string::npos);
    EXPECT_NE(text.find("neuron:7"), std::string::npos);
    EXPECT_NE(text.find("neuron:0"), std::string::npos);
  }
}

}  // namespace
}  // namespace opentrn::runtime
