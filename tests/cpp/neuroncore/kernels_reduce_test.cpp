// Reductions, inner products and copies, for every instruction set, against plain C++.
#include <gtest/gtest.h>

#include "base/complex_functions.h"
#include "tests/cpp/neuroncore/kernels_test_support.h"

namespace opentrn::neuroncore::emulator {
namespace {

class KernelsReduce : public Kernels {};
OPENTRN_FOR_EVERY_INSTRUCTION_SET(KernelsReduce);

template <typename T>
T reduced(const KernelTable& table, AluOp op, const std::vector<T>& in, T start) {
  const ReduceKernel kernel = table.reduce(op, ComputeTypeOf<T>::value);
  Guarded<T> unaligned(static_cast<int64_t>(in.size()));
  std::copy(in.begin(), in.end(), unaligned.data());
  const auto n = static_cast<int64_t>(in.size());
  if constexpr (std::is_same_v<T, float>) {
    if (carry_of(op, ComputeType::F32) == ComputeType::F64) {
      auto carried = static_cast<double>(start);
      kernel(n, bytes(&carried), unaligned.start());
      return static_cast<float>(carried);
    }
  }
  kernel(n, bytes(&start), unaligned.start());
  return start;
}

template <typename T>
std::vector<T> moderate(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>(static_cast<double>(random() % 20001) / 1000.0 - 10.0));
  return values;
}

constexpr std::array<int64_t, 19> kSumLengths{0,  1,  7,  8,   15,  16,  17,   31,   32,    33,
                                              63, 64, 65, 127, 128, 576, 1023, 1025, 100003};

TEST_P(KernelsReduce, Float32SumsAreThoseOfExactSummation) {
  for (const int64_t n : kSumLengths) {
    const std::vector<float> in = moderate<float>(n, 3);
    long double exact = 2.5L;
    for (const float x : in) exact += static_cast<long double>(x);
    EXPECT_EQ(reduced(table(), AluOp::Add, in, 2.5f), static_cast<float>(exact)) << n;
  }
}

TEST_P(KernelsReduce, Float32SumsAreTheSameOnEveryInstructionSet) {
  for (const int64_t n : kSumLengths) {
    const std::vector<float> in = moderate<float>(n, 8);
    EXPECT_EQ(reduced(table(), AluOp::Add, in, 0.5f), reduced(*available_kernels().front(), AluOp::Add, in, 0.5f)) << n;
  }
}

TEST_P(KernelsReduce, DoubleSumsKeepTheDigitsTheyLose) {
  std::vector<double> in{1e16, 1.0, -1e16, 1.0};
  EXPECT_EQ(reduced(table(), AluOp::Add, in, 0.0), 2.0);
  for (int i = 0; i < 1000; ++i) in.push_back(0.1);
  EXPECT_NEAR(reduced(table(), AluOp::Add, in, 0.0), 102.0, 2e-14);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reduced(table(), AluOp::Add, std::vector<double>{1, inf, 2}, 0.0), inf);
  EXPECT_TRUE(std::isnan(reduced(table(), AluOp::Add, std::vector<double>{-inf, inf}, 0.0)));
}

TEST_P(KernelsReduce, ProductsOfFloats) {
  const std::vector<float> in{1.5f, -2.0f, 0.25f, 8.0f, 3.0f};
  EXPECT_EQ(reduced(table(), AluOp::Multiply, in, 2.0f), -36.0f);
  EXPECT_EQ(reduced(table(), AluOp::Multiply, std::vector<double>(60, 2.0), 1.0), 0x1p60);
  EXPECT_EQ(reduced(table(), AluOp::Multiply, std::vector<float>(100, 4.0f), 0x1p-126f), 0x1p74f);
}

template <typename T>
void check_extremes(const KernelTable& table) {
  for (const int64_t n : kLengths) {
    std::vector<T> in = sample<T>(n, 9);
    for (T& x : in) x = x != x ? T(0) : x;
    T largest = T(3), smallest = T(3);
    for (const T x : in) {
      largest = x > largest ? x : largest;
      smallest = x < smallest ? x : smallest;
    }
    ASSERT_EQ(reduced(table, AluOp::Max, in, T(3)), largest);
    ASSERT_EQ(reduced(table, AluOp::Min, in, T(3)), smallest);
  }
}

