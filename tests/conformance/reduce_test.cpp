// Reductions, windows and scans.
#include <cmath>
#include <limits>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double combine(Op reducer, double x, double y) {
  switch (reducer) {
    case Op::Add: return x + y;
    case Op::Multiply: return x * y;
    case Op::Maximum: return std::isnan(x) || std::isnan(y) ? kNaN : std::max(x, y);
    case Op::Minimum: return std::isnan(x) || std::isnan(y) ? kNaN : std::min(x, y);
    case Op::And: return static_cast<double>(static_cast<int64_t>(x) & static_cast<int64_t>(y));
    case Op::Or: return static_cast<double>(static_cast<int64_t>(x) | static_cast<int64_t>(y));
    default: return static_cast<double>(static_cast<int64_t>(x) ^ static_cast<int64_t>(y));
  }
}

class Reduce : public Conformance {
 protected:
  static std::vector<double> expected_reduction(const Tensor& x, Op reducer, double initial, const Dims& dimensions) {
    Dims kept;
    for (int64_t i = 0; i < static_cast<int64_t>(x.shape().size()); ++i) {
      if (std::count(dimensions.begin(), dimensions.end(), i) == 0) kept.push_back(i);
    }
    Dims shape;
    for (const int64_t i : kept) shape.push_back(x.shape()[static_cast<size_t>(i)]);
    std::vector<double> result(static_cast<size_t>(element_count(shape)), initial);
    const std::vector<double> values = x.values<double>();
    for (int64_t i = 0; i < x.elements(); ++i) {
      const Dims at = coordinates(i, x.shape());
      Dims to;
      for (const int64_t k : kept) to.push_back(at[static_cast<size_t>(k)]);
      double& cell = result[static_cast<size_t>(linear_index(to, shape))];
      cell = combine(reducer, cell, values[static_cast<size_t>(i)]);
    }
    return result;
  }

  void expect_reduction(const Tensor& x, Op reducer, double initial, const Dims& dimensions, Arrangement out,
                        double tolerance) const {
    const std::vector<double> expected = expected_reduction(x, reducer, initial, dimensions);
    Dims shape;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      if (std::count(dimensions.begin(), dimensions.end(), static_cast<int64_t>(i)) == 0) shape.push_back(x.shape()[i]);
    }
    Tensor start(x.dtype(), {});
    start.fill(std::vector<double>{initial});
    Tensor result(x.dtype(), shape, out);
    run({{&x, &start}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce(p[0], p[1], reducer, dimensions)};
    });
    expect_near(result, expected, tolerance,
                concat(ir::name(reducer), " ", name(x.dtype()), opentrn::to_string(x.shape()), " over ",
                       opentrn::to_string(dimensions)));
  }
};

const Op kArithmetic[] = {Op::Add, Op::Multiply, Op::Maximum, Op::Minimum};

TEST_P(Reduce, EveryTypeAndLayout) {
  const std::pair<Dims, std::vector<Dims>> cases[] = {
      {{}, {{}}},
      {{7}, {{}, {0}}},
      {{3, 5}, {{0}, {1}, {0, 1}}},
      {{2, 3, 4}, {{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}},
      {{2, 1, 3, 2, 2}, {{1}, {2, 4}, {0, 3}}},
      {{0, 3}, {{0}, {1}, {0, 1}}},
  };
  std::vector<DType> dtypes = kIntegers;
  dtypes.insert(dtypes.end(), kFloats.begin(), kFloats.end());
  for (const DType dtype : dtypes) {
    for (const auto& [shape, lists] : cases) {
      for (const Arrangement in : kResultArrangements) {
        Tensor x(dtype, shape, in);
        x.fill(ramp(x.elements(), 1, 1, 2));  // ones and twos: products stay small
        for (const Dims& dimensions : lists) {
          for (const Op reducer : kArithmetic) {
            if (reducer == Op::Multiply && size_of(dtype) == 1) continue;
            const double scale = reducer == Op::Multiply ? 1 : 3;
            for (const Arrangement out : kResultArrangements) expect_reduction(x, reducer, scale, dimensions, out, 0.5);
          }
        }
      }
    }
  }
}

TEST_P(Reduce, BitsAndBools) {
  for (const DType dtype : kIntegers) {
    Tensor x(dtype, {4, 6});
    x.fill(ramp(24, 3, 5, 19));
    for (const Op reducer : {Op::And, Op::Or, Op::Xor}) {
      for (const Dims& dimensions : {Dims{0}, Dims{1}})
        expect_reduction(x, reducer, 6, dimensions, Arrangement::RowMajor, 0);
    }
  }
  Tensor x(DType::Bool, {3, 4});
  x.fill(std::vector<int>{0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0});
  const std::vector<std::pair<Op, std::vector<int>>> expected{
      {Op::And, {0, 1, 0}}, {Op::Or, {1, 1, 0}}, {Op::Xor, {1, 0, 0}}};
  for (const auto& [reducer, values] : expected) {
    const Tensor result = evaluate({&x}, [op = reducer](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce(p[0], op, {1})};
    });
    EXPECT_EQ(result.values<int>(), values) << ir::name(reducer);
  }
}

