// Random numbers: ranges, moments, the checks of parameters, and what must never be drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;

constexpr int64_t kCount = 20000;

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double deviation(const std::vector<double>& x) {
  const double centre = mean(x);
  double squares = 0;
  for (const double value : x) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(x.size()));
}

CallBuilder fill(std::string name, DType dtype, int64_t count = kCount) {
  CallBuilder call(std::move(name));
  call.tensor("self", empty_tensor(dtype, {count}));
  return call;
}

const std::vector<DType> kFloats = {DType::F16, DType::BF16, DType::F32, DType::F64};

TEST(Uniform, StaysBelowItsEndInEveryType) {
  for (const DType dtype : kFloats) {
    const auto x = fill("uniform", dtype).scalar("from", 1.0).scalar("to", 2.0).none("generator").run_for<double>();
    EXPECT_THAT(x, Each(AllOf(Ge(1), Lt(2)))) << name(dtype);
    EXPECT_NEAR(mean(x), 1.5, 0.015) << name(dtype);
    EXPECT_NEAR(deviation(x), std::sqrt(1 / 12.0), 0.01) << name(dtype);
  }
}

TEST(Uniform, FillsEveryElementOfATransposedTensor) {
  CallBuilder call("uniform");
  call.tensor("self", empty_tensor(DType::F32, {4, 3}, Dims{1, 4}))
      .scalar("from", 1.0)
      .scalar("to", 2.0)
      .none("generator");
  const auto results = call.run();
  EXPECT_EQ(results[0].strides, (Dims{1, 4}));
  EXPECT_THAT(values_of<double>(results[0]), Each(Ge(1)));
}

TEST(Normal, HasItsMoments) {
  for (const DType dtype : kFloats) {
    const auto x =
        fill("normal_functional", dtype).scalar("mean", 1.0).scalar("std", 2.0).none("generator").run_for<double>();
    EXPECT_NEAR(mean(x), 1, 0.06) << name(dtype);
    EXPECT_NEAR(deviation(x), 2, 0.05) << name(dtype);
    EXPECT_GT(*std::max_element(x.begin(), x.end()), 6) << name(dtype);
  }
  const auto odd =
      fill("normal_functional", DType::F32, 3).scalar("mean", 0.0).scalar("std", 1.0).none("generator").run();
  EXPECT_EQ(odd[0].type.shape, (Dims{3}));
}

TEST(Exponential, IsNeverZero) {
  const auto x = fill("exponential", DType::F32).scalar("lambd", 2.0).none("generator").run_for<double>();
  EXPECT_THAT(x, Each(Gt(0)));
  EXPECT_NEAR(mean(x), 0.5, 0.02);
}

TEST(Geometric, StartsAtOne) {
  const auto x = fill("geometric", DType::I64).scalar("p", 0.25).none("generator").run_for<double>();
  EXPECT_THAT(x, Each(Ge(1)));
  EXPECT_NEAR(mean(x), 4, 0.15);
}

TEST(Bernoulli, OfZeroAndOneIsCertain) {
  const auto draw = [](double p) {
    return fill("bernoulli.p", DType::Bool).scalar("p", p).none("generator").run_for<double>();
  };
  EXPECT_THAT(draw(0), Each(0));
  EXPECT_THAT(draw(1), Each(1));
  EXPECT_NEAR(mean(draw(0.3)), 0.3, 0.02);
}

TEST(Random, CoversTheRangeOfTheType) {
  const auto bytes = fill("random", DType::U8).none("generator").run_for<double>();
  EXPECT_EQ(*std::min_element(bytes.begin(), bytes.end()), 0);
  EXPECT_EQ(*std::max_element(bytes.begin(), bytes.end()), 255);
  const auto between = fill("random.from", DType::I64).set("from", int64_t{-2}).set("to", int64_t{3}).none("generator");
  EXPECT_NEAR(mean(CallBuilder(between).run_for<double>()), 0, 0.05);
  EXPECT_THAT(CallBuilder(between).run_for<double>(), Each(AllOf(Ge(-2), Le(2))));
  const auto all = fill("random.from", DType::I64)
                       .set("from", std::numeric_limits<int64_t>::min())
                       .none("to")
                       .none("generator")
                       .run_for<double>();
  EXPECT_LT(*std::min_element(all.begin(), all.end()), -0x1p62);
  EXPECT_GT(*std::max_element(all.begin(), all.end()), 0x1p62);
}