TEST_P(KernelsReduce, Extremes) {
  check_extremes<float>(table());
  check_extremes<double>(table());
  check_extremes<int32_t>(table());
  check_extremes<uint32_t>(table());
  check_extremes<int64_t>(table());
  check_extremes<uint64_t>(table());
}

TEST_P(KernelsReduce, ANaNAnywhereIsTheExtreme) {
  for (size_t at = 0; at < 70; ++at) {
    std::vector<float> in(70, 1.0f);
    in[at] = std::numeric_limits<float>::quiet_NaN();
    for (const AluOp op : {AluOp::Max, AluOp::Min, AluOp::AbsMax, AluOp::AbsMin}) {
      ASSERT_TRUE(std::isnan(reduced(table(), op, in, 0.0f))) << at;
    }
  }
}

TEST_P(KernelsReduce, AbsoluteExtremes) {
  EXPECT_EQ(reduced(table(), AluOp::AbsMax, std::vector<float>{-7, 3}, 1.0f), 7.0f);
  EXPECT_EQ(reduced(table(), AluOp::AbsMin, std::vector<float>{-7, 3}, -5.0f), 3.0f);
  EXPECT_EQ(reduced(table(), AluOp::AbsMax, std::vector<int32_t>{-7, 3}, 0), 7);
}

template <typename T>
void check_integers(const KernelTable& table) {
  for (const int64_t n : kLengths) {
    const std::vector<T> in = sample<T>(n, 4);
    std::make_unsigned_t<T> sum = 5, product = 5, both = 5, either = 5, odd = 5;
    bool all = true, any = true, parity = true;
    for (const T x : in) {
      const auto bits = static_cast<std::make_unsigned_t<T>>(x);
      sum += bits, product *= bits, both &= bits, either |= bits, odd ^= bits;
      all = all && x != 0, any = any || x != 0, parity = parity != (x != 0);
    }
    ASSERT_EQ(reduced(table, AluOp::Add, in, T(5)), static_cast<T>(sum));
    ASSERT_EQ(reduced(table, AluOp::Multiply, in, T(5)), static_cast<T>(product));
    ASSERT_EQ(reduced(table, AluOp::BitwiseAnd, in, T(5)), static_cast<T>(both));
    ASSERT_EQ(reduced(table, AluOp::BitwiseOr, in, T(5)), static_cast<T>(either));
    ASSERT_EQ(reduced(table, AluOp::BitwiseXor, in, T(5)), static_cast<T>(odd));
    ASSERT_EQ(reduced(table, AluOp::LogicalAnd, in, T(5)), T(all));
    ASSERT_EQ(reduced(table, AluOp::LogicalOr, in, T(5)), T(any));
    ASSERT_EQ(reduced(table, AluOp::LogicalXor, in, T(5)), T(parity));
  }
}

TEST_P(KernelsReduce, IntegersWrapAndCombineTheirBits) {
  check_integers<int32_t>(table());
  check_integers<uint32_t>(table());
  check_integers<int64_t>(table());
  check_integers<uint64_t>(table());
}

TEST_P(KernelsReduce, ComplexNumbers) {
  const std::vector<std::complex<float>> in{{1, 2}, {3, -1}, {0, 1}};
  EXPECT_EQ(reduced(table(), AluOp::Add, in, std::complex<float>(1, 0)), std::complex<float>(5, 2));
  EXPECT_EQ(reduced(table(), AluOp::Multiply, in, std::complex<float>(1, 0)), std::complex<float>(-5, 5));
}

TEST_P(KernelsReduce, OperationsThatDoNotReduceHaveNoKernel) {
  EXPECT_EQ(table().reduce(AluOp::Subtract, ComputeType::F32), nullptr);
  EXPECT_EQ(table().reduce(AluOp::BitwiseAnd, ComputeType::F32), nullptr);
  EXPECT_EQ(table().reduce(AluOp::Max, ComputeType::C64), nullptr);
}