TEST_P(Reduce, NaNAndInfinity) {
  for (const DType dtype : kFloats) {
    Tensor x(dtype, {4, 3});
    x.fill(std::vector<double>{1, kNaN, 2, kInf, 1, -3, -kInf, 0, 1, -kInf, kInf, 0});
    for (const Op reducer : kArithmetic) {
      expect_reduction(x, reducer, reducer == Op::Multiply ? 1 : 0, {1}, Arrangement::RowMajor, 0.5);
      expect_reduction(x, reducer, 0, {0}, Arrangement::RowMajor, 0.5);
    }
  }
}

TEST_P(Reduce, EmptyGivesTheInitialValue) {
  Tensor x(DType::F32, {2, 0});
  for (const Op reducer : kArithmetic) expect_reduction(x, reducer, 4.5, {1}, Arrangement::Strided, 0);
}

// Long sums have to be as good as in double: a million tenths, and small terms after a large one.
TEST_P(Reduce, LongSumsAreAccurate) {
  const int64_t count = 1'000'000;
  const auto sum = [&](const Tensor& x, const Dims& dimensions) {
    return evaluate({&x}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce(p[0], Op::Add, dimensions)};
    });
  };
  Tensor tenths(DType::F32, {count});
  tenths.fill(std::vector<double>(static_cast<size_t>(count), 0.1));
  expect_near(sum(tenths, {0}), {static_cast<double>(0.1f) * static_cast<double>(count)}, 0.5, "tenths");

  for (const DType dtype : {DType::F32, DType::F64}) {
    const double large = dtype == DType::F32 ? 0x1p25 : 0x1p54;
    // `core` adds float32 in groups of four before it adds the groups in double: three roundings more, of one group.
    const bool groups = dtype == DType::F32 && GetParam() == "core";
    const double tolerance = groups ? 0.5 + 3 * 0.5 : 0.5;
    std::vector<double> numbers(2 * 4096, 1);
    numbers[0] = numbers[1] = large;
    for (const Arrangement arrangement : {Arrangement::RowMajor, Arrangement::ColumnMajor}) {
      Tensor x(dtype, {4096, 2}, arrangement);
      x.fill(numbers);
      const std::vector<double> expected(2, large + 4095);  // the nearest double
      expect_near(sum(x, {0}), expected, tolerance, concat("small terms ", name(dtype)));
    }
  }
}

TEST_P(Reduce, LargeWithThreads) {
  for (const Dims& shape : {Dims{300, 700}, Dims{3, 70'001}, Dims{70'001, 3}, Dims{1, 200'000}}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::I64}) {
      Tensor x(dtype, shape);
      x.fill(ramp(x.elements(), -1, 1, 3));
      for (const Dims& dimensions : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        const std::vector<double> expected = expected_reduction(x, Op::Add, 0, dimensions);
        const Tensor result = evaluate({&x}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
          return std::vector{b.reduce(p[0], Op::Add, dimensions)};
        });
        expect_near(result, expected, 0.5, concat(name(dtype), opentrn::to_string(shape)));
      }
    }
  }
}

TEST_P(Reduce, Complex) {
  using Complex = std::complex<double>;
  for (const DType dtype : {DType::C64, DType::C128}) {
    Tensor x(dtype, {2, 2});
    x.fill(std::vector<Complex>{{1, 2}, {3, -1}, {0, 1}, {2, 2}});
    Tensor sum(dtype, {2}), product(dtype, {2});
    run({{&x}, {&sum, &product}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce(p[0], Op::Add, {0}), b.reduce(p[0], Op::Multiply, {1})};
    });
    EXPECT_EQ(sum.values<Complex>(), (std::vector<Complex>{{1, 3}, {5, 1}}));
    EXPECT_EQ(product.values<Complex>(), (std::vector<Complex>{{5, 5}, {-2, 2}}));
  }
}

