// Every family of primitives at the sizes where tiles begin and end, on no to five dimensions, and on nothing. Numbers
// are small and whole where they are summed, so that every order of additions gives the same.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;
using Values = std::vector<ir::Value>;

const std::vector<int64_t> kEdges{1, 127, 128, 129, 511, 512, 513};
const std::vector<Dims> kShapes{{},       {0},      {1},         {127},         {128},           {129},    {511},
                                {512},    {513},    {2, 0, 3},   {1, 513},      {513, 1},        {127, 3}, {3, 129},
                                {2, 511}, {512, 2}, {3, 1, 129}, {2, 3, 1, 65}, {2, 1, 3, 2, 33}};

class EdgeSizes : public Conformance {
 protected:
  static Arrangement arrangement(size_t number) { return kResultArrangements[number % kResultArrangements.size()]; }
};

// --- element-wise

constexpr int64_t kPeriod = 17;  // of the operands' numbers

std::vector<double> numbers(DType dtype, size_t operand, int64_t count) {
  std::vector<double> result;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = (i + 5 * static_cast<int64_t>(operand)) % kPeriod;
    if (is_float(dtype) || is_complex(dtype)) {
      result.push_back(static_cast<double>(at) * 0.4375 - 3.5);
    } else {
      result.push_back(static_cast<double>(operand == 0 ? at : 1 + at % 5));
    }
  }
  return result;
}

ir::Value apply(ir::Builder& b, Op op, const Values& p) {
  if (op == Op::Select) return b.select(p[0], p[1], p[2]);
  if (op == Op::Clamp) return b.clamp(p[0], p[1], p[2]);
  if (op == Op::Compare) return b.compare(ir::ComparisonDirection::LT, p[0], p[1]);
  return ir::info(op).operands == 1 ? b.unary(op, p[0]) : b.binary(op, p[0], p[1]);
}

bool same(const std::byte* x, const std::byte* y, DType dtype) {
  if (std::memcmp(x, y, static_cast<size_t>(size_of(dtype))) == 0) return true;
  return visit_dtype(dtype, [&]<typename T>() {
    T left, right;
    std::memcpy(static_cast<void*>(&left), x, sizeof(T));
    std::memcpy(static_cast<void*>(&right), y, sizeof(T));
    const auto a = convert_element<std::complex<double>>(left), b = convert_element<std::complex<double>>(right);
    const auto part = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
    return part(a.real(), b.real()) && part(a.imag(), b.imag());
  });
}

// Whatever the shape and wherever it lies, an element is what the same numbers give in a small tensor.
TEST_P(EdgeSizes, ElementwiseResultsDependOnNothingButTheNumbers) {
  const auto operands_of = [](Op op, DType dtype, const Dims& shape, size_t number) {
    std::vector<Tensor> operands;
    for (size_t k = 0; k < static_cast<size_t>(ir::info(op).operands); ++k) {
      const DType own = op == Op::Select && k == 0 ? DType::Bool : dtype;
      operands.emplace_back(own, shape, arrangement(number + k));
      operands.back().fill(numbers(own, k, operands.back().elements()));
    }
    return operands;
  };
  const auto pointers = [](const std::vector<Tensor>& tensors) {
    std::vector<const Tensor*> result;
    for (const Tensor& tensor : tensors) result.push_back(&tensor);
    return result;
  };
  int64_t checked = 0;
  for (const ir::OpInfo& row : ir::catalogue()) {
    const Op op = row.op;
    if (row.op_class != ir::OpClass::Elementwise || op == Op::Convert || op == Op::BitcastConvert ||
        op == Op::ReducePrecision) {
      continue;
    }
    const auto build = [&](ir::Builder& b, const Values& p) { return Values{apply(b, op, p)}; };
    for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::U8, DType::Bool, DType::C64}) {
      const std::vector<Tensor> small = operands_of(op, dtype, {kPeriod}, 0);
      ir::Graph graph;
      try {
        graph = this->build(pointers(small), build);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Runtime) << error.what();
        continue;
      }
      const DType result_type = graph.type(graph.results[0]).dtype;
      Tensor table(result_type, {kPeriod});
      run(graph, {pointers(small), {&table}, {}});
      for (size_t number = 0; number < kShapes.size(); ++number) {
        const std::vector<Tensor> operands = operands_of(op, dtype, kShapes[number], number);
        Tensor result(result_type, kShapes[number], arrangement(number + 3));
        run({pointers(operands), {&result}, {}}, build);
        for (int64_t i = 0; i < result.elements(); ++i) {
          ASSERT_TRUE(same(result.at(i), table.at(i % kPeriod), result_type))
              << row.name << " " << name(dtype) << " " << opentrn::to_string(kShapes[number]) << " element " << i;
        }
        checked += result.elements();
      }
    }
  }
  EXPECT_GT(checked, 100'000);
}

