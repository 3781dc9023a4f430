// Making and moving data.
#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

const std::vector<DType> kWidths{DType::Bool, DType::BF16, DType::F32, DType::I64, DType::C128};

class DataMovement : public Conformance {
 protected:
  // Runs `build` on a tensor in every arrangement and width, into every arrangement; element i of the result has to be
  // element source(i) of the operand.
  template <typename Source>
  void expect_moved(const Dims& shape, const Build& build, const Dims& result_shape, Source source) const {
    for (const DType dtype : kWidths) {
      for (const Arrangement in : kResultArrangements) {
        for (const Arrangement out : kResultArrangements) {
          Tensor x(dtype, shape, in);
          Tensor result(dtype, result_shape, out);
          x.fill(ramp(x.elements(), 0, 1, 23));
          run({{&x}, {&result}, {}}, build);
          for (int64_t i = 0; i < result.elements(); ++i) {
            const int64_t from = linear_index(source(coordinates(i, result_shape)), shape);
            ASSERT_EQ(std::memcmp(result.at(i), x.at(from), static_cast<size_t>(size_of(dtype))), 0)
                << name(dtype) << " " << to_string(in) << " to " << to_string(out) << " element " << i;
          }
        }
      }
    }
  }
};

TEST_P(DataMovement, ParameterIsResult) {
  for (const Dims& shape : {Dims{}, Dims{5}, Dims{40, 33}, Dims{2, 3, 4}, Dims{0, 3}}) {
    expect_moved(
        shape, [](ir::Builder&, const std::vector<ir::Value>& p) { return p; }, shape, [](Dims at) { return at; });
  }
}

TEST_P(DataMovement, BroadcastInDim) {
  expect_moved(
      {3, 1},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.broadcast_in_dim(p[0], {2, 3, 4}, {1, 2})};
      },
      {2, 3, 4}, [](const Dims& at) { return Dims{at[1], 0}; });
  expect_moved(
      {},
      [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.broadcast_in_dim(p[0], {3, 2}, {})}; },
      {3, 2}, [](const Dims&) { return Dims{}; });
  expect_moved(
      {3},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.broadcast_in_dim(p[0], {1, 3, 1}, {1})};
      },
      {1, 3, 1}, [](const Dims& at) { return Dims{at[1]}; });
}

TEST_P(DataMovement, TransposeSliceReverse) {
  expect_moved(
      {2, 3, 4},
      [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.transpose(p[0], {2, 0, 1})}; },
      {4, 2, 3}, [](const Dims& at) { return Dims{at[1], at[2], at[0]}; });
  expect_moved(
      {5, 7},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.slice(p[0], {1, 2}, {5, 7}, {2, 3})};
      },
      {2, 2}, [](const Dims& at) { return Dims{1 + 2 * at[0], 2 + 3 * at[1]}; });
  expect_moved(
      {3, 4}, [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.reverse(p[0], {1})}; }, {3, 4},
      [](const Dims& at) { return Dims{at[0], 3 - at[1]}; });
  expect_moved(
      {5, 7},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.slice(p[0], {5, 0}, {5, 7}, {1, 1})};
      },
      {0, 7}, [](Dims at) { return at; });
  expect_moved(
      {70, 90}, [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.transpose(p[0], {1, 0})}; },
      {90, 70}, [](const Dims& at) { return Dims{at[1], at[0]}; });
}

TEST_P(DataMovement, Reshape) {
  for (const Dims& target : {Dims{24}, Dims{4, 6}, Dims{2, 2, 6}, Dims{3, 8}, Dims{1, 24, 1}, Dims{2, 3, 1, 4}}) {
    expect_moved(
        {2, 3, 4},
        [&](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.reshape(p[0], target)}; }, target,
        [&](const Dims& at) { return coordinates(linear_index(at, target), {2, 3, 4}); });
  }
  // Of a transpose: the elements have to move.
  expect_moved(
      {4, 6},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.reshape(b.transpose(p[0], {1, 0}), {8, 3})};
      },
      {8, 3},
      [](const Dims& at) {
        const Dims transposed = coordinates(linear_index(at, {8, 3}), {6, 4});
        return Dims{transposed[1], transposed[0]};
      });
  // Of a computed value, and on to a strided result.
  expect_moved(
      {4, 6},
      [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.transpose(b.reshape(b.reverse(b.reverse(p[0], {0}), {0}), {2, 12}), {1, 0})};
      },
      {12, 2}, [](const Dims& at) { return coordinates(linear_index({at[1], at[0]}, {2, 12}), {4, 6}); });
}

TEST_P(DataMovement, Concatenate) {
  for (const DType dtype : kWidths) {
    for (const Arrangement out : kResultArrangements) {
      Tensor x(dtype, {2, 3}, Arrangement::ColumnMajor), y(dtype, {2, 0}), z(dtype, {2, 2}, Arrangement::Strided);
      x.fill(ramp(6, 0, 1));
      z.fill(ramp(4, 1, 1));
      Tensor result(dtype, {2, 5}, out);
      run({{&x, &y, &z}, {&result}, {}},
          [](ir::Builder& b, const std::vector<ir::Value>& p) { return std::vector{b.concatenate(p, 1)}; });
      for (int64_t i = 0; i < 10; ++i) {
        const Tensor& source = i % 5 < 3 ? x : z;
        const int64_t from = i % 5 < 3 ? i / 5 * 3 + i % 5 : i / 5 * 2 + i % 5 - 3;
        EXPECT_EQ(std::memcmp(result.at(i), source.at(from), static_cast<size_t>(size_of(dtype))), 0);
      }
    }
  }
}

