// DotGeneral: products, batches, any strides, any element types.
#include <cmath>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using Complex = std::complex<double>;

class Dot : public Conformance {
 protected:
  // [m, k] x [k, n] (or [n, k]) on tensors of small whole numbers, whose sums are exact in every order.
  void expect_product(DType dtype, DType result_dtype, int64_t m, int64_t n, int64_t k, Arrangement left,
                      Arrangement right, Arrangement out, bool transposed = false) const {
    Tensor x(dtype, {m, k}, left);
    Tensor y(dtype, transposed ? Dims{n, k} : Dims{k, n}, right);
    Tensor result(result_dtype, {m, n}, out);
    x.fill(ramp(m * k, -2, 1, 5));
    y.fill(ramp(n * k, -1, 1, 3));
    run({{&x, &y}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.dot_general(p[0], p[1], {{}, {}, {1}, {transposed ? 1 : 0}}, result_dtype)};
    });
    const std::vector<double> a = x.values<double>(), c = y.values<double>();
    std::vector<double> expected;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += a[static_cast<size_t>(i * k + l)] * c[static_cast<size_t>(transposed ? j * k + l : l * n + j)];
        }
        expected.push_back(sum);
      }
    }
    expect_near(result, expected, 0.5,
                concat(name(dtype), " ", m, "x", n, "x", k, " ", to_string(left), ", ", to_string(right), " to ",
                       to_string(out)));
  }
};

TEST_P(Dot, EveryLayout) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32, DType::C64}) {
    for (const Arrangement left : kResultArrangements) {
      for (const Arrangement right : kResultArrangements) {
        for (const Arrangement out : kResultArrangements) {
          for (const bool transposed : {false, true}) {
            expect_product(dtype, dtype, 5, 7, 9, left, right, out, transposed);
            expect_product(dtype, dtype, 1, 7, 40, left, right, out, transposed);
            expect_product(dtype, dtype, 9, 3, 33, left, right, out, transposed);
          }
        }
      }
    }
  }
}

TEST_P(Dot, EdgeSizes) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    for (const int64_t m : {1, 2, 3, 4, 5, 6, 12, 13, 97}) {
      for (const int64_t n : {1, 4, 8, 16, 31, 33}) {
        for (const int64_t k : {0, 1, 3, 4, 15, 16, 17, 33, 257}) {
          expect_product(dtype, dtype, m, n, k, Arrangement::RowMajor, Arrangement::RowMajor, Arrangement::RowMajor);
          expect_product(dtype, dtype, m, n, k, Arrangement::RowMajor, Arrangement::ColumnMajor, Arrangement::RowMajor);
        }
      }
    }
  }
}

TEST_P(Dot, LargeEnoughForBlocksAndThreads) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const int64_t m : {1, 3, 130}) {
      expect_product(dtype, DType::F32, m, 600, 520, Arrangement::RowMajor, Arrangement::RowMajor,
                     Arrangement::RowMajor);
      expect_product(dtype, DType::F32, m, 600, 520, Arrangement::RowMajor, Arrangement::RowMajor,
                     Arrangement::RowMajor, true);
      expect_product(dtype, DType::F32, 600, m, 520, Arrangement::ColumnMajor, Arrangement::RowMajor,
                     Arrangement::Strided);
    }
  }
}

TEST_P(Dot, WiderResults) {
  const std::pair<DType, DType> pairs[] = {{DType::BF16, DType::F32},     {DType::F16, DType::F32},
                                           {DType::F32, DType::F64},      {DType::I8, DType::I32},
                                           {DType::F8E4M3FN, DType::F32}, {DType::I32, DType::I64}};
  for (const auto& [dtype, result] : pairs) {
    for (const int64_t m : {2, 9}) {
      expect_product(dtype, result, m, 11, 70, Arrangement::RowMajor, Arrangement::RowMajor, Arrangement::RowMajor);
    }
  }
}

TEST_P(Dot, NarrowFloatsRoundOnce) {
  // 1 + 2^-9 + ... : every partial sum would lose the small terms in bfloat16.
  for (const auto& [dtype, small] : {std::pair{DType::BF16, 0x1p-9}, std::pair{DType::F16, 0x1p-12}}) {
    for (const int64_t m : {1, 8}) {
      Tensor x(dtype, {m, 257}), y(dtype, {257, 1});
      std::vector<double> row(static_cast<size_t>(m * 257), small);
      for (int64_t i = 0; i < m; ++i) row[static_cast<size_t>(i * 257)] = 1;
      x.fill(row);
      y.fill(std::vector<double>(257, 1));
      const Tensor result = evaluate({&x, &y}, [dtype = dtype](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.dot_general(p[0], p[1], {{}, {}, {1}, {0}}, dtype)};
      });
      expect_near(result, std::vector<double>(static_cast<size_t>(m), 1 + 256 * small), 0.5,
                  concat("sum of small terms ", name(dtype)));
    }
  }
}

