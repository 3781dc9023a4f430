// Primitives that carry regions: loops, branches, and functions that the IR has no word for.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/conformance/harness.h"
#include "tests/cpp/ir/samples.h"

namespace opentrn::conformance {

namespace {

using ir::Op;
using ir::Region;
using ir::Value;
using Values = std::vector<Value>;

class Regions : public Conformance {
 protected:
  static Tensor make(DType dtype, const Dims& shape, const std::vector<double>& values,
                     Arrangement arrangement = Arrangement::RowMajor) {
    Tensor tensor(dtype, shape, arrangement);
    tensor.fill(values);
    return tensor;
  }
};

// Sums x, 2 x, 4 x ... while the count is below a limit that is read from outside.
TEST_P(Regions, WhileCarriesAndCaptures) {
  const ir::TensorType count{DType::I64, {}};
  const ir::TensorType vector{DType::F32, {3}};
  ir::Builder condition("region");
  const Value i = condition.parameter(count);
  condition.parameter(vector);
  const Value limit = condition.parameter(count);
  condition.parameter(vector);
  const Region below(condition.finish({condition.compare(ir::ComparisonDirection::LT, i, limit)}));
  ir::Builder body("region");
  const Value j = body.parameter(count);
  const Value sum = body.parameter(vector);
  body.parameter(count);
  const Value x = body.parameter(vector);
  const Value doubled = body.add(sum, sum);
  const Region step(body.finish({body.add(j, body.splat(count, 1)), body.add(doubled, x)}));
  for (const Arrangement arrangement : kResultArrangements) {
    for (const double most : {0.0, 1.0, 5.0}) {
      const Tensor zero = make(DType::I64, {}, {0});
      const Tensor start = make(DType::F32, {3}, {1, 2, 3}, arrangement);
      const Tensor limit_value = make(DType::I64, {}, {most});
      const Tensor addend = make(DType::F32, {3}, {0.5, -1, 0}, arrangement);
      Tensor counted(DType::I64, {}), result(DType::F32, {3}, arrangement);
      run({{&zero, &start, &limit_value, &addend}, {&counted, &result}, {}}, [&](ir::Builder& b, const Values& p) {
        return b.while_(Values{p[0], p[1]}, below, step, Values{p[2], p[3]});
      });
      std::vector<double> expected{1, 2, 3};
      for (int round = 0; round < static_cast<int>(most); ++round) {
        for (size_t k = 0; k < 3; ++k) expected[k] = 2 * expected[k] + addend.values<double>()[k];
      }
      EXPECT_EQ(counted.values<double>(), std::vector<double>{most});
      EXPECT_EQ(result.values<double>(), expected);
      EXPECT_TRUE(result.guards_intact());
    }
  }
}

// The state of a loop whose body exchanges two values: neither may be overwritten before it is read.
TEST_P(Regions, WhileExchangesValues) {
  const ir::TensorType flag{DType::Bool, {}};
  const ir::TensorType vector{DType::I32, {4}};
  ir::Builder condition("region");
  const Value again = condition.parameter(flag);
  condition.parameter(vector);
  condition.parameter(vector);
  const Region stays(condition.finish({again}));
  ir::Builder body("region");
  const Value last = body.parameter(flag);
  const Value x = body.parameter(vector);
  const Value y = body.parameter(vector);
  const Region exchange(body.finish({body.xor_(last, last), y, x}));
  const Tensor yes = make(DType::Bool, {}, {1});
  const Tensor left = make(DType::I32, {4}, {1, 2, 3, 4});
  const Tensor right = make(DType::I32, {4}, {5, 6, 7, 8});
  Tensor end(DType::Bool, {}), first(DType::I32, {4}), second(DType::I32, {4});
  run({{&yes, &left, &right}, {&end, &first, &second}, {}},
      [&](ir::Builder& b, const Values& p) { return b.while_(p, stays, exchange); });
  EXPECT_EQ(first.values<int>(), right.values<int>());
  EXPECT_EQ(second.values<int>(), left.values<int>());
}

TEST_P(Regions, BranchesAreChosen) {
  const ir::TensorType vector{DType::F32, {3}};
  std::vector<Region> branches;
  for (const Op op : {Op::Add, Op::Subtract, Op::Multiply}) {
    ir::Builder b("region");
    const Value x = b.parameter(vector);
    branches.emplace_back(b.finish({b.binary(op, x, b.parameter(vector))}));
  }
  const Tensor x = make(DType::F32, {3}, {1, 2, 3}, Arrangement::Strided);
  const Tensor y = make(DType::F32, {3}, {4, 5, 6});
  const std::vector<std::vector<double>> expected{{5, 7, 9}, {-3, -3, -3}, {4, 10, 18}};
  for (const auto& [index, chosen] : {std::pair{0, 0}, {1, 1}, {2, 2}, {3, 2}, {-1, 2}}) {  // out of range: the last
    const Tensor which = make(DType::I32, {}, {static_cast<double>(index)});
    Tensor result(DType::F32, {3}, Arrangement::Strided);
    run({{&which, &x, &y}, {&result}, {}},
        [&](ir::Builder& b, const Values& p) { return b.case_(p[0], branches, Values{p[1], p[2]}); });
    EXPECT_EQ(result.values<double>(), expected[static_cast<size_t>(chosen)]) << index;
    EXPECT_TRUE(result.guards_intact());
  }
  for (const bool predicate : {true, false}) {
    const Tensor condition = make(DType::Bool, {}, {predicate ? 1.0 : 0.0});
    const Tensor result = evaluate({&condition, &x, &y}, [&](ir::Builder& b, const Values& p) {
      return b.if_(p[0], branches[0], branches[1], Values{p[1], p[2]});
    });
    EXPECT_EQ(result.values<double>(), expected[predicate ? 0 : 1]);
  }
}

// The greatest element of each line and where it is: two inputs reduced together.
TEST_P(Regions, ReduceOfTwoInputs) {
  for (const Arrangement arrangement : kResultArrangements) {
    for (const int64_t dimension : {0, 1}) {
      const std::vector<double> data = ramp(12);
      const Tensor values = make(DType::F32, {3, 4}, data, arrangement);
      Tensor positions(DType::I64, {3, 4}, arrangement);
      for (int64_t i = 0; i < 12; ++i) {
        const int64_t position = dimension == 0 ? i / 4 : i % 4;
        std::memcpy(positions.at(i), &position, sizeof(position));
      }
      const Tensor lowest = make(DType::F32, {}, {-1000});
      const Tensor none = make(DType::I64, {}, {-1});
      const Dims shape{dimension == 0 ? 4 : 3};
      Tensor greatest(DType::F32, shape, arrangement), where(DType::I64, shape, arrangement);
      run({{&values, &positions, &lowest, &none}, {&greatest, &where}, {}}, [&](ir::Builder& b, const Values& p) {
        return b.reduce(Values{p[0], p[1]}, Values{p[2], p[3]}, ir::samples::greatest(DType::F32), {dimension});
      });
      for (int64_t line = 0; line < shape[0]; ++line) {
        int64_t best = 0;
        const auto at = [&](int64_t i) {
          return data[static_cast<size_t>(dimension == 0 ? i * 4 + line : line * 4 + i)];
        };
        for (int64_t i = 0; i < (dimension == 0 ? 3 : 4); ++i) best = at(i) > at(best) ? i : best;
        EXPECT_EQ(greatest.values<double>()[static_cast<size_t>(line)], at(best));
        EXPECT_EQ(where.values<int64_t>()[static_cast<size_t>(line)], best);
      }
    }
  }
}

TEST_P(Regions, ReduceKeepsTheOrderOfItsOperands) {
  const Tensor x = make(DType::F32, {4}, {1, 2, 3, 4});
  const Tensor ten = make(DType::F32, {}, {10});
  const Tensor result = evaluate({&x, &ten}, [](ir::Builder& b, const Values& p) {
    return b.reduce(Values{p[0]}, Values{p[1]}, ir::samples::combination(Op::Subtract, DType::F32), {0});
  });
  EXPECT_EQ(result.values<double>(), std::vector<double>{0});  // 10 - 1 - 2 - 3 - 4
}

TEST_P(Regions, ReduceWindowPadsWithTheInitialValue) {
  const Tensor x = make(DType::I32, {5}, {3, 1, 4, 1, 5});
  const Tensor start = make(DType::I32, {}, {100});
  const ir::ReduceWindowAttributes window{Op::Map, {3}, {2}, {1},
                                          {1},     {1}, {1}, ir::samples::combination(Op::Subtract, DType::I32)};
  const Tensor result = evaluate({&x, &start}, [&](ir::Builder& b, const Values& p) {
    return b.reduce_window(Values{p[0]}, Values{p[1]}, window);
  });
  EXPECT_EQ(result.values<int>(), (std::vector<int>{100 - 100 - 3 - 1, 100 - 1 - 4 - 1, 100 - 1 - 5 - 100}));
}

TEST_P(Regions, ScatterUpdatesInOrderAndDropsWhatIsOutside) {
  ir::ScatterAttributes scatter;
  scatter.inserted_window_dims = scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  scatter.update = Op::Map;
  scatter.body = ir::samples::combination(Op::Subtract, DType::F32);
  const Tensor table = make(DType::F32, {4}, {10, 20, 30, 40});
  const Tensor places = make(DType::I32, {5, 1}, {1, 1, 7, 3, -1});
  const Tensor updates = make(DType::F32, {5}, {1, 2, 3, 4, 5});
  for (const Arrangement arrangement : kResultArrangements) {
    Tensor result(DType::F32, {4}, arrangement);
    run({{&table, &places, &updates}, {&result}, {}},
        [&](ir::Builder& b, const Values& p) { return b.scatter(Values{p[0]}, p[1], Values{p[2]}, scatter); });
    EXPECT_EQ(result.values<double>(), (std::vector<double>{10, 17, 30, 36}));
    EXPECT_TRUE(result.guards_intact());
  }
}

// Windows, batches, and two inputs at once, held against the primitive with a word of its own.
TEST_P(Regions, ScatterAgreesWithTheShortForm) {
  ir::ScatterAttributes scatter;
  scatter.update_window_dims = {1};
  scatter.input_batching_dims = {0};
  scatter.scatter_indices_batching_dims = {1};
  scatter.scatter_dims_to_operand_dims = {2};
  scatter.index_vector_dim = 2;
  scatter.inserted_window_dims = {2};
  scatter.update = Op::Add;
  const Tensor table = make(DType::F32, {2, 3, 4}, ramp(24), Arrangement::Strided);
  const Tensor places = make(DType::I64, {3, 2, 1}, {0, 3, 1, 9, 0, 2});
  const Tensor updates = make(DType::F32, {3, 3, 2}, ramp(18, 1));
  const Tensor expected = evaluate({&table, &places, &updates}, [&](ir::Builder& b, const Values& p) {
    return Values{b.scatter(p[0], p[1], p[2], scatter)};
  });
  ir::Builder sums("region");
  Values elements;
  for (int i = 0; i < 4; ++i) elements.push_back(sums.parameter({DType::F32, {}}));
  scatter.update = Op::Map;
  scatter.body = Region(sums.finish({sums.add(elements[0], elements[2]), sums.add(elements[1], elements[3])}));
  Tensor first(DType::F32, {2, 3, 4}), second(DType::F32, {2, 3, 4});
  run({{&table, &places, &updates}, {&first, &second}, {}}, [&](ir::Builder& b, const Values& p) {
    return b.scatter(Values{p[0], p[0]}, p[1], Values{p[2], p[2]}, scatter);
  });
  EXPECT_EQ(first.values<double>(), expected.values<double>());
  EXPECT_EQ(second.values<double>(), expected.values<double>());
}

// By the last digit: equal keys keep their order, and the comparator reads a value from outside.
TEST_P(Regions, SortByAComparator) {
  ir::Builder b("region");
  const Value x = b.parameter({DType::I32, {}});
  const Value y = b.parameter({DType::I32, {}});
  const Value base = b.parameter({DType::I32, {}});
  const Value less = b.compare(ir::ComparisonDirection::LT, b.remainder(x, base), b.remainder(y, base));
  const ir::SortAttributes order{1, true, false, Region(b.finish({less}))};
  const Tensor keys = make(DType::I32, {2, 5}, {31, 12, 41, 22, 10, 9, 8, 19, 7, 29}, Arrangement::Strided);
  const Tensor ten = make(DType::I32, {}, {10});
  Tensor sorted(DType::I32, {2, 5}, Arrangement::ColumnMajor);
  run({{&keys, &ten}, {&sorted}, {}},
      [&](ir::Builder& builder, const Values& p) { return builder.sort(Values{p[0]}, order, Values{p[1]}); });
  EXPECT_EQ(sorted.values<int>(), (std::vector<int>{10, 31, 41, 12, 22, 7, 8, 9, 19, 29}));
  EXPECT_TRUE(sorted.guards_intact());
}

// What is no order must neither hang nor lose elements.
TEST_P(Regions, SortByNonsenseKeepsTheElements) {
  ir::Builder b("region");
  b.parameter({DType::I32, {}});
  b.parameter({DType::I32, {}});
  const Region always(b.finish({b.splat({DType::Bool, {}}, 1)}));
  std::vector<double> data(100);
  std::iota(data.begin(), data.end(), 0);
  const Tensor keys = make(DType::I32, {100}, data);
  Tensor result = evaluate(
      {&keys}, [&](ir::Builder& builder, const Values& p) { return builder.sort(p, {0, true, false, always}, {}); });
  std::vector<double> sorted = result.values<double>();
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, data);
}

TEST_P(Regions, MapCallsForEveryElement) {
  ir::Builder b("region");
  const Value x = b.parameter({DType::F32, {}});
  const Value y = b.parameter({DType::F32, {}});
  const Value scale = b.parameter({DType::F32, {}});
  const Region computation(b.finish({b.compare(ir::ComparisonDirection::GT, b.multiply(x, scale), y)}));
  const Tensor left = make(DType::F32, {2, 2}, {1, 2, 3, 4}, Arrangement::ColumnMajor);
  const Tensor right = make(DType::F32, {2, 2}, {2, 4, 5, 9});
  const Tensor two = make(DType::F32, {}, {2});
  const Tensor result = evaluate({&left, &right, &two}, [&](ir::Builder& builder, const Values& p) {
    return Values{builder.map(Values{p[0], p[1]}, computation, Values{p[2]})};
  });
  EXPECT_EQ(result.values<int>(), (std::vector<int>{0, 0, 1, 0}));
}

// The gradient of a maximum over windows; the second window holds its greatest element twice, and the first one counts.
TEST_P(Regions, SelectAndScatter) {
  const Tensor operand = make(DType::F32, {4, 4}, {1, 5, 2, 2, 3, 6, 2, 1, 0, 0, 7, 7, 8, 0, 7, 1});
  const Tensor source = make(DType::F32, {2, 2}, {10, 20, 30, 40});
  const Tensor zero = make(DType::F32, {}, {0.5});
  const ir::SelectAndScatterAttributes attributes{{2, 2},
                                                  {2, 2},
                                                  {0, 0},
                                                  {0, 0},
                                                  ir::samples::comparison(ir::ComparisonDirection::GE, DType::F32),
                                                  ir::samples::combination(Op::Add, DType::F32)};
  const Tensor result = evaluate({&operand, &source, &zero}, [&](ir::Builder& b, const Values& p) {
    return Values{b.select_and_scatter(p[0], p[1], p[2], attributes)};
  });
  std::vector<double> expected(16, 0.5);
  expected[5] += 10;
  expected[2] += 20;
  expected[12] += 30;
  expected[10] += 40;
  EXPECT_EQ(result.values<double>(), expected);
}

TEST_P(Regions, ExpectationsSayWhatDiffers) {
  const auto compare = [&](std::string_view target, const std::vector<double>& actual, std::string text, Dims steps) {
    const Tensor left = make(DType::F32, {2, 2}, actual);
    const Tensor right = make(DType::F32, {2, 2}, {1, 2, 3, 4});
    ir::Graph graph = build({&left, &right}, [](ir::Builder&, const Values&) { return Values{}; });
    graph.nodes.push_back(
        {Op::CustomCall, graph.parameters, {}, ir::CustomCallAttributes{std::string(target), steps, text}});
    try {
      run(graph, {{&left, &right}, {}, {}});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime);
      return std::string(error.what());
    }
    return std::string("holds");
  };
  EXPECT_EQ(compare(ir::kExpectEqual, {1, 2, 3, 4}, "", {}), "holds");
  EXPECT_EQ(compare(ir::kExpectEqual, {1, 2, 3.5, 5}, "", {}),
            "[check.expect_eq] element [1, 0] of tensor<2x2xf32> differs (and 1 more), got 3.5, expected 3");
  EXPECT_EQ(compare(ir::kExpectAlmostEqual, {1, 2, 3.0009, 4}, "0.001", {}), "holds");
  EXPECT_NE(compare(ir::kExpectAlmostEqual, {1, 2, 3.0011, 4}, "0.001", {}), "holds");
  const double step = 1.0 / (1 << 22);  // between neighbours of 3
  EXPECT_EQ(compare(ir::kExpectClose, {1, 2, 3 + 3 * step, 4}, "", {0, 3}), "holds");
  EXPECT_NE(compare(ir::kExpectClose, {1, 2, 3 + 4 * step, 4}, "", {0, 3}), "holds");
  EXPECT_NE(compare(ir::kExpectClose, {1, 2, std::numeric_limits<double>::quiet_NaN(), 4}, "", {0, 3}), "holds");
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Regions);

}  // namespace opentrn::conformance