TEST_P(EdgeSizes, Conversions) {
  for (const DType from : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64, DType::Bool}) {
    for (const DType to : {DType::F32, DType::F16, DType::F64, DType::I8, DType::I64, DType::Bool, DType::C64}) {
      for (size_t number = 0; number < kShapes.size(); ++number) {
        Tensor x(from, kShapes[number], arrangement(number));
        Tensor result(to, kShapes[number], arrangement(number + 1));
        x.fill(ramp(x.elements(), 0, 1));
        run({{&x}, {&result}, {}}, [&](ir::Builder& b, const Values& p) { return Values{b.convert(p[0], to)}; });
        Tensor expected(to, kShapes[number]);
        expected.fill(x.values<double>());
        ASSERT_EQ(result.bytes(), expected.bytes())
            << name(from) << " to " << name(to) << " " << opentrn::to_string(kShapes[number]);
      }
    }
  }
}

// --- reductions

double combined(Op op, double x, double y) {
  if (op == Op::Add) return x + y;
  return op == Op::Maximum ? std::max(x, y) : std::min(x, y);
}

std::vector<double> reduced(Op op, const Tensor& x, const Dims& dims, const Dims& kept, double initial) {
  std::vector<double> result(static_cast<size_t>(ir::TensorType{x.dtype(), kept}.elements()), initial);
  const std::vector<double> elements = x.values<double>();
  for (int64_t i = 0; i < x.elements(); ++i) {
    const Dims at = coordinates(i, x.shape());
    Dims rest;
    for (size_t d = 0; d < at.size(); ++d) {
      if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) rest.push_back(at[d]);
    }
    double& value = result[static_cast<size_t>(linear_index(rest, kept))];
    value = combined(op, value, elements[static_cast<size_t>(i)]);
  }
  return result;
}

TEST_P(EdgeSizes, Reductions) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64}) {
    for (size_t number = 0; number < kShapes.size(); ++number) {
      const Dims& shape = kShapes[number];
      std::vector<Dims> choices{{}};
      for (size_t d = 0; d < shape.size(); ++d) choices.push_back({static_cast<int64_t>(d)});
      choices.emplace_back(shape.size());
      std::iota(choices.back().begin(), choices.back().end(), 0);
      Tensor x(dtype, shape, arrangement(number));
      // So few are not zero that their sums fit every type.
      x.fill(ramp(x.elements(), -1, 1, 3));
      for (const Dims& dims : choices) {
        Dims kept;
        for (size_t d = 0; d < shape.size(); ++d) {
          if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) kept.push_back(shape[d]);
        }
        for (const Op op : {Op::Add, Op::Maximum, Op::Minimum}) {
          const double initial = op == Op::Add ? 2 : 0;
          Tensor result(dtype, kept, arrangement(number + 2));
          run({{&x}, {&result}, {}}, [&](ir::Builder& b, const Values& p) {
            return Values{b.reduce(p[0], b.scalar(dtype, initial), op, dims)};
          });
          ASSERT_EQ(result.values<double>(), reduced(op, x, dims, kept, initial))
              << ir::info(op).name << " " << name(dtype) << " " << opentrn::to_string(shape) << " over "
              << opentrn::to_string(dims);
        }
      }
    }
  }
}

