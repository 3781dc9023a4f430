// The functions of `activation`, for every instruction set: those of float32 within one unit in the last place of the C
// library's double functions, the others equal to the library.
#include <gtest/gtest.h>

#include "base/complex_functions.h"
#include "base/special_functions.h"
#include "tests/cpp/neuroncore/kernels_test_support.h"

namespace opentrn::neuroncore::emulator {
namespace {

class KernelsActivation : public Kernels {};
OPENTRN_FOR_EVERY_INSTRUCTION_SET(KernelsActivation);

struct Case {
  const char* name;
  ActivationFunction function;
  double (*exact)(double);
};

double logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double gelu_tanh(double x) { return x * logistic(1.5957691216057308 * (x + 0.044715 * x * x * x)); }

const Case kCases[] = {
    {"copy", ActivationFunction::Copy, [](double x) { return x; }},
    {"square", ActivationFunction::Square, [](double x) { return x * x; }},
    {"sigmoid", ActivationFunction::Sigmoid, logistic},
    {"relu", ActivationFunction::Relu, [](double x) { return x > 0 || x != x ? x : 0.0; }},
    {"gelu", ActivationFunction::Gelu, [](double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752); }},
    {"gelu_tanh", ActivationFunction::GeluTanh, gelu_tanh},
    {"silu", ActivationFunction::Silu, [](double x) { return x * logistic(x); }},
    {"tanh", ActivationFunction::Tanh, std::tanh},
    {"softplus", ActivationFunction::Softplus,
     [](double x) { return (x > 0 || x != x ? x : 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"erf", ActivationFunction::Erf, std::erf},
    {"exp", ActivationFunction::Exp, std::exp},
    {"log", ActivationFunction::Log, std::log},
    {"sin", ActivationFunction::Sin, std::sin},
    {"arctan", ActivationFunction::Arctan, std::atan},
    {"sqrt", ActivationFunction::Sqrt, std::sqrt},
    {"reciprocal", ActivationFunction::Reciprocal, [](double x) { return 1 / x; }},
    {"abs", ActivationFunction::Abs, std::fabs},
    {"acos", ActivationFunction::Acos, std::acos},
    {"acosh", ActivationFunction::Acosh, std::acosh},
    {"asin", ActivationFunction::Asin, std::asin},
    {"asinh", ActivationFunction::Asinh, std::asinh},
    {"atanh", ActivationFunction::Atanh, std::atanh},
    {"cbrt", ActivationFunction::Cbrt, std::cbrt},
    {"ceil", ActivationFunction::Ceil, std::ceil},
    {"cosh", ActivationFunction::Cosh, std::cosh},
    {"cosine", ActivationFunction::Cosine, std::cos},
    {"digamma", ActivationFunction::Digamma, digamma},
    {"erf_inv", ActivationFunction::ErfInv, erf_inv},
    {"erfc", ActivationFunction::Erfc, std::erfc},
    {"expm1", ActivationFunction::ExponentialMinusOne, std::expm1},
    {"floor", ActivationFunction::Floor, std::floor},
    {"is_finite", ActivationFunction::IsFinite, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }},
    {"lgamma", ActivationFunction::Lgamma, log_gamma},
    {"log1p", ActivationFunction::LogPlusOne, std::log1p},
    {"round_afz", ActivationFunction::RoundNearestAfz, std::round},
    {"round_even", ActivationFunction::RoundNearestEven, std::nearbyint},
    {"sine", ActivationFunction::Sine, std::sin},
    {"sinh", ActivationFunction::Sinh, std::sinh},
    {"tan", ActivationFunction::Tan, std::tan},
};

// Bit patterns of the whole range, densest where functions bend, and the edges with their neighbours.
std::vector<float> sampled() {
  std::vector<float> numbers;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65521)
    numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (int i = -6000; i <= 6000; ++i) numbers.push_back(static_cast<float>(i) * 0.01875f + 0.001f);
  for (const float number : edges<float>()) {
    for (const float near : {number, std::nextafter(number, 1e30f), std::nextafter(number, -1e30f)})
      numbers.push_back(near);
  }
  return numbers;
}

// What functions_avx512.inl and vector_math.inl state for their functions. Near the denormal numbers the digits that
// are carried along are cut off themselves.
double most_units(const KernelTable& table, double magnitude) {
  const bool avx512 = table.instruction_set.starts_with("avx512");
  if (!avx512) return 0.51;
  return magnitude < 0x1p-100 ? 1.0 : 0.53;
}

void check_float(const KernelTable& table, const Case& c, const std::vector<float>& numbers) {
  const UnaryKernel kernel = table.activation(c.function, ComputeType::F32);
  ASSERT_NE(kernel, nullptr);
  std::vector<float> results(numbers.size());
  kernel(static_cast<int64_t>(numbers.size()), bytes(results.data()), bytes(numbers.data()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double exact = c.exact(static_cast<double>(numbers[i]));
    const auto rounded = static_cast<float>(exact);
    if (same(results[i], rounded)) continue;
    ASSERT_TRUE(std::isfinite(rounded)) << c.name << " of " << numbers[i] << " gives " << results[i] << ", expected "
                                        << rounded;
    ASSERT_EQ(std::signbit(results[i]), std::signbit(rounded)) << c.name << " of " << numbers[i];
    const double unit = std::ldexp(1.0, std::max(std::ilogb(rounded), -126) - 23);
    const double most = most_units(table, std::abs(exact));
    ASSERT_LE(std::abs(static_cast<double>(results[i]) - exact), most * unit) << c.name << " of " << numbers[i];
  }
}

TEST_P(KernelsActivation, Float32IsWithinOneUnitInTheLastPlace) {
  const std::vector<float> numbers = sampled();
  for (const Case& c : kCases) check_float(table(), c, numbers);
}

TEST_P(KernelsActivation, EveryFunctionHasAFloat32Kernel) {
  for (int i = 0; i <= static_cast<int>(ActivationFunction::Tan); ++i) {
    const auto function = static_cast<ActivationFunction>(i);
    const bool of_integers = function == ActivationFunction::PopulationCount;
    EXPECT_EQ(table().activation(function, ComputeType::F32) != nullptr, !of_integers) << i;
    EXPECT_EQ(table().activation(function, ComputeType::F64) != nullptr, !of_integers) << i;
  }
}

TEST_P(KernelsActivation, DoublesAreTheLibrarys) {
  const std::vector<double> numbers = sample<double>(500, 3);
  for (const Case& c : kCases) {
    std::vector<double> results(numbers.size());
    table().activation(c.function, ComputeType::F64)(500, bytes(results.data()), bytes(numbers.data()));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double exact = c.exact(numbers[i]);
      if (same(results[i], exact)) continue;
      ASSERT_TRUE(std::isfinite(exact)) << c.name << " of " << numbers[i] << " gives " << results[i];
      ASSERT_LE(std::abs(results[i] - exact), std::abs(exact) * 4e-16) << c.name << " of " << numbers[i];
    }
  }
}

TEST_P(KernelsActivation, SignsAndReciprocalSquareRoots) {
  const float in[] = {-0.0f, 3.0f, -2.0f, std::numeric_limits<float>::quiet_NaN(), 4.0f, 0.0f};
  float sign[6], rsqrt[6];
  table().activation(ActivationFunction::Sign, ComputeType::F32)(6, bytes(sign), bytes(in));
  table().activation(ActivationFunction::Rsqrt, ComputeType::F32)(6, bytes(rsqrt), bytes(in));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(same(sign[0], -0.0f) && sign[1] == 1 && sign[2] == -1 && std::isnan(sign[3]));
  EXPECT_TRUE(rsqrt[0] == -inf && std::isnan(rsqrt[2]) && rsqrt[4] == 0.5f && rsqrt[5] == inf);
}

TEST_P(KernelsActivation, AnyLengthInPlace) {
  for (const Case& c : kCases) {
    const UnaryKernel kernel = table().activation(c.function, ComputeType::F32);
    for (const int64_t n : kLengths) {
      Guarded<float> values(n);
      std::vector<float> one_by_one(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        values.data()[i] = static_cast<float>(i % 97) * 0.125f - 3.0f;
        kernel(1, bytes(&one_by_one[static_cast<size_t>(i)]), bytes(values.data() + i));
      }
      kernel(n, values.start(), values.start());
      for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same(values.data()[i], one_by_one[static_cast<size_t>(i)])) << c.name;
      ASSERT_TRUE(values.intact());
    }
  }
}

