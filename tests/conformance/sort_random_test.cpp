// Sorting, random bits, and the custom calls.
#include <cmath>
#include <limits>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Sort : public Conformance {
 protected:
  // Sorts keys together with their positions: the positions say whether the order is stable.
  std::pair<Tensor, Tensor> sorted(const Tensor& keys, int64_t dimension, bool descending, Arrangement out) const {
    Tensor values(keys.dtype(), keys.shape(), out), positions(DType::I64, keys.shape(), out);
    run({{&keys}, {&values, &positions}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      const ir::Value iota = b.iota({DType::I64, keys.shape()}, dimension);
      return b.sort(std::vector{p[0], iota}, {dimension, true, descending});
    });
    return {values, positions};
  }
};

TEST_P(Sort, StableInBothDirections) {
  std::vector<DType> dtypes = kIntegers;
  dtypes.insert(dtypes.end(), kFloats.begin(), kFloats.end());
  for (const DType dtype : dtypes) {
    for (const Arrangement arrangement : kResultArrangements) {
      Tensor keys(dtype, {7}, arrangement);
      keys.fill(std::vector<double>{3, 1, 2, 3, 1, 0, 2});
      const auto [up, up_positions] = sorted(keys, 0, false, arrangement);
      EXPECT_EQ(up.values<int>(), (std::vector<int>{0, 1, 1, 2, 2, 3, 3})) << name(dtype);
      EXPECT_EQ(up_positions.values<int>(), (std::vector<int>{5, 1, 4, 2, 6, 0, 3})) << name(dtype);
      const auto [down, down_positions] = sorted(keys, 0, true, arrangement);
      EXPECT_EQ(down.values<int>(), (std::vector<int>{3, 3, 2, 2, 1, 1, 0})) << name(dtype);
      EXPECT_EQ(down_positions.values<int>(), (std::vector<int>{0, 3, 2, 6, 1, 4, 5})) << name(dtype);
    }
  }
}

TEST_P(Sort, NaNIsGreatest) {
  for (const DType dtype : kFloats) {
    Tensor keys(dtype, {6});
    keys.fill(std::vector<double>{kNaN, 1, kInf, -kInf, kNaN, 0});
    EXPECT_EQ(sorted(keys, 0, false, Arrangement::RowMajor).second.values<int>(), (std::vector<int>{3, 5, 1, 2, 0, 4}));
    EXPECT_EQ(sorted(keys, 0, true, Arrangement::RowMajor).second.values<int>(), (std::vector<int>{0, 4, 2, 1, 5, 3}));
  }
}

TEST_P(Sort, ExtremeIntegers) {
  Tensor keys(DType::I64, {4});
  keys.fill(std::vector<int64_t>{INT64_MAX, INT64_MAX - 1, INT64_MIN, 0});
  EXPECT_EQ(sorted(keys, 0, false, Arrangement::RowMajor).second.values<int>(), (std::vector<int>{2, 3, 1, 0}));
  Tensor large(DType::U64, {3});
  large.fill(std::vector<uint64_t>{UINT64_MAX, 0, uint64_t{1} << 63});
  EXPECT_EQ(sorted(large, 0, false, Arrangement::RowMajor).second.values<int>(), (std::vector<int>{1, 2, 0}));
}

TEST_P(Sort, AnyDimension) {
  const Dims shape{4, 3, 5};
  for (int64_t dimension = 0; dimension < 3; ++dimension) {
    for (const Arrangement arrangement : kResultArrangements) {
      Tensor keys(DType::F32, shape, arrangement);
      keys.fill(ramp(60, -3, 0.5, 13));
      const auto [values, positions] = sorted(keys, dimension, false, arrangement);
      const std::vector<double> before = keys.values<double>(), after = values.values<double>();
      for (int64_t i = 0; i < 60; ++i) {
        Dims at = coordinates(i, shape);
        Dims from = at;
        const auto d = static_cast<size_t>(dimension);
        from[d] = positions.values<int64_t>()[static_cast<size_t>(i)];
        EXPECT_EQ(after[static_cast<size_t>(i)], before[static_cast<size_t>(linear_index(from, shape))]);
        if (at[d] == 0) continue;
        --at[d];
        EXPECT_LE(after[static_cast<size_t>(linear_index(at, shape))], after[static_cast<size_t>(i)]);
      }
    }
  }
  Tensor empty(DType::F32, {0, 3});
  EXPECT_EQ(sorted(empty, 0, false, Arrangement::RowMajor).first.elements(), 0);
}

