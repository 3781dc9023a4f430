// Results that lie where parameters lie, values with several names, and long graphs.
#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Builder;
using ir::Value;
using Values = std::vector<Value>;

class Memory : public Conformance {};

// Two parameters that are views of one storage, or a parameter and a result that are.
Tensor vector_of(const std::vector<double>& numbers, DType dtype = DType::F32) {
  Tensor tensor(dtype, {static_cast<int64_t>(numbers.size())});
  tensor.fill(numbers);
  return tensor;
}

TEST_P(Memory, ElementwiseInPlace) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32}) {
    for (const Arrangement arrangement : kResultArrangements) {
      Tensor x(dtype, {4, 5}, arrangement);
      x.fill(ramp(20, 1, 1, 11));
      const std::vector<double> before = x.values<double>();
      run({{&x}, {&x}, {{0, 0, true}}},
          [](Builder& b, const Values& p) { return Values{b.add(b.multiply(p[0], p[0]), p[0])}; });
      std::vector<double> expected;
      for (const double value : before) expected.push_back(value * value + value);
      EXPECT_EQ(x.values<double>(), expected) << name(dtype) << " " << to_string(arrangement);
    }
  }
}

TEST_P(Memory, InPlaceWhileTheParameterIsStillNeeded) {
  Tensor x(DType::F32, {3, 3});
  x.fill(ramp(9, 1, 1));
  const std::vector<double> before = x.values<double>();
  // The transpose reads elements that the sum has already overwritten, unless the engine takes care.
  run({{&x}, {&x}, {{0, 0, true}}},
      [](Builder& b, const Values& p) { return Values{b.add(p[0], b.transpose(p[0], {1, 0}))}; });
  for (int64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(x.values<double>()[static_cast<size_t>(i)],
              before[static_cast<size_t>(i)] + before[static_cast<size_t>(i % 3 * 3 + i / 3)]);
  }

  Tensor y(DType::F32, {3});
  y.fill(std::vector<double>{1, 2, 3});
  Tensor later(DType::F32, {3});
  run({{&y}, {&y, &later}, {{0, 0, true}}}, [](Builder& b, const Values& p) {
    const Value sum = b.add(p[0], p[0]);
    return Values{sum, b.multiply(p[0], sum)};
  });
  EXPECT_EQ(y.values<double>(), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(later.values<double>(), (std::vector<double>{2, 8, 18}));
}

TEST_P(Memory, TemporaryReadInTwoOrders) {
  Tensor x(DType::F32, {3, 3});
  x.fill(ramp(9, 1, 1));
  const Tensor result = evaluate({&x}, [](Builder& b, const Values& p) {
    const Value square = b.multiply(p[0], p[0]);
    return Values{b.negate(b.add(square, b.transpose(square, {1, 0})))};
  });
  const std::vector<double> before = x.values<double>();
  for (size_t i = 0; i < 9; ++i) {
    const double other = before[i % 3 * 3 + i / 3];
    EXPECT_EQ(result.values<double>()[i], -(before[i] * before[i] + other * other));
  }
}

TEST_P(Memory, ReverseAndReduceInPlace) {
  Tensor x = vector_of({1, 2, 3, 4, 5});
  run({{&x}, {&x}, {{0, 0, true}}}, [](Builder& b, const Values& p) { return Values{b.reverse(p[0], {0})}; });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{5, 4, 3, 2, 1}));
  run({{&x}, {&x}, {{0, 0, true}}}, [](Builder& b, const Values& p) {
    return Values{b.subtract(p[0], b.broadcast_to(b.reduce(p[0], ir::Op::Add, {0}), {5}))};
  });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{-10, -11, -12, -13, -14}));
}

TEST_P(Memory, ShiftedOverlap) {
  // The result lies one element behind the parameter.
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  ir::Builder b;
  const Value p = b.parameter({DType::F32, {5}});
  const Value doubled = b.add(p, p);
  const ir::TensorType type{DType::F32, {5}};
  engines::Module module{b.finish({doubled}), {}, {}, {}};
  module.parameters.push_back({type, {1}});
  module.results.push_back({type, {1}});
  module.overlaps.push_back({0, 0, false});
  const auto executable = engines::engine(GetParam()).compile(module, neuroncore::machines()[0]);
  const void* parameters[] = {memory.data()};
  void* results[] = {memory.data() + 1};
  executable->run(parameters, results);
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 4, 6, 8, 10}));
}

TEST_P(Memory, ParametersExchangePlaces) {
  Tensor x = vector_of({1, 2, 3}), y = vector_of({4, 5, 6});
  run({{&x, &y}, {&x, &y}, {{0, 0, true}, {1, 1, true}}}, [](Builder&, const Values& p) { return Values{p[1], p[0]}; });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(y.values<double>(), (std::vector<double>{1, 2, 3}));

  run({{&x, &y}, {&x, &y}, {{0, 0, true}, {1, 1, true}}},
      [](Builder& b, const Values& p) { return Values{b.negate(p[1]), p[0]}; });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{-1, -2, -3}));
  EXPECT_EQ(y.values<double>(), (std::vector<double>{4, 5, 6}));
}