TEST(Random, ConsecutiveDrawsUseTheStreamOnce) {
  EXPECT_EQ(
      fill("uniform", DType::F32, 9).scalar("from", 0.0).scalar("to", 1.0).none("generator").lower().random_blocks, 3);
  EXPECT_EQ(fill("random", DType::I64, 4).none("generator").lower().random_blocks, 2);
}

TEST(Random, OfNothingDrawsNothing) {
  for (const char* name : {"random", "bernoulli"}) {
    const Lowered lowered = fill(name, DType::F32, 0).none("generator").lower();
    EXPECT_EQ(lowered.random_blocks, 0) << name;
    EXPECT_EQ(lowered.graph.parameters.size(), 1u) << name;
  }
}

TEST(Random, RefusesBadParameters) {
  const auto run = [](CallBuilder call) { return error_of([&] { call.none("generator").run(); }); };
  EXPECT_THAT(run(fill("uniform", DType::F32).scalar("from", 2.0).scalar("to", 1.0)), HasSubstr("found from > to"));
  EXPECT_THAT(run(fill("normal_functional", DType::F32).scalar("mean", 0.0).scalar("std", -1.0)),
              HasSubstr("std >= 0.0"));
  EXPECT_THAT(run(fill("exponential", DType::F32).scalar("lambd", 0.0)), HasSubstr("lambda > 0.0"));
  EXPECT_THAT(run(fill("geometric", DType::F32).scalar("p", 1.0)), HasSubstr("p to be in (0, 1)"));
  EXPECT_THAT(run(fill("bernoulli.p", DType::F32).scalar("p", 1.5)), HasSubstr("p to be in [0, 1]"));
  EXPECT_THAT(run(fill("random.from", DType::F32).set("from", int64_t{3}).set("to", int64_t{3})),
              HasSubstr("from=3 >= to=3"));
  EXPECT_THAT(run(fill("random.to", DType::I8).set("to", int64_t{300})), HasSubstr("to - 1 is out of bounds"));
}

TEST(Randperm, IsAPermutation) {
  auto x = CallBuilder("randperm.generator").set("n", int64_t{500}).none("generator").none("dtype").run_for<int64_t>();
  EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
  std::sort(x.begin(), x.end());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<int64_t>(i));
}

CallBuilder multinomial(const TestTensor& weights, int64_t samples, bool replacement) {
  CallBuilder call("multinomial");
  call.tensor("self", weights).set("num_samples", samples).set("replacement", replacement).none("generator");
  return call;
}

TEST(Multinomial, FollowsTheWeightsAndNeverDrawsZero) {
  const auto x = multinomial(floats({4}, {0, 1, 3, 0}), kCount, true).run_for<double>();
  EXPECT_THAT(x, Each(AllOf(Ge(1), Le(2))));
  EXPECT_NEAR(mean(x), 1.75, 0.02);
  std::vector<double> rows;
  for (int64_t i = 0; i < kCount; ++i) rows.insert(rows.end(), {0, 1, 3, 0});
  const auto one_each = multinomial(floats({kCount, 4}, rows), 1, false).run_for<double>();
  EXPECT_THAT(one_each, Each(AllOf(Ge(1), Le(2))));
  EXPECT_NEAR(mean(one_each), 1.75, 0.02);
}

TEST(Multinomial, WithoutReplacementDrawsEachOnce) {
  auto x = multinomial(floats({4}, {1e-38, 1, 0, 5}), 3, false).run_for<int64_t>();
  std::sort(x.begin(), x.end());
  EXPECT_THAT(x, ElementsAre(0, 1, 3));
}

TEST(Multinomial, RefusesBadWeights) {
  const auto run = [](std::vector<double> weights, int64_t samples, bool replacement) {
    const auto size = static_cast<int64_t>(weights.size());
    return error_of([&] { multinomial(floats({size}, weights), samples, replacement).run(); });
  };
  for (const bool replacement : {false, true}) {
    EXPECT_THAT(run({0, 0}, 1, replacement), HasSubstr("sum of probabilities <= 0"));
    EXPECT_THAT(run({-1, 2}, 2, replacement), HasSubstr("element < 0"));
    EXPECT_THAT(run({std::nan(""), 2}, 2, replacement), HasSubstr("`nan`"));
    EXPECT_THAT(run({INFINITY, 2}, 2, replacement), HasSubstr("`inf`"));
    EXPECT_THAT(run({1, 2}, 0, replacement), HasSubstr("n_sample <= 0"));
  }
  EXPECT_THAT(run({1, 2}, 3, false), HasSubstr("without replacement"));
}

}  // namespace
}  // namespace opentrn::lowering::testing
