#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"

namespace opentrn {
namespace {

// Threads of the pool whatever the machine has.
class ThreadPool : public testing::Test {
 protected:
  void SetUp() override { setenv("OPENTRN_NUM_THREADS", "4", 1); }
  void TearDown() override {
    set_interrupt_check(nullptr);
    unsetenv("OPENTRN_NUM_THREADS");
  }
};

TEST_F(ThreadPool, EveryElementIsVisitedOnce) {
  for (const int64_t count : {0, 1, 7, 100, 1000, 12345}) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
    parallel_for(5, 5 + count, 3, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) ++visits[static_cast<size_t>(i - 5)];
    });
    for (const auto& one : visits) ASSERT_EQ(one, 1) << count;
  }
}

TEST_F(ThreadPool, RangesAreNoShorterThanTheGrain) {
  std::atomic<int> short_ranges{0};
  parallel_for(0, 1000, 64, [&](int64_t first, int64_t last) {
    if (last - first < 64 && last != 1000) ++short_ranges;
  });
  EXPECT_EQ(short_ranges, 0);
}

TEST_F(ThreadPool, SmallLoopsStayOnTheCaller) {
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  parallel_for(0, 100, 100, [&](int64_t first, int64_t last) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(last - first, 100);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(ThreadPool, SeveralThreadsTakePart) {
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  parallel_for(0, 8, 1, [&](int64_t, int64_t) {
    ++inside;
    for (int i = 0; i < 2000 && !together; ++i) {
      if (inside >= 2) together = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    --inside;
  });
  EXPECT_TRUE(together);
}

TEST_F(ThreadPool, AnExceptionReachesTheCallerAndStopsTheLoop) {
  std::atomic<int64_t> visited{0};
  std::atomic<bool> thrown{false};
  try {
    parallel_for(0, 1000000, 1, [&](int64_t first, int64_t last) {
      if (first == 0) {
        thrown = true;
        throw std::out_of_range("first");
      }
      while (!thrown) std::this_thread::yield();
      visited += last - first;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_LT(visited, 900000);
  std::atomic<int64_t> sum{0};
  parallel_for(0, 100, 1, [&](int64_t first, int64_t last) { sum += last - first; });
  EXPECT_EQ(sum, 100);
}

TEST_F(ThreadPool, NestedLoopsRunInline) {
  std::atomic<int64_t> sum{0};
  parallel_for(0, 16, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto outer = std::this_thread::get_id();
      parallel_for(0, 100, 1, [&](int64_t from, int64_t to) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        sum += to - from;
      });
    }
  });
  EXPECT_EQ(sum, 1600);
}

TEST_F(ThreadPool, SeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        parallel_for(0, 64, 1, [&](int64_t first, int64_t last) { sum += last - first; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 200 * 64);
}

struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

TEST_F(ThreadPool, AnInterruptStopsALoopOnEveryThread) {
  set_interrupt_check([] { throw Stopped(); });
  for (const char* threads : {"1", "4"}) {
    setenv("OPENTRN_NUM_THREADS", threads, 1);
    std::atomic<int> running{0};
    std::atomic<int64_t> visited{0};
    EXPECT_THROW(
        parallel_for(0, 10000, 1,
                     [&](int64_t first, int64_t last) {
                       ++running;
                       visited += last - first;
                       std::this_thread::sleep_for(std::chrono::milliseconds(std::min<int64_t>(last - first, 70)));
                       --running;
                     }),
        Stopped);
    EXPECT_EQ(running, 0);
    EXPECT_LT(visited, 10000);
  }
}

TEST_F(ThreadPool, AWaitingCallerIsInterrupted) {
  set_interrupt_check([] { throw Stopped(); });
  const auto caller = std::this_thread::get_id();
  // The caller runs out of ranges while another thread is still in one.
  EXPECT_THROW(parallel_for(0, 2, 1,
                            [&](int64_t, int64_t) {
                              const bool waits = std::this_thread::get_id() == caller;
                              std::this_thread::sleep_for(std::chrono::milliseconds(waits ? 10 : 300));
                            }),
               Stopped);
}

TEST_F(ThreadPool, TheCheckIsNotCalledTooOften) {
  static std::atomic<int> calls;
  calls = 0;
  set_interrupt_check([] { ++calls; });
  check_interrupt();
  calls = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100000; ++i) check_interrupt();
  EXPECT_LE(calls, (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(50) + 1);
}

// Workers look for the next loop before they sleep; the pauses here end before, about when and after they do.
TEST_F(ThreadPool, LoopsAfterPausesOfAnyLength) {
  std::atomic<int64_t> sum{0};
  for (int pause = 0; pause < 200; ++pause) {
    parallel_for(0, 64, 1, [&](int64_t first, int64_t last) { sum += last - first; });
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
  }
  EXPECT_EQ(sum, 200 * 64);
}

TEST_F(ThreadPool, AForkedChildCanUseIt) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a process that has several";
#endif
  parallel_for(0, 64, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> sum{0};
    parallel_for(0, 64, 1, [&](int64_t first, int64_t last) { sum += last - first; });
    _exit(sum == 64 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(ThreadPool, ThreadCountFollowsTheVariable) {
  EXPECT_EQ(thread_count(), 4);
  unsetenv("OPENTRN_NUM_THREADS");
  EXPECT_GE(thread_count(), 1);
  for (const char* wrong : {"0", "-1", "two", "2x", "99999"}) {
    setenv("OPENTRN_NUM_THREADS", wrong, 1);
    EXPECT_THROW(thread_count(), Error) << wrong;
  }
}

}  // namespace
}  // namespace opentrn