class ReduceWindow : public Conformance {
 protected:
  // By the words of the specification: pad and dilate with the initial value, then reduce each window, from it.
  static std::vector<double> expected_windows(const Tensor& x, double initial, const ir::ReduceWindowAttributes& window,
                                              const Dims& shape) {
    const size_t rank = shape.size();
    const std::vector<double> values = x.values<double>();
    std::vector<double> result;
    for (int64_t i = 0; i < element_count(shape); ++i) {
      const Dims at = coordinates(i, shape);
      double sum = initial;
      for (int64_t w = 0; w < element_count(window.window_dimensions); ++w) {
        const Dims offset = coordinates(w, window.window_dimensions);
        Dims from(rank);
        bool inside = true;
        for (size_t d = 0; d < rank; ++d) {
          const int64_t padded =
              at[d] * window.window_strides[d] + offset[d] * window.window_dilations[d] - window.padding_low[d];
          inside = inside && padded >= 0 && padded % window.base_dilations[d] == 0 &&
                   padded / window.base_dilations[d] < x.shape()[d];
          from[d] = padded / window.base_dilations[d];
        }
        const double value = inside ? values[static_cast<size_t>(linear_index(from, x.shape()))] : initial;
        sum = combine(window.reducer, sum, value);
      }
      result.push_back(sum);
    }
    return result;
  }

  void expect_windows(const Tensor& x, double initial, const ir::ReduceWindowAttributes& window,
                      Arrangement out) const {
    Tensor start(x.dtype(), {});
    start.fill(std::vector<double>{initial});
    const ir::Graph graph = build({&x, &start}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce_window(p[0], p[1], window)};
    });
    Tensor result(x.dtype(), graph.type(graph.results[0]).shape, out);
    run(graph, {{&x, &start}, {&result}, {}});
    expect_near(result, expected_windows(x, initial, window, result.shape()), 0.5,
                concat(ir::name(window.reducer), " ", name(x.dtype())));
  }
};

TEST_P(ReduceWindow, General) {
  const ir::ReduceWindowAttributes windows[] = {
      {Op::Add, {2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {Op::Add, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {1, 0}, {0, 2}},
      {Op::Maximum, {3, 1}, {1, 2}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
      {Op::Minimum, {2, 2}, {1, 1}, {1, 3}, {2, 1}, {0, 2}, {2, 0}},
      {Op::Multiply, {1, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {Op::Add, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {-1, 0}, {0, -1}},
  };
  for (const auto& window : windows) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32}) {
      for (const Arrangement in : kResultArrangements) {
        Tensor x(dtype, {5, 6}, in);
        x.fill(ramp(30, -2, 1, 5));
        for (const double initial : {0.0, 2.0}) expect_windows(x, initial, window, in);
      }
    }
  }
}

ir::ReduceWindowAttributes scan(Op reducer, const Dims& shape, size_t dimension, bool reverse) {
  const Dims ones(shape.size(), 1);
  const Dims zeros(shape.size(), 0);
  ir::ReduceWindowAttributes window{reducer, ones, ones, ones, ones, zeros, zeros};
  window.window_dimensions[dimension] = shape[dimension];
  (reverse ? window.padding_high : window.padding_low)[dimension] = shape[dimension] - 1;
  return window;
}

TEST_P(ReduceWindow, Scans) {
  for (const Dims& shape : {Dims{1}, Dims{9}, Dims{4, 5}, Dims{3, 4, 5}}) {
    for (size_t dimension = 0; dimension < shape.size(); ++dimension) {
      for (const bool reverse : {false, true}) {
        for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I64, DType::U8}) {
          for (const Arrangement arrangement : kResultArrangements) {
            Tensor x(dtype, shape, arrangement);
            x.fill(ramp(x.elements(), 1, 1, 2));
            const auto window = [&](Op reducer) { return scan(reducer, shape, dimension, reverse); };
            expect_windows(x, 0, window(Op::Add), arrangement);
            expect_windows(x, 1, window(Op::Multiply), arrangement);
            expect_windows(x, 1, window(Op::Maximum), Arrangement::RowMajor);
            expect_windows(x, 2, window(Op::Add), Arrangement::RowMajor);  // the padding counts
          }
        }
      }
    }
  }
}

TEST_P(ReduceWindow, LongScansAccumulateInDouble) {
  const int64_t count = 100'000;
  for (const bool side_by_side : {false, true}) {
    const Dims shape = side_by_side ? Dims{count, 2} : Dims{2, count};
    Tensor x(DType::F32, shape);
    x.fill(std::vector<double>(static_cast<size_t>(2 * count), 0.1));
    const auto window = scan(Op::Add, shape, side_by_side ? 0 : 1, false);
    const Tensor result = evaluate({&x}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.reduce_window(p[0], b.scalar(DType::F32, 0), window)};
    });
    const float last = result.values<float>().back();
    EXPECT_EQ(last, static_cast<float>(static_cast<double>(0.1f) * static_cast<double>(count)));
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Reduce);
OPENTRN_FOR_EACH_ENGINE(ReduceWindow);

}  // namespace opentrn::conformance
