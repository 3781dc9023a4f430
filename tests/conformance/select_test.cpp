// Comparing, choosing, clamping and converting.
#include <cmath>
#include <limits>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::ComparisonDirection;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Select : public Conformance {};

bool holds(ComparisonDirection direction, double x, double y) {
  switch (direction) {
    case ComparisonDirection::EQ: return x == y;
    case ComparisonDirection::NE: return x != y;
    case ComparisonDirection::GE: return x >= y;
    case ComparisonDirection::GT: return x > y;
    case ComparisonDirection::LE: return x <= y;
    case ComparisonDirection::LT: return x < y;
  }
  return false;
}

TEST_P(Select, Compare) {
  const ComparisonDirection directions[] = {ComparisonDirection::EQ, ComparisonDirection::NE, ComparisonDirection::GE,
                                            ComparisonDirection::GT, ComparisonDirection::LE, ComparisonDirection::LT};
  std::vector<DType> dtypes = kIntegers;
  dtypes.insert(dtypes.end(), kFloats.begin(), kFloats.end());
  dtypes.push_back(DType::Bool);
  for (const DType dtype : dtypes) {
    const std::vector<double> numbers = is_float(dtype)  ? std::vector<double>{-1, 0, -0.0, 2.5, kNaN, 100}
                                        : is_bool(dtype) ? std::vector<double>{0, 1}
                                                         : std::vector<double>{0, 1, 2, 100, 127};
    std::vector<double> left, right;
    for (const double x : numbers) {
      for (const double y : numbers) {
        left.push_back(x);
        right.push_back(y);
      }
    }
    for (const ComparisonDirection direction : directions) {
      for (const Arrangement arrangement : {Arrangement::RowMajor, Arrangement::Strided}) {
        Tensor x(dtype, {static_cast<int64_t>(left.size())}, arrangement);
        Tensor y(dtype, {static_cast<int64_t>(left.size())});
        x.fill(left);
        y.fill(right);
        const Tensor result = evaluate({&x, &y}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
          return std::vector{b.compare(direction, p[0], p[1])};
        });
        for (size_t i = 0; i < left.size(); ++i) {
          EXPECT_EQ(result.values<int>()[i], holds(direction, left[i], right[i]) ? 1 : 0)
              << name(dtype) << " " << left[i] << " against " << right[i];
        }
      }
    }
  }
}

TEST_P(Select, LargeIntegersCompareExactly) {
  Tensor x(DType::I64, {2}), y(DType::I64, {2});
  x.fill(std::vector<int64_t>{INT64_MAX - 1, INT64_MIN});
  y.fill(std::vector<int64_t>{INT64_MAX, INT64_MIN + 1});
  const Tensor result = evaluate({&x, &y}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.compare(ComparisonDirection::LT, p[0], p[1])};
  });
  EXPECT_EQ(result.values<int>(), (std::vector<int>{1, 1}));
}

TEST_P(Select, EveryLayoutAndWidth) {
  const std::vector<DType> dtypes{DType::Bool, DType::BF16, DType::F32, DType::F64, DType::C128};
  for (const DType dtype : dtypes) {
    for (const Arrangement of_predicate : kResultArrangements) {
      for (const Arrangement of_branch : kResultArrangements) {
        for (const Arrangement out : kResultArrangements) {
          Tensor predicate(DType::Bool, {3, 5}, of_predicate), yes(dtype, {3, 5}, of_branch), no(dtype, {3, 5});
          std::vector<double> choice, expected;
          predicate.fill(ramp(15, 0, 1, 2));
          yes.fill(ramp(15));
          no.fill(ramp(15, 1, 2));
          Tensor result(dtype, {3, 5}, out);
          run({{&predicate, &yes, &no}, {&result}, {}},
              [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.select(p[0], p[1], p[2])}; });
          for (int64_t i = 0; i < 15; ++i) {
            const Tensor& chosen = predicate.values<int>()[static_cast<size_t>(i)] != 0 ? yes : no;
            EXPECT_EQ(std::memcmp(result.at(i), chosen.at(i), static_cast<size_t>(size_of(dtype))), 0)
                << name(dtype) << " " << i;
          }
        }
      }
    }
  }
}