// --- data movement

TEST_P(EdgeSizes, DataMovement) {
  struct Move {
    const char* name;
    std::function<ir::Value(ir::Builder&, ir::Value)> build;
    std::function<Dims(const Dims& shape, const Dims& at)> source;  // empty: padding
    std::function<Dims(const Dims& shape)> result;
  };
  const auto every = [](const Dims& shape, int64_t value) { return Dims(shape.size(), value); };
  const auto backwards = [](Dims dims) {
    std::reverse(dims.begin(), dims.end());
    return dims;
  };
  const auto order = [](size_t rank) {
    Dims dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
  };
  const std::vector<Move> moves{
      {"transpose", [&](ir::Builder& b, ir::Value x) { return b.transpose(x, backwards(order(b.shape(x).size()))); },
       [&](const Dims&, const Dims& at) { return backwards(at); }, backwards},
      {"reverse", [&](ir::Builder& b, ir::Value x) { return b.reverse(x, order(b.shape(x).size())); },
       [](const Dims& shape, Dims at) {
         for (size_t d = 0; d < at.size(); ++d) at[d] = shape[d] - 1 - at[d];
         return at;
       },
       [](const Dims& shape) { return shape; }},
      {"slice",
       [&](ir::Builder& b, ir::Value x) {
         const Dims shape = b.shape(x);
         Dims start = shape;
         for (int64_t& s : start) s = s > 1 ? 1 : 0;
         return b.slice(x, start, shape, every(shape, 2));
       },
       [](const Dims& shape, Dims at) {
         for (size_t d = 0; d < at.size(); ++d) at[d] = 2 * at[d] + (shape[d] > 1 ? 1 : 0);
         return at;
       },
       [](Dims shape) {
         for (int64_t& size : shape) size = size > 1 ? size / 2 : size;
         return shape;
       }},
      {"pad",
       [&](ir::Builder& b, ir::Value x) {
         const Dims shape = b.shape(x);
         return b.pad(x, b.scalar(b.dtype(x), 9), every(shape, 1), every(shape, 2), every(shape, 1));
       },
       [](const Dims& shape, Dims at) {
         for (size_t d = 0; d < at.size(); ++d) {
           const int64_t before = at[d] - 1;
           if (before < 0 || before % 2 != 0 || before / 2 >= shape[d]) return Dims{-1};
           at[d] = before / 2;
         }
         return at;
       },
       [](Dims shape) {
         for (int64_t& size : shape) size = 3 + std::max<int64_t>(0, 2 * size - 1);
         return shape;
       }},
      {"broadcast",
       [&](ir::Builder& b, ir::Value x) {
         Dims shape = b.shape(x);
         shape.insert(shape.begin(), 3);
         Dims dimensions = order(shape.size() - 1);
         for (int64_t& d : dimensions) ++d;
         return b.broadcast_in_dim(x, shape, dimensions);
       },
       [](const Dims&, const Dims& at) { return Dims(at.begin() + 1, at.end()); },
       [](Dims shape) {
         shape.insert(shape.begin(), 3);
         return shape;
       }}};
  for (const Move& move : moves) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::I64, DType::Bool}) {
      for (size_t number = 0; number < kShapes.size(); ++number) {
        const Dims& shape = kShapes[number];
        Tensor x(dtype, shape, arrangement(number)), padding(dtype, {1});
        Tensor result(dtype, move.result(shape), arrangement(number + 1));
        x.fill(ramp(x.elements(), 0, 1, 23));
        padding.fill(std::vector<double>{9});
        run({{&x}, {&result}, {}}, [&](ir::Builder& b, const Values& p) { return Values{move.build(b, p[0])}; });
        for (int64_t i = 0; i < result.elements(); ++i) {
          const Dims from = move.source(shape, coordinates(i, result.shape()));
          const bool is_padding = from == Dims{-1};
          const std::byte* expected = is_padding ? padding.at(0) : x.at(linear_index(from, shape));
          ASSERT_TRUE(same(result.at(i), expected, dtype))
              << move.name << " " << name(dtype) << " " << opentrn::to_string(shape) << " element " << i;
        }
      }
    }
  }
}