TEST_P(DataMovement, Pad) {
  struct Case {
    Dims low, high, interior;
  };
  const Case cases[] = {{{1, 2}, {0, 1}, {0, 0}},   {{0, 0}, {0, 0}, {1, 2}},    {{-1, 1}, {2, -2}, {0, 0}},
                        {{2, -1}, {-1, 3}, {2, 1}}, {{-2, -3}, {-1, 0}, {1, 1}}, {{-4, 0}, {1, 0}, {0, 0}}};
  for (const Case& test : cases) {
    for (const Arrangement out : kResultArrangements) {
      Tensor x(DType::F32, {3, 4}), padding(DType::F32, {});
      x.fill(ramp(12, 1, 1));
      padding.fill(std::vector<double>{-7});
      Dims shape;
      for (size_t i = 0; i < 2; ++i) {
        shape.push_back(test.low[i] + test.high[i] + x.shape()[i] + (x.shape()[i] - 1) * test.interior[i]);
      }
      Tensor result(DType::F32, shape, out);
      run({{&x, &padding}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.pad(p[0], p[1], test.low, test.high, test.interior)};
      });
      std::vector<double> expected;
      for (int64_t i = 0; i < result.elements(); ++i) {
        const Dims at = coordinates(i, shape);
        bool inside = true;
        Dims from(2);
        for (size_t d = 0; d < 2; ++d) {
          const int64_t position = at[d] - test.low[d];
          const int64_t step = test.interior[d] + 1;
          from[d] = position / step;
          inside = inside && position >= 0 && position % step == 0 && from[d] < x.shape()[d];
        }
        expected.push_back(inside ? x.values<double>()[static_cast<size_t>(linear_index(from, {3, 4}))] : -7);
      }
      EXPECT_EQ(result.values<double>(), expected);
    }
  }
}

TEST_P(DataMovement, IotaAndConstants) {
  for (const DType dtype :
       {DType::U8, DType::I32, DType::I64, DType::F32, DType::BF16, DType::F16, DType::F64, DType::C64}) {
    for (const Arrangement out : kResultArrangements) {
      Tensor rows(dtype, {3, 4}, out), columns(dtype, {3, 4}, out), splat(dtype, {3, 4}, out);
      run({{}, {&rows, &columns, &splat}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>&) {
        return std::vector{b.iota({dtype, {3, 4}}, 0), b.iota({dtype, {3, 4}}, 1), b.splat({dtype, {3, 4}}, 5)};
      });
      EXPECT_EQ(rows.values<double>(), (std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
      EXPECT_EQ(columns.values<double>(), (std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
      EXPECT_EQ(splat.values<double>(), std::vector<double>(12, 5));
    }
  }
  Tensor constant(DType::F32, {2, 2});
  constant.fill(std::vector<double>{1, 2, 3, 4});
  Tensor result(DType::F32, {2, 2}, Arrangement::ColumnMajor);
  run({{}, {&result}, {}}, [&](ir::Builder& b, const std::vector<ir::Value>&) {
    return std::vector{b.constant(constant.type(), constant.bytes())};
  });
  EXPECT_EQ(result.values<double>(), constant.values<double>());
}

TEST_P(DataMovement, DynamicSliceMovesTheWindowInside) {
  for (const DType index : {DType::I32, DType::I64}) {
    for (const int64_t start : {int64_t{-5}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{100}}) {
      for (const Arrangement in : kResultArrangements) {
        Tensor x(DType::F32, {4, 5}, in), row(index, {}), column(index, {}), result(DType::F32, {2, 3}, in);
        x.fill(ramp(20, 0, 1, 21));
        row.fill(std::vector<int64_t>{start});
        column.fill(std::vector<int64_t>{1});
        run({{&x, &row, &column}, {&result}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
          return std::vector{b.dynamic_slice(p[0], std::vector{p[1], p[2]}, {2, 3})};
        });
        const int64_t moved = std::clamp<int64_t>(start, 0, 2);
        for (int64_t i = 0; i < 6; ++i) {
          EXPECT_EQ(std::memcmp(result.at(i), x.at((moved + i / 3) * 5 + 1 + i % 3), 4), 0);
        }
      }
    }
  }
}

TEST_P(DataMovement, DynamicUpdateSlice) {
  for (const int64_t start : {int64_t{-5}, int64_t{1}, int64_t{100}}) {
    for (const Arrangement out : kResultArrangements) {
      Tensor x(DType::F32, {4, 5}), update(DType::F32, {2, 3}, Arrangement::ColumnMajor), row(DType::I64, {}),
          column(DType::I64, {});
      x.fill(ramp(20, 0, 1, 21));
      update.fill(ramp(6, 100, 1));
      row.fill(std::vector<int64_t>{start});
      column.fill(std::vector<int64_t>{2});
      Tensor result(DType::F32, {4, 5}, out);
      run({{&x, &update, &row, &column}, {&result}, {}}, [](ir::Builder& b, const std::vector<ir::Value>& p) {
        return std::vector{b.dynamic_update_slice(p[0], p[1], std::vector{p[2], p[3]})};
      });
      std::vector<double> expected = x.values<double>();
      const int64_t moved = std::clamp<int64_t>(start, 0, 2);
      for (int64_t i = 0; i < 6; ++i) {
        expected[static_cast<size_t>((moved + i / 3) * 5 + 2 + i % 3)] =
            update.values<double>()[static_cast<size_t>(i)];
      }
      EXPECT_EQ(result.values<double>(), expected);
    }
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(DataMovement);

}  // namespace opentrn::conformance