TEST_P(Select, ScalarsOnEitherSide) {
  Tensor predicate(DType::Bool, {600}), x(DType::F32, {600}), scalar(DType::F32, {}), flag(DType::Bool, {});
  predicate.fill(ramp(600, 0, 1, 3));
  x.fill(ramp(600));
  scalar.fill(std::vector<double>{9});
  flag.fill(std::vector<double>{1});
  Tensor left(DType::F32, {600}), right(DType::F32, {600}), both(DType::F32, {600}), whole(DType::F32, {600});
  run({{&predicate, &x, &scalar, &flag}, {&left, &right, &both, &whole}, {}},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        const ir::Value splat = b.broadcast_to(p[2], {600});
        const ir::Value zero = b.splat_like(p[1], 0);
        return std::vector{b.select(p[0], splat, p[1]), b.select(p[0], p[1], splat), b.select(p[0], splat, zero),
                           b.select(p[3], p[1], splat)};
      });
  for (size_t i = 0; i < 600; ++i) {
    const bool chosen = predicate.values<int>()[i] != 0;
    const float value = x.values<float>()[i];
    ASSERT_EQ(left.values<float>()[i], chosen ? 9 : value);
    ASSERT_EQ(right.values<float>()[i], chosen ? value : 9);
    ASSERT_EQ(both.values<float>()[i], chosen ? 9 : 0);
    ASSERT_EQ(whole.values<float>()[i], value);
  }
}

TEST_P(Select, Clamp) {
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I32, DType::I64, DType::U8}) {
    const bool nan = is_float(dtype);
    Tensor low(dtype, {}), x(dtype, {6}), high(dtype, {});
    low.fill(std::vector<double>{2});
    high.fill(std::vector<double>{5});
    x.fill(std::vector<double>{0, 2, 3, 5, 9, nan ? kNaN : 4});
    const Tensor result = evaluate({&low, &x, &high}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.clamp(p[0], p[1], p[2])};
    });
    expect_near(result, {2, 2, 3, 5, 5, nan ? kNaN : 4}, 0, concat("clamp ", name(dtype)));
  }
  Tensor low(DType::F32, {3}), x(DType::F32, {3}), high(DType::F32, {3});
  low.fill(std::vector<double>{0, kNaN, 4});
  x.fill(std::vector<double>{-1, 1, 5});
  high.fill(std::vector<double>{1, 1, 3});
  const Tensor result = evaluate({&low, &x, &high}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.clamp(p[0], p[1], p[2])};
  });
  expect_near(result, {0, kNaN, 3}, 0, "clamp by element");
}

TEST_P(Select, Convert) {
  const std::vector<DType> dtypes{DType::Bool, DType::U8,   DType::I8,  DType::I16, DType::I32, DType::I64,
                                  DType::F16,  DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128};
  for (const DType from : dtypes) {
    for (const DType to : dtypes) {
      for (const Arrangement in : {Arrangement::RowMajor, Arrangement::ColumnMajor}) {
        for (const Arrangement out : {Arrangement::RowMajor, Arrangement::Strided}) {
          Tensor x(from, {4, 3}, in), result(to, {4, 3}, out);
          x.fill(ramp(12, 0, 1, 12));
          run({{&x}, {&result}, {}},
              [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.convert(p[0], to)}; });
          std::vector<double> expected = ramp(12, 0, 1, 12);
          if (is_bool(from) || is_bool(to)) {
            for (double& value : expected) value = value != 0;
          }
          EXPECT_EQ(result.values<double>(), expected) << name(from) << " to " << name(to);
        }
      }
    }
  }
}

TEST_P(Select, BitcastConvert) {
  Tensor x(DType::F32, {2});
  x.fill(std::vector<double>{1, -2});
  Tensor words(DType::U32, {2}), halves(DType::U16, {2, 2}), back(DType::F32, {2});
  run({{&x}, {&words, &halves, &back}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    const ir::Value split = b.bitcast_convert(p[0], DType::U16);
    return std::vector{b.bitcast_convert(p[0], DType::U32), split, b.bitcast_convert(split, DType::F32)};
  });
  EXPECT_EQ(words.values<uint64_t>(), (std::vector<uint64_t>{0x3F800000, 0xC0000000}));
  EXPECT_EQ(halves.values<int>(), (std::vector<int>{0, 0x3F80, 0, 0xC000}));
  EXPECT_EQ(back.values<double>(), (std::vector<double>{1, -2}));
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Select);

}  // namespace opentrn::conformance