void check_dots(const KernelTable& table, DType a_type, DType b_type, int64_t n) {
  constexpr int64_t kRows = 3;
  const int64_t a_row = (n + 5) * size_of(a_type);
  const std::vector<float> source = moderate<float>(kRows * (n + 5), 5), factors = moderate<float>(n, 6);
  std::vector<std::byte> a(static_cast<size_t>(kRows * a_row)), b(static_cast<size_t>(n * size_of(b_type)));
  table.store(ComputeType::F32, a_type)(kRows * (n + 5), a.data(), size_of(a_type), bytes(source.data()));
  table.store(ComputeType::F32, b_type)(n, b.data(), size_of(b_type), bytes(factors.data()));
  double fused[2 * kRows] = {1, 9, 2, 9, 3, 9};
  table.dot(a_type, b_type)(kRows, n, bytes(fused), 2 * sizeof(double), a.data(), a_row, b.data());
  std::vector<float> left(static_cast<size_t>(n)), right(static_cast<size_t>(n));
  table.load(b_type, ComputeType::F32)(n, bytes(right.data()), b.data(), size_of(b_type));
  for (int64_t r = 0; r < kRows; ++r) {
    auto plain = static_cast<double>(r + 1);
    table.load(a_type, ComputeType::F32)(n, bytes(left.data()), a.data() + r * a_row, size_of(a_type));
    table.binary(AluOp::Multiply, ComputeType::F32)(n, bytes(left.data()), bytes(left.data()), 1, bytes(right.data()),
                                                    1);
    table.reduce(AluOp::Add, ComputeType::F32)(n, bytes(&plain), bytes(left.data()));
    ASSERT_EQ(fused[2 * r], plain) << n;
    ASSERT_EQ(fused[2 * r + 1], 9.0);
  }
}

TEST_P(KernelsReduce, AnInnerProductEqualsAMultiplicationAndASum) {
  for (const DType a : {DType::F32, DType::BF16, DType::F16}) {
    for (const DType b : {DType::F32, DType::BF16, DType::F16}) {
      for (const int64_t n : kLengths) check_dots(table(), a, b, n);
    }
  }
  EXPECT_EQ(table().dot(DType::F64, DType::F32), nullptr);
}

struct Steps {
  int64_t out_row, out_column, in_row, in_column;
};

void check_copy(const KernelTable& table, int64_t item, int64_t rows, int64_t columns, const Steps& s) {
  const auto extent = static_cast<size_t>((rows + 2) * (columns + 2) * item * 2);
  std::vector<std::byte> in(extent), out(extent, std::byte{0xEE}), expected(extent, std::byte{0xEE});
  for (size_t i = 0; i < extent; ++i) in[i] = static_cast<std::byte>(i * 131 + i / 251);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      std::copy_n(in.data() + (r * s.in_row + c * s.in_column) * item, item,
                  expected.data() + (r * s.out_row + c * s.out_column) * item);
    }
  }
  table.copy(item)(rows, columns, out.data(), s.out_row * item, s.out_column * item, in.data(), s.in_row * item,
                   s.in_column * item);
  ASSERT_EQ(out, expected) << item << " bytes, " << rows << " x " << columns;
}

TEST_P(KernelsReduce, CopiesOfEveryLayout) {
  for (const int64_t item : {1, 2, 4, 8, 16}) {
    for (const int64_t rows : {1, 3, 16, 33, 70}) {
      for (const int64_t columns : {1, 5, 16, 64, 67}) {
        check_copy(table(), item, rows, columns, {columns, 1, columns, 1});
        check_copy(table(), item, rows, columns, {columns + 1, 1, columns + 2, 1});
        check_copy(table(), item, rows, columns, {columns, 1, 1, rows});
        check_copy(table(), item, rows, columns, {1, rows + 1, columns, 1});
        check_copy(table(), item, rows, columns, {1, rows, 1, rows + 1});
        check_copy(table(), item, rows, columns, {columns, 1, 0, 1});
        check_copy(table(), item, rows, columns, {columns, 1, 1, 0});
        check_copy(table(), item, rows, columns, {columns, 1, 0, 0});
        check_copy(table(), item, rows, columns, {2 * columns, 2, columns, 1});
      }
    }
  }
  EXPECT_EQ(table().copy(3), nullptr);
}

TEST_P(KernelsReduce, CopiesOfNothing) {
  table().copy(4)(0, 5, nullptr, 4, 4, nullptr, 4, 4);
  table().copy(4)(5, 0, nullptr, 4, 4, nullptr, 4, 4);
}

}  // namespace
}  // namespace opentrn::neuroncore::emulator
