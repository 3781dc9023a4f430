// The vector functions over the whole range of float32, against the C library's double functions.
#include "engines/reference/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace opentrn::engines::reference {
namespace {

struct Case {
  const char* name;
  DenseFunction function;
  double (*exact)(double);
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

class VectorMath : public ::testing::TestWithParam<Case> {};

// Every 4099th bit pattern, and those where the functions change their way.
std::vector<float> sampled() {
  std::vector<float> numbers;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099)
    numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const float inf = std::numeric_limits<float>::infinity();
  const float border[] = {0.0f,   -0.0f,      inf,        -inf,        std::numeric_limits<float>::quiet_NaN(),
                          1e-45f, 1.0f,       4.0f,       0.01f,       0.001f,
                          0.05f,  88.72284f,  88.72f,     -103.97f,    -87.34f,
                          1e5f,   3.1415927f, 1.5707964f, 0.70710677f, 0.99999994f};
  for (const float number : border) {
    for (const float near : {number, std::nextafter(number, inf), std::nextafter(number, -inf)}) {
      numbers.push_back(near);
      numbers.push_back(-near);
    }
  }
  return numbers;
}

TEST_P(VectorMath, WithinOneUnitInTheLastPlace) {
  const std::vector<float> numbers = sampled();
  std::vector<float> results(numbers.size());
  GetParam().function(static_cast<int64_t>(numbers.size()), numbers.data(), results.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double exact = GetParam().exact(static_cast<double>(numbers[i]));
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(rounded)) {
      ASSERT_TRUE(std::isnan(results[i])) << numbers[i];
    } else if (std::isinf(rounded) || rounded == 0) {
      ASSERT_EQ(results[i], rounded) << numbers[i];
      ASSERT_EQ(std::signbit(results[i]), std::signbit(rounded)) << numbers[i];
    } else {
      const double unit = std::ldexp(1.0, std::max(std::ilogb(rounded), -126) - 23);
      ASSERT_LE(std::abs(static_cast<double>(results[i]) - exact), 0.51 * unit) << numbers[i];
    }
  }
}

TEST_P(VectorMath, AnyLengthInPlace) {
  for (int64_t n = 0; n < 40; ++n) {
    std::vector<float> numbers, expected(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) numbers.push_back(0.25f + 0.37f * static_cast<float>(i));
    for (size_t i = 0; i < expected.size(); ++i) GetParam().function(1, &numbers[i], &expected[i]);
    GetParam().function(n, numbers.data(), numbers.data());
    EXPECT_EQ(numbers, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMath,
                         ::testing::Values(Case{"exp", dense_exp, std::exp}, Case{"expm1", dense_expm1, std::expm1},
                                           Case{"log", dense_log, std::log}, Case{"log1p", dense_log1p, std::log1p},
                                           Case{"logistic", dense_logistic, logistic},
                                           Case{"tanh", dense_tanh, std::tanh}, Case{"erf", dense_erf, std::erf},
                                           Case{"sin", dense_sin, std::sin}, Case{"cos", dense_cos, std::cos},
                                           Case{"sqrt", dense_sqrt, std::sqrt}, Case{"floor", dense_floor, std::floor},
                                           Case{"ceil", dense_ceil, std::ceil},
                                           Case{"round_nearest_even", dense_round_nearest_even, std::nearbyint}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace opentrn::engines::reference
