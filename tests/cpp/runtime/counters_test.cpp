#include "runtime/counters.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/self_test.h"
#include "runtime/stream.h"

namespace opentrn::runtime {
namespace {

class Counters : public testing::Test {
 protected:
  void SetUp() override { clear_statistics(); }
};

TEST_F(Counters, OperatorsAppearOnceCalled) {
  OperatorCounter& counter = operator_counter("aten::counted");
  EXPECT_EQ(&counter, &operator_counter("aten::counted"));
  EXPECT_TRUE(statistics().operators.empty());
  counter.calls += 3;
  ASSERT_EQ(statistics().operators.size(), 1U);
  EXPECT_EQ(statistics().operators[0].calls, 3);
  clear_statistics();
  EXPECT_TRUE(statistics().operators.empty());
}

TEST_F(Counters, FallbacksAreGroupedByOperatorReasonAndLine) {
  FallbackRecord call{"aten::sort", "no lowering", "model.py:3"};
  call.bytes_to_host = 100;
  EXPECT_TRUE(count_fallback(call));
  EXPECT_FALSE(count_fallback(call));
  call.line = "model.py:4";
  EXPECT_TRUE(count_fallback(call));
  const Statistics seen = statistics();
  ASSERT_EQ(seen.fallbacks.size(), 2U);
  EXPECT_EQ(seen.fallbacks[0].calls, 2);
  EXPECT_EQ(seen.fallbacks[0].bytes_to_host, 200);
}

TEST_F(Counters, TransfersAddUpByDirection) {
  count_transfer(Direction::HostToDevice, 10, 1);
  count_transfer(Direction::HostToDevice, 5, 1);
  count_transfer(Direction::DeviceToHost, 7, 1);
  EXPECT_EQ(statistics().host_to_device.bytes, 15);
  EXPECT_EQ(statistics().host_to_device.count, 2);
  EXPECT_EQ(statistics().device_to_host.bytes, 7);
}

TEST_F(Counters, EveryCallCompilesOrHits) {
  operator_counter("aten::counted").calls += 5;
  count_compile(1000);
  EXPECT_EQ(statistics().programs_compiled, 1);
  EXPECT_EQ(statistics().cache_hits, 4);
}

TEST_F(Counters, SynchronisationsAreGroupedByLine) {
  count_synchronisation("chat.py:31", "item", 5);
  count_synchronisation("chat.py:31", "item", 5);
  ASSERT_EQ(statistics().synchronisations.size(), 1U);
  EXPECT_EQ(statistics().synchronisations[0].count, 2);
  EXPECT_EQ(statistics().synchronisations[0].nanoseconds, 10);
}

TEST(Streams, TheCurrentStreamBelongsToTheThread) {
  EXPECT_EQ(current_stream(0), 0);
  const int64_t stream = stream_from_pool(0);
  EXPECT_GT(stream, 0);
  EXPECT_EQ(exchange_stream(0, stream), 0);
  EXPECT_EQ(current_stream(0), stream);
  EXPECT_EQ(exchange_stream(0, 0), stream);
}

TEST(Streams, EventsMeasureTimeOnlyOnceRecorded) {
  Event first, second;
  EXPECT_TRUE(first.query());
  EXPECT_THROW(first.elapsed_milliseconds(second), Error);
  first.record(0, 0);
  second.record(0, 0);
  EXPECT_GE(first.elapsed_milliseconds(second), 0.0);
}

TEST(SelfTest, TheEngineComputesItsSmallProgram) { EXPECT_NO_THROW(engine_self_test()); }

}  // namespace
}  // namespace opentrn::runtime