TEST_P(Memory, ParameterThatIsItsOwnResult) {
  Tensor x = vector_of({1, 2, 3});
  Tensor doubled(DType::F32, {3});
  run({{&x}, {&x, &doubled}, {{0, 0, true}}},
      [](Builder& b, const Values& p) { return Values{p[0], b.add(p[0], p[0])}; });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(doubled.values<double>(), (std::vector<double>{2, 4, 6}));
}

TEST_P(Memory, OneValueSeveralResults) {
  const Tensor x = vector_of({1, 2, 3, 4, 5, 6});
  Tensor first(DType::F32, {6}), second(DType::F32, {6}, Arrangement::Strided),
      third(DType::F32, {3, 2}, Arrangement::ColumnMajor);
  run({{&x}, {&first, &second, &third}, {}}, [](Builder& b, const Values& p) {
    const Value sum = b.add(p[0], p[0]);
    return Values{sum, sum, b.transpose(b.reshape(sum, {2, 3}), {1, 0})};
  });
  EXPECT_EQ(first.values<double>(), (std::vector<double>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(second.values<double>(), first.values<double>());
  EXPECT_EQ(third.values<double>(), (std::vector<double>{2, 8, 4, 10, 6, 12}));
}

TEST_P(Memory, UpdatesInPlace) {
  Tensor cache(DType::F32, {4, 3}), row(DType::F32, {1, 3}), at(DType::I64, {}), zero(DType::I64, {});
  cache.fill(ramp(12, 0, 1, 13));
  row.fill(std::vector<double>{7, 8, 9});
  at.fill(std::vector<int64_t>{2});
  zero.fill(std::vector<int64_t>{0});
  std::vector<double> expected = cache.values<double>();
  for (size_t i = 0; i < 3; ++i) expected[6 + i] = 7 + static_cast<double>(i);
  run({{&cache, &row, &at, &zero}, {&cache}, {{0, 0, true}}},
      [](Builder& b, const Values& p) { return Values{b.dynamic_update_slice(p[0], p[1], std::vector{p[2], p[3]})}; });
  EXPECT_EQ(cache.values<double>(), expected);
  // The update is the cache itself.
  run({{&cache, &row, &at, &zero}, {&cache}, {{0, 0, true}}}, [](Builder& b, const Values& p) {
    return Values{b.dynamic_update_slice(p[0], b.slice(p[0], {0, 0}, {2, 3}, {1, 1}), std::vector{p[2], p[3]})};
  });
  for (size_t i = 0; i < 6; ++i) expected[6 + i] = expected[i];
  EXPECT_EQ(cache.values<double>(), expected);
}

TEST_P(Memory, ProductInPlace) {
  Tensor x(DType::F32, {2, 2});
  x.fill(std::vector<double>{1, 2, 3, 4});
  run({{&x}, {&x}, {{0, 0, true}}},
      [](Builder& b, const Values& p) { return Values{b.dot_general(p[0], p[0], {{}, {}, {1}, {0}}, DType::F32)}; });
  EXPECT_EQ(x.values<double>(), (std::vector<double>{7, 10, 15, 22}));
}

TEST_P(Memory, LongChainsReuseTemporaries) {
  Tensor x(DType::F32, {50});
  x.fill(ramp(50));
  const Tensor result = evaluate({&x}, [](Builder& b, const Values& p) {
    Value kept = b.multiply(p[0], b.splat_like(p[0], 3));
    Value value = p[0];
    for (int i = 0; i < 60; ++i) {
      value = i % 7 == 3 ? b.reverse(b.add(value, kept), {0}) : b.add(value, b.splat_like(value, 1));
      if (i % 11 == 5) kept = b.subtract(kept, value);
    }
    return Values{b.add(value, kept)};
  });
  std::vector<double> value = x.values<double>(), kept;
  for (const double number : value) kept.push_back(number * 3);
  for (int i = 0; i < 60; ++i) {
    for (size_t j = 0; j < 50; ++j) value[j] += i % 7 == 3 ? kept[j] : 1;
    if (i % 7 == 3) std::reverse(value.begin(), value.end());
    for (size_t j = 0; j < 50; ++j) kept[j] -= i % 11 == 5 ? value[j] : 0;
  }
  for (size_t j = 0; j < 50; ++j) value[j] += kept[j];
  EXPECT_EQ(result.values<double>(), value);
}

TEST_P(Memory, ZeroElementsEverywhere) {
  Tensor x(DType::F32, {0, 3}), y(DType::F32, {3, 4}), sum(DType::F32, {3}), product(DType::F32, {0, 4}),
      joined(DType::F32, {0, 6});
  y.fill(ramp(12));
  run({{&x, &y}, {&sum, &product, &joined}, {}}, [](Builder& b, const Values& p) {
    return Values{b.reduce(p[0], ir::Op::Add, {0}), b.dot_general(p[0], p[1], {{}, {}, {1}, {0}}, DType::F32),
                  b.concatenate(Values{p[0], p[0]}, 1)};
  });
  EXPECT_EQ(sum.values<double>(), (std::vector<double>{0, 0, 0}));
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Memory);

}  // namespace opentrn::conformance