TEST_P(Dot, IntegersWrap) {
  Tensor x(DType::I32, {1, 2}), y(DType::I32, {2, 1});
  x.fill(std::vector<int64_t>{2'000'000'000, 2'000'000'000});
  y.fill(std::vector<int64_t>{3, 1});
  const Tensor result = evaluate({&x, &y}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.dot_general(p[0], p[1], {{}, {}, {1}, {0}}, DType::I32)};
  });
  EXPECT_EQ(result.values<int64_t>()[0], static_cast<int32_t>(static_cast<uint32_t>(8'000'000'000 % 4'294'967'296)));

  Tensor big(DType::I64, {1, 2});
  big.fill(std::vector<int64_t>{(int64_t{1} << 60) + 1, 3});
  const Tensor exact = evaluate({&big}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.dot_general(p[0], p[0], {{}, {}, {1}, {1}}, DType::I64)};
  });
  EXPECT_EQ(exact.values<int64_t>()[0], (int64_t{1} << 61) + 1 + 9);
}

TEST_P(Dot, Complex) {
  for (const DType dtype : {DType::C64, DType::C128}) {
    Tensor x(dtype, {2, 3}), y(dtype, {3, 2}, Arrangement::ColumnMajor);
    std::vector<Complex> a, c;
    for (int i = 0; i < 6; ++i) {
      a.emplace_back(i, 1 - i);
      c.emplace_back(2 - i, i);
    }
    x.fill(a);
    y.fill(c);
    const Tensor result = evaluate({&x, &y}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.dot_general(p[0], p[1], {{}, {}, {1}, {0}}, dtype)};
    });
    for (size_t i = 0; i < 2; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        Complex sum = 0;
        for (size_t l = 0; l < 3; ++l) sum += a[i * 3 + l] * c[l * 2 + j];
        EXPECT_EQ(result.values<Complex>()[i * 2 + j], sum);
      }
    }
  }
}

// Batches and several free and contracting dimensions in any order: compared with sums over all coordinates.
TEST_P(Dot, BatchesAndManyDimensions) {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64}) {
    for (const Arrangement arrangement : kResultArrangements) {
      // lhs [k0, b, m, k1], rhs [b, k1, n0, k0, n1] -> [b, m, n0, n1]
      Tensor x(dtype, {3, 2, 4, 5}, arrangement), y(dtype, {2, 5, 2, 3, 6}, arrangement),
          result(dtype, {2, 4, 2, 6}, arrangement);
      x.fill(ramp(x.elements(), -2, 1, 5));
      y.fill(ramp(y.elements(), -1, 1, 3));
      run({{&x, &y}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.dot_general(p[0], p[1], {{1}, {0}, {0, 3}, {3, 1}}, dtype)};
      });
      const std::vector<double> left = x.values<double>(), right = y.values<double>(), values = result.values<double>();
      for (int64_t i = 0; i < result.elements(); ++i) {
        const Dims at = coordinates(i, result.shape());
        double sum = 0;
        for (int64_t k0 = 0; k0 < 3; ++k0) {
          for (int64_t k1 = 0; k1 < 5; ++k1) {
            sum += left[static_cast<size_t>(linear_index({k0, at[0], at[1], k1}, x.shape()))] *
                   right[static_cast<size_t>(linear_index({at[0], k1, at[2], k0, at[3]}, y.shape()))];
          }
        }
        ASSERT_EQ(values[static_cast<size_t>(i)], sum) << name(dtype) << " " << to_string(arrangement) << " " << i;
      }
    }
  }
}

TEST_P(Dot, ExpandedBatch) {
  // One matrix for every product of the batch, as grouped attention heads share keys.
  Tensor x(DType::F32, {4, 3, 8}), y(DType::F32, {8, 5});
  x.fill(ramp(96, -2, 1, 5));
  y.fill(ramp(40, -1, 1, 3));
  const Tensor result = evaluate({&x, &y}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.dot_general(p[0], b.broadcast_to(p[1], {4, 8, 5}), {{0}, {0}, {2}, {1}}, DType::F32)};
  });
  for (int64_t i = 0; i < 60; ++i) {
    const Dims at = coordinates(i, {4, 3, 5});
    double sum = 0;
    for (int64_t k = 0; k < 8; ++k) {
      sum += x.values<double>()[static_cast<size_t>(linear_index({at[0], at[1], k}, x.shape()))] *
             y.values<double>()[static_cast<size_t>(k * 5 + at[2])];
    }
    EXPECT_EQ(result.values<double>()[static_cast<size_t>(i)], sum);
  }
}

TEST_P(Dot, VectorsAndOuterProducts) {
  Tensor x(DType::F32, {70}), y(DType::F32, {70}, Arrangement::Strided), inner(DType::F32, {}),
      outer(DType::F32, {70, 70});
  x.fill(ramp(70, -2, 1, 5));
  y.fill(ramp(70, -1, 1, 3));
  run({{&x, &y}, {&inner, &outer}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
    return std::vector{b.dot_general(p[0], p[1], {{}, {}, {0}, {0}}, DType::F32),
                       b.dot_general(p[0], p[1], {}, DType::F32)};
  });
  double sum = 0;
  for (size_t i = 0; i < 70; ++i) {
    sum += x.values<double>()[i] * y.values<double>()[i];
    for (size_t j = 0; j < 70; j += 23)
      EXPECT_EQ(outer.values<double>()[i * 70 + j], x.values<double>()[i] * y.values<double>()[j]);
  }
  EXPECT_EQ(inner.values<double>()[0], sum);
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Dot);

}  // namespace opentrn::conformance