TEST_P(EdgeSizes, Concatenations) {
  for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}}) {
    for (const int64_t second : kEdges) {
      for (const int64_t dimension : {0, 1}) {
        const auto shape = [&](int64_t size) { return dimension == 0 ? Dims{size, 3} : Dims{3, size}; };
        Tensor x(DType::F32, shape(first)), y(DType::F32, shape(second), Arrangement::ColumnMajor);
        x.fill(ramp(x.elements()));
        y.fill(ramp(y.elements(), 100));
        const Tensor result =
            evaluate({&x, &y}, [&](ir::Builder& b, const Values& p) { return Values{b.concatenate(p, dimension)}; });
        for (int64_t i = 0; i < result.elements(); ++i) {
          Dims at = coordinates(i, result.shape());
          int64_t& along = at[static_cast<size_t>(dimension)];
          const Tensor& source = along < first ? x : y;
          if (along >= first) along -= first;
          ASSERT_TRUE(same(result.at(i), source.at(linear_index(at, source.shape())), DType::F32))
              << first << " + " << second << " along " << dimension << " element " << i;
        }
      }
    }
  }
}

// --- products, gathering, sorting

TEST_P(EdgeSizes, Products) {
  const auto check = [&](DType dtype, int64_t m, int64_t k, int64_t n) {
    Tensor x(dtype, {m, k}), y(dtype, {k, n});
    x.fill(ramp(m * k, -2, 1, 5));
    y.fill(ramp(k * n, -3, 1, 7));
    const Tensor result = evaluate({&x, &y}, [&](ir::Builder& b, const Values& p) {
      return Values{b.dot_general(p[0], p[1], {{}, {}, {1}, {0}}, DType::F32)};
    });
    const std::vector<double> got = result.values<double>(), a = x.values<double>(), c = y.values<double>();
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += a[static_cast<size_t>(i * k + l)] * c[static_cast<size_t>(l * n + j)];
        ASSERT_EQ(got[static_cast<size_t>(i * n + j)], sum) << name(dtype) << " " << m << "x" << k << "x" << n;
      }
    }
  };
  for (const DType dtype : {DType::F32, DType::BF16}) {
    for (const int64_t edge : kEdges) {
      check(dtype, edge, 3, 2);
      check(dtype, 2, edge, 3);
      check(dtype, 3, 2, edge);
      check(dtype, edge, edge, 1);
      check(dtype, 1, edge, edge);
      check(dtype, edge, 129, 17);
    }
    check(dtype, 0, 3, 2);
    check(dtype, 3, 0, 2);
    check(dtype, 3, 2, 0);
  }
}

TEST_P(EdgeSizes, SortedRows) {
  for (const int64_t edge : kEdges) {
    for (const DType dtype : {DType::F32, DType::I32}) {
      Tensor x(dtype, {3, edge}, Arrangement::ColumnMajor);
      x.fill(ramp(x.elements(), 0, 7, 513));
      const Tensor result = evaluate(
          {&x}, [&](ir::Builder& b, const Values& p) { return b.sort(p, ir::SortAttributes{.dimension = 1}); });
      std::vector<double> expected = x.values<double>();
      for (int64_t row = 0; row < 3; ++row)
        std::sort(expected.begin() + row * edge, expected.begin() + (row + 1) * edge);
      ASSERT_EQ(result.values<double>(), expected) << name(dtype) << " " << edge;
    }
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(EdgeSizes);

}  // namespace opentrn::conformance
