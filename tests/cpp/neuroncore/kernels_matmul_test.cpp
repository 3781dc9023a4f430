// Matrix products of every layout and size, for every instruction set, against sums in double; and the choice of a
// table.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "tests/cpp/neuroncore/kernels_test_support.h"

namespace opentrn::neuroncore::emulator {
namespace {

class KernelsMatmul : public Kernels {};
OPENTRN_FOR_EVERY_INSTRUCTION_SET(KernelsMatmul);

/// A matrix of random numbers as they are after rounding to a type, and where its elements lie.
struct Operand {
  std::vector<std::byte> memory;
  std::vector<float> values;  // [k][line]
  int64_t k_step = 0, line_step = 0;
  const std::byte* first() const { return memory.data() + 1 * item; }
  int64_t item = 0;
};

enum class Layout { LinesTogether, StepsTogether, Spread, Repeated };

Operand make_operand(const KernelTable& table, DType dtype, int64_t k, int64_t lines, Layout layout, uint32_t seed) {
  Operand operand;
  operand.item = size_of(dtype);
  switch (layout) {
    case Layout::LinesTogether: operand.k_step = lines + 3, operand.line_step = 1; break;
    case Layout::StepsTogether: operand.k_step = 1, operand.line_step = k + 3; break;
    case Layout::Spread: operand.k_step = 3 * lines, operand.line_step = 2; break;
    case Layout::Repeated: operand.k_step = 1, operand.line_step = 0; break;
  }
  std::mt19937 random(seed);
  const auto elements = static_cast<size_t>((k + 1) * operand.k_step + (lines + 1) * operand.line_step + 2);
  std::vector<float> all(elements), rounded(elements);
  for (float& x : all) x = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  operand.memory.resize(elements * static_cast<size_t>(operand.item));
  const auto n = static_cast<int64_t>(elements);
  table.store(ComputeType::F32, dtype)(n, operand.memory.data(), operand.item, bytes(all.data()));
  table.load(dtype, ComputeType::F32)(n, bytes(rounded.data()), operand.memory.data(), operand.item);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < lines; ++j) {
      operand.values.push_back(rounded[static_cast<size_t>(1 + i * operand.k_step + j * operand.line_step)]);
    }
  }
  return operand;
}

struct Size {
  int64_t k, m, n;
};

template <typename Sum>
void check_product(const KernelTable& table, DType dtype, const Size& size, Layout stationary, Layout moving,
                   bool transposed_out, bool accumulate) {
  const auto [k, m, n] = size;
  const Operand a = make_operand(table, dtype, k, m, stationary, 1), b = make_operand(table, dtype, k, n, moving, 2);
  const int64_t out_m = transposed_out ? 1 : n + 2, out_n = transposed_out ? m + 2 : 1;
  std::vector<Sum> out(static_cast<size_t>((m + 2) * (n + 2)), Sum(0.5));
  MatmulProblem problem{.k = k,
                        .m = m,
                        .n = n,
                        .stationary = a.first(),
                        .stationary_k = a.k_step,
                        .stationary_m = a.line_step,
                        .moving = b.first(),
                        .moving_k = b.k_step,
                        .moving_n = b.line_step,
                        .out = reinterpret_cast<float*>(out.data()),
                        .out_m = out_m,
                        .out_n = out_n,
                        .accumulate = accumulate};
  table.matmul(dtype)(problem);
  std::vector<bool> written(out.size());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double exact = accumulate ? 0.5 : 0, magnitude = 0.5;
      for (int64_t s = 0; s < k; ++s) {
        const double product = static_cast<double>(a.values[static_cast<size_t>(s * m + i)]) *
                               static_cast<double>(b.values[static_cast<size_t>(s * n + j)]);
        exact += product;
        magnitude += std::abs(product);
      }
      const auto at = static_cast<size_t>(i * out_m + j * out_n);
      written[at] = true;
      // Every addition rounds by half a spacing at most; k of them in any order.
      const double rounding = sizeof(Sum) == 8 ? 0x1p-53 : 0x1p-24;
      const double tolerance = static_cast<double>(k + 1) * rounding * magnitude;
      ASSERT_NEAR(static_cast<double>(out[at]), exact, tolerance)
          << name(dtype) << " " << k << " " << m << " " << n << " at " << i << ", " << j;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) ASSERT_TRUE(written[i] || out[i] == Sum(0.5));
}