class Random : public Conformance {
 protected:
  std::pair<std::vector<uint64_t>, Tensor> bits(uint64_t seed, uint64_t offset, const ir::TensorType& type,
                                                Arrangement arrangement = Arrangement::RowMajor) const {
    Tensor state(DType::U64, {2}), next(DType::U64, {2}), result(type.dtype, type.shape, arrangement);
    state.fill(std::vector<uint64_t>{seed, offset});
    run({{&state}, {&next, &result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      const auto [advanced, words] = b.rng_bit_generator(p[0], type);
      return std::vector{advanced, words};
    });
    return {next.values<uint64_t>(), result};
  }
};

// The known answers published with the generator: key and counter of zeros, and of ones.
TEST_P(Random, KnownAnswers) {
  EXPECT_EQ(bits(0, 0, {DType::U32, {4}}).second.values<uint64_t>(),
            (std::vector<uint64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST_P(Random, OffsetCountsBlocks) {
  const auto [next, words] = bits(42, 7, {DType::U32, {10}});
  EXPECT_EQ(next, (std::vector<uint64_t>{42, 10}));
  const auto [after, later] = bits(42, 8, {DType::U32, {4}});
  EXPECT_EQ(after, (std::vector<uint64_t>{42, 9}));
  const std::vector<uint64_t> all = words.values<uint64_t>();
  EXPECT_EQ(later.values<uint64_t>(), std::vector<uint64_t>(all.begin() + 4, all.begin() + 8));
  EXPECT_NE(bits(43, 7, {DType::U32, {10}}).second.values<uint64_t>(), all);
}

TEST_P(Random, WideWordsLayoutsAndSizes) {
  const std::vector<uint64_t> words = bits(5, 0, {DType::U32, {12}}).second.values<uint64_t>();
  std::vector<uint64_t> wide;
  for (size_t i = 0; i < 12; i += 2) wide.push_back(words[i] | words[i + 1] << 32);
  for (const Arrangement arrangement : kResultArrangements) {
    EXPECT_EQ(bits(5, 0, {DType::U64, {2, 3}}, arrangement).second.values<uint64_t>(), wide);
    EXPECT_EQ(bits(5, 0, {DType::U32, {3, 4}}, arrangement).second.values<uint64_t>(), words);
  }
  const auto [next, none] = bits(5, 3, {DType::U32, {0}});
  EXPECT_EQ(next, (std::vector<uint64_t>{5, 3}));
  // Many blocks are made by several threads and are the same as one by one.
  const std::vector<uint64_t> many = bits(5, 0, {DType::U32, {40'001}}).second.values<uint64_t>();
  EXPECT_TRUE(std::equal(words.begin(), words.end(), many.begin()));
  EXPECT_EQ(bits(5, 10'000, {DType::U32, {1}}).second.values<uint64_t>()[0], many[40'000]);
}

class CustomCalls : public Conformance {};

TEST_P(CustomCalls, CheckedIndex) {
  for (const DType dtype : {DType::I32, DType::I64}) {
    const auto check = [&](const std::vector<int64_t>& values) {
      Tensor index(dtype, {static_cast<int64_t>(values.size())}, Arrangement::Strided);
      index.fill(values);
      return evaluate({&index},
                      [](ir::Builder& b, const std::vector<ir::Value>& p) {
                        return std::vector{b.checked_index(p[0], 5, 0, "aten::index_select")};
                      })
          .values<int64_t>();
    };
    EXPECT_EQ(check({0, 4, -1, -5}), (std::vector<int64_t>{0, 4, 4, 0}));
    for (const int64_t wrong : {int64_t{5}, int64_t{7}, int64_t{-6}}) {
      try {
        check({0, wrong});
        ADD_FAILURE() << wrong;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Index);
        EXPECT_EQ(std::string(error.what()),
                  concat("[aten::index_select] index ", wrong, " is out of bounds for dimension 0 with size 5"));
      }
    }
  }
}

TEST_P(CustomCalls, Check) {
  const auto run_check = [&](bool condition) {
    Tensor flag(DType::Bool, {}), x(DType::F32, {2});
    flag.fill(std::vector<int>{condition});
    x.fill(std::vector<double>{1, 2});
    return evaluate({&flag, &x},
                    [](ir::Builder& b, const std::vector<ir::Value>& p) {
                      return std::vector{b.negate(b.check(p[0], p[1], "probabilities must not be negative"))};
                    })
        .values<double>();
  };
  EXPECT_EQ(run_check(true), (std::vector<double>{-1, -2}));
  try {
    run_check(false);
    ADD_FAILURE() << "the check passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Runtime);
    EXPECT_NE(std::string(error.what()).find("probabilities must not be negative"), std::string::npos);
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Sort);
OPENTRN_FOR_EACH_ENGINE(Random);
OPENTRN_FOR_EACH_ENGINE(CustomCalls);

}  // namespace opentrn::conformance