TEST_P(KernelsActivation, Integers) {
  const int32_t in[] = {-5, 0, 7, std::numeric_limits<int32_t>::min()};
  int32_t out[4];
  const auto apply = [&](ActivationFunction function) {
    table().activation(function, ComputeType::I32)(4, bytes(out), bytes(in));
    return std::vector<int32_t>(out, out + 4);
  };
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(apply(ActivationFunction::Copy), (std::vector<int32_t>{-5, 0, 7, kMin}));
  EXPECT_EQ(apply(ActivationFunction::Abs), (std::vector<int32_t>{5, 0, 7, kMin}));
  EXPECT_EQ(apply(ActivationFunction::Sign), (std::vector<int32_t>{-1, 0, 1, -1}));
  EXPECT_EQ(apply(ActivationFunction::Square), (std::vector<int32_t>{25, 0, 49, 0}));
  EXPECT_EQ(apply(ActivationFunction::Relu), (std::vector<int32_t>{0, 0, 7, 0}));
  EXPECT_EQ(apply(ActivationFunction::PopulationCount), (std::vector<int32_t>{31, 0, 3, 1}));
  EXPECT_EQ(table().activation(ActivationFunction::Exp, ComputeType::I32), nullptr);
}

TEST_P(KernelsActivation, ComplexNumbers) {
  using Complex = std::complex<double>;
  const std::pair<ActivationFunction, Complex (*)(Complex)> functions[] = {
      {ActivationFunction::Exp, [](Complex x) { return std::exp(x); }},
      {ActivationFunction::Log, [](Complex x) { return std::log(x); }},
      {ActivationFunction::Tanh, [](Complex x) { return std::tanh(x); }},
      {ActivationFunction::Sqrt, [](Complex x) { return std::sqrt(x); }},
      {ActivationFunction::Rsqrt, complex_functions::rsqrt},
      {ActivationFunction::Sigmoid, complex_functions::logistic},
      {ActivationFunction::LogPlusOne, complex_functions::log1p},
      {ActivationFunction::Sign, complex_functions::sign},
      {ActivationFunction::Reciprocal, [](Complex x) { return 1.0 / x; }},
      {ActivationFunction::Abs, [](Complex x) { return Complex(std::hypot(x.real(), x.imag())); }}};
  const std::vector<Complex> in = sample<Complex>(40, 3);
  for (const auto& [function, exact] : functions) {
    std::vector<Complex> out(in.size());
    table().activation(function, ComputeType::C128)(40, bytes(out.data()), bytes(in.data()));
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_TRUE(same(out[i], exact(in[i]))) << static_cast<int>(function) << in[i];
    const std::complex<float> narrow(1.5f, -0.5f);
    std::complex<float> result;
    table().activation(function, ComputeType::C64)(1, bytes(&result), bytes(&narrow));
    const Complex wide = exact(static_cast<Complex>(narrow));
    ASSERT_LE(std::abs(static_cast<Complex>(result) - wide), 2e-7 * std::abs(wide));
  }
  EXPECT_EQ(table().activation(ActivationFunction::Gelu, ComputeType::C64), nullptr);
}

TEST(KernelsActivationSets, AgreeWithinTheLastPlace) {
  const std::vector<float> numbers = sampled();
  const auto n = static_cast<int64_t>(numbers.size());
  for (const Case& c : kCases) {
    std::vector<float> first(numbers.size()), other(numbers.size());
    available_kernels().front()->activation(c.function, ComputeType::F32)(n, bytes(first.data()),
                                                                          bytes(numbers.data()));
    for (const KernelTable* table : available_kernels()) {
      table->activation(c.function, ComputeType::F32)(n, bytes(other.data()), bytes(numbers.data()));
      for (size_t i = 0; i < numbers.size(); ++i) {
        const bool neighbours =
            other[i] == std::nextafter(first[i], 1e38f) || other[i] == std::nextafter(first[i], -1e38f);
        ASSERT_TRUE(neighbours || same(first[i], other[i])) << c.name << " of " << numbers[i];
      }
    }
  }
}

}  // namespace
}  // namespace opentrn::neuroncore::emulator