void check_any(const KernelTable& table, DType dtype, const Size& size, Layout stationary, Layout moving,
               bool transposed_out, bool accumulate) {
  if (dtype == DType::F64)
    return check_product<double>(table, dtype, size, stationary, moving, transposed_out, accumulate);
  check_product<float>(table, dtype, size, stationary, moving, transposed_out, accumulate);
}

constexpr Layout kLayouts[] = {Layout::LinesTogether, Layout::StepsTogether, Layout::Spread, Layout::Repeated};
constexpr DType kTypes[] = {DType::F32, DType::F64, DType::BF16, DType::F16, DType::F8E4M3FN, DType::F8E5M2};

TEST_P(KernelsMatmul, EveryLayoutOfSmallAndOddSizes) {
  const Size sizes[] = {{1, 1, 1},   {3, 2, 5},    {17, 1, 33},   {33, 70, 1},   {40, 7, 65},
                        {64, 65, 3}, {31, 20, 20}, {128, 5, 130}, {127, 130, 16}};
  for (const DType dtype : kTypes) {
    for (const Size& size : sizes) {
      for (const Layout stationary : kLayouts) {
        for (const Layout moving : kLayouts)
          check_any(table(), dtype, size, stationary, moving, false, size.k % 2 == 0);
      }
      check_any(table(), dtype, size, Layout::LinesTogether, Layout::LinesTogether, true, true);
      check_any(table(), dtype, size, Layout::StepsTogether, Layout::StepsTogether, true, false);
    }
  }
}

TEST_P(KernelsMatmul, FullTilesAndMoreThanOneBlockOfSteps) {
  for (const DType dtype : kTypes) {
    for (const Layout layout : {Layout::LinesTogether, Layout::StepsTogether}) {
      check_any(table(), dtype, {128, 128, 512}, layout, layout, false, true);
      check_any(table(), dtype, {600, 9, 70}, layout, layout, false, false);
      check_any(table(), dtype, {1100, 3, 40}, layout, layout, false, true);
    }
  }
}

// A chain against its instructions one by one, bit for bit.
void check_chain(const KernelTable& table, DType dtype, DType result, const Size& size, Layout stationary,
                 Layout moving) {
  constexpr int64_t kChunk = 128;
  const auto [k, m, n] = size;
  const Operand a = make_operand(table, dtype, k, m, stationary, 1), b = make_operand(table, dtype, k, n, moving, 2);
  std::vector<float> sums(static_cast<size_t>(m * n));
  for (int64_t first = 0; first < k; first += kChunk) {
    table.matmul(dtype)({.k = std::min(kChunk, k - first),
                         .m = m,
                         .n = n,
                         .stationary = a.first() + first * a.k_step * a.item,
                         .stationary_k = a.k_step,
                         .stationary_m = a.line_step,
                         .moving = b.first() + first * b.k_step * b.item,
                         .moving_k = b.k_step,
                         .moving_n = b.line_step,
                         .out = sums.data(),
                         .out_m = n,
                         .out_n = 1,
                         .accumulate = first > 0});
  }
  const int64_t item = size_of(result), row = (n + 3) * item;
  std::vector<std::byte> expected(static_cast<size_t>(m * row), std::byte{0x5A}), out = expected;
  const StoreKernel store = table.store(ComputeType::F32, result);
  for (int64_t i = 0; i < m; ++i) store(n, expected.data() + i * row, item, bytes(sums.data() + i * n));
  table.chain(dtype)({.k = k,
                      .m = m,
                      .n = n,
                      .chunk = std::min(kChunk, k),
                      .stationary = a.first(),
                      .stationary_k = a.k_step,
                      .stationary_m = a.line_step,
                      .moving = b.first(),
                      .moving_k = b.k_step,
                      .moving_n = b.line_step,
                      .store = store,
                      .out = out.data(),
                      .out_m = row,
                      .out_n = item});
  EXPECT_EQ(out, expected) << name(dtype) << " " << name(result) << " " << k << " " << m << " " << n << " layouts "
                           << static_cast<int>(stationary) << " " << static_cast<int>(moving);
}

TEST_P(KernelsMatmul, ChainsEqualTheirInstructions) {
  const Size sizes[] = {{1, 17, 18},    {127, 33, 70},  {128, 24, 64}, {129, 20, 65},
                        {300, 67, 130}, {1025, 19, 77}, {2200, 18, 64}};
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const Size& size : sizes) {
      for (const Layout stationary : kLayouts) {
        for (const Layout moving : kLayouts) check_chain(table(), dtype, dtype, size, stationary, moving);
      }
      check_chain(table(), dtype, DType::F32, size, Layout::StepsTogether, Layout::StepsTogether);
    }
  }
}

TEST_P(KernelsMatmul, NoStepsGiveZeroOrLeaveWhatIsThere) {
  float out[4] = {1, 2, 3, 4};
  MatmulProblem problem{.k = 0, .m = 2, .n = 2, .out = out, .out_m = 2, .accumulate = true};
  table().matmul(DType::F32)(problem);
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{1, 2, 3, 4}));
  problem.accumulate = false;
  table().matmul(DType::F32)(problem);
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{0, 0, 0, 0}));
}

TEST_P(KernelsMatmul, NaNAndInfinityStayInTheirRowsAndColumns) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    std::vector<float> ones(64 * 80, 1.0f), out(8 * 80);
    ones[5] = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::byte> a(64 * 80 * 4), b(64 * 80 * 4);
    table().store(ComputeType::F32, dtype)(64 * 80, a.data(), size_of(dtype), bytes(ones.data()));
    ones[5] = 1;
    table().store(ComputeType::F32, dtype)(64 * 80, b.data(), size_of(dtype), bytes(ones.data()));
    table().matmul(dtype)({.k = 64,
                           .m = 8,
                           .n = 80,
                           .stationary = a.data(),
                           .stationary_k = 8,
                           .stationary_m = 1,
                           .moving = b.data(),
                           .moving_k = 80,
                           .moving_n = 1,
                           .out = out.data(),
                           .out_m = 80});
    for (int64_t m = 0; m < 8; ++m) {
      for (int64_t n = 0; n < 80; ++n)
        ASSERT_EQ(std::isnan(out[static_cast<size_t>(m * 80 + n)]), m == 5) << m << " " << n;
    }
  }
}

TEST_P(KernelsMatmul, TypesWithoutAProductHaveNoKernel) {
  EXPECT_EQ(table().matmul(DType::I32), nullptr);
  EXPECT_EQ(table().matmul(DType::C64), nullptr);
}

TEST(KernelsChoice, TheLastIsTheFastestAndAllHaveNames) {
  ASSERT_FALSE(available_kernels().empty());
  unsetenv("OPENTRN_INSTRUCTION_SET");
  EXPECT_EQ(&kernels(), available_kernels().back());
  for (const KernelTable* table : available_kernels()) {
    setenv("OPENTRN_INSTRUCTION_SET", std::string(table->instruction_set).c_str(), 1);
    EXPECT_EQ(&kernels(), table);
  }
  unsetenv("OPENTRN_INSTRUCTION_SET");
}

TEST(KernelsChoice, AnUnknownInstructionSetIsRefusedWithTheKnownOnes) {
  setenv("OPENTRN_INSTRUCTION_SET", "mmx", 1);
  try {
    kernels();
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    const std::string text = error.what();
    EXPECT_NE(text.find("mmx"), std::string::npos);
    for (const KernelTable* table : available_kernels())
      EXPECT_NE(text.find(table->instruction_set), std::string::npos);
  }
  unsetenv("OPENTRN_INSTRUCTION_SET");
}

TEST(KernelsChoice, ComputeTypesAndTheirSizes) {
  EXPECT_EQ(dtype_of(ComputeType::C128), DType::C128);
  EXPECT_EQ(size_of(ComputeType::F32), 4);
  EXPECT_EQ(size_of(ComputeType::U64), 8);
}

}  // namespace
}  // namespace opentrn::neuroncore::emulator
