// Gather and scatter, compared with the words of the specification, one element at a time.
#include "tests/conformance/harness.h"

namespace opentrn::conformance {

namespace {

using ir::Op;

bool contains(const Dims& list, int64_t value) { return std::count(list.begin(), list.end(), value) > 0; }

// The index vector at batch coordinates `batch`.
Dims index_vector(const Tensor& indices, const Dims& batch, int64_t index_vector_dim) {
  const auto rank = static_cast<int64_t>(indices.shape().size());
  const int64_t length = index_vector_dim < rank ? indices.shape()[static_cast<size_t>(index_vector_dim)] : 1;
  const std::vector<int64_t> values = indices.values<int64_t>();
  Dims vector;
  for (int64_t i = 0; i < length; ++i) {
    Dims at = batch;
    if (index_vector_dim < rank) at.insert(at.begin() + index_vector_dim, i);
    vector.push_back(values[static_cast<size_t>(linear_index(at, indices.shape()))]);
  }
  return vector;
}

struct Numbers {
  Dims window_dims, collapsed, operand_batching, index_batching, index_map;
  int64_t index_vector_dim;
};

// The operand coordinates that element `at` of the other side belongs to. `clamp_sizes` are the slice sizes of a
// gather, which moves windows inside; empty for a scatter, which does not.
Dims operand_coordinates(const Dims& at, const Tensor& indices, const Numbers& numbers, const Dims& shape,
                         const Dims& clamp_sizes) {
  Dims batch, offset;
  for (int64_t i = 0; i < static_cast<int64_t>(at.size()); ++i) {
    (contains(numbers.window_dims, i) ? offset : batch).push_back(at[static_cast<size_t>(i)]);
  }
  const Dims start = index_vector(indices, batch, numbers.index_vector_dim);
  Dims result(shape.size(), 0);
  for (size_t i = 0; i < numbers.index_map.size(); ++i) {
    const auto d = static_cast<size_t>(numbers.index_map[i]);
    result[d] = clamp_sizes.empty() ? start[i] : std::clamp<int64_t>(start[i], 0, shape[d] - clamp_sizes[d]);
  }
  for (size_t i = 0; i < numbers.operand_batching.size(); ++i) {
    const int64_t dimension = numbers.index_batching[i];
    const int64_t position = dimension > numbers.index_vector_dim ? dimension - 1 : dimension;
    result[static_cast<size_t>(numbers.operand_batching[i])] = batch[static_cast<size_t>(position)];
  }
  size_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.collapsed, dimension) || contains(numbers.operand_batching, dimension)) continue;
    if (__builtin_add_overflow(result[d], offset[next++], &result[d])) result[d] = -1;  // far outside
  }
  return result;
}

class Gather : public Conformance {
 protected:
  void expect_gather(const Dims& shape, const Dims& index_shape, const std::vector<int64_t>& index_values,
                     const Numbers& numbers, const Dims& slice_sizes) const {
    for (const DType dtype : {DType::F32, DType::BF16, DType::Bool, DType::C128}) {
      for (const DType index_dtype : {DType::I32, DType::I64}) {
        for (const Arrangement arrangement : kResultArrangements) {
          Tensor x(dtype, shape, arrangement), indices(index_dtype, index_shape, arrangement);
          x.fill(ramp(x.elements(), 0, 1, 29));
          indices.fill(index_values);
          const ir::GatherAttributes attributes{numbers.window_dims,
                                                numbers.collapsed,
                                                numbers.operand_batching,
                                                numbers.index_batching,
                                                numbers.index_map,
                                                numbers.index_vector_dim,
                                                slice_sizes,
                                                false};
          const ir::Graph graph = build({&x, &indices}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
            return std::vector{b.gather(p[0], p[1], attributes)};
          });
          Tensor result(dtype, graph.type(graph.results[0]).shape, arrangement);
          run(graph, {{&x, &indices}, {&result}, {}});
          for (int64_t i = 0; i < result.elements(); ++i) {
            const Dims from = operand_coordinates(coordinates(i, result.shape()), indices, numbers, shape, slice_sizes);
            ASSERT_EQ(std::memcmp(result.at(i), x.at(linear_index(from, shape)), static_cast<size_t>(size_of(dtype))),
                      0)
                << name(dtype) << " " << to_string(arrangement) << " element " << i;
          }
        }
      }
    }
  }
};

TEST_P(Gather, RowsAndElements) {
  // Rows of a table, with indices that are moved inside.
  expect_gather({6, 4}, {5}, {0, 5, -3, 2, 17}, {{1}, {0}, {}, {}, {0}, 1}, {1, 4});
  // The same with an explicit index vector, and two batch dimensions.
  expect_gather({6, 4}, {2, 3, 1}, {5, 4, 3, 2, 1, 0}, {{2}, {0}, {}, {}, {0}, 2}, {1, 4});
  // Columns.
  expect_gather({6, 4}, {3}, {3, 0, 3}, {{0}, {1}, {}, {}, {1}, 1}, {6, 1});
  // Single elements by coordinates, in either order.
  expect_gather({6, 4}, {3, 2}, {5, 3, 0, 1, 9, 9}, {{}, {0, 1}, {}, {}, {0, 1}, 1}, {1, 1});
  expect_gather({6, 4}, {2, 3}, {3, 0, 1, 5, 2, 0}, {{}, {0, 1}, {}, {}, {1, 0}, 0}, {1, 1});
}

TEST_P(Gather, WindowsAndBatches) {
  expect_gather({6, 5}, {2, 2}, {1, 2, 5, 4}, {{1, 2}, {}, {}, {}, {0, 1}, 1}, {3, 2});
  expect_gather({6, 5}, {2, 2}, {1, 2, 5, 4}, {{0, 2}, {}, {}, {}, {1, 0}, 1}, {2, 4});
  // As torch.gather along the last dimension: the first is a batch.
  expect_gather({3, 5}, {3, 2, 1}, {0, 4, 2, 2, 3, 1}, {{}, {1}, {0}, {0}, {1}, 2}, {1, 1});
  expect_gather({3, 5, 2}, {4, 3}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}, {{2}, {1}, {0}, {1}, {1}, 2}, {1, 1, 2});
  expect_gather({4, 4}, {0, 1}, {}, {{1}, {0}, {}, {}, {0}, 1}, {1, 4});
}

class Scatter : public Conformance {
 protected:
  void expect_scatter(DType dtype, Op update, const Dims& shape, const Dims& index_shape,
                      const std::vector<int64_t>& index_values, const Dims& update_shape,
                      const Numbers& numbers) const {
    for (const bool in_place : {false, true}) {
      for (const Arrangement arrangement : kResultArrangements) {
        Tensor x(dtype, shape, arrangement), indices(DType::I64, index_shape),
            updates(dtype, update_shape, arrangement);
        x.fill(ramp(x.elements(), 1, 1, 7));
        indices.fill(index_values);
        updates.fill(ramp(updates.elements(), 2, 1, 5));
        std::vector<double> expected = x.values<double>();
        const std::vector<double> values = updates.values<double>();
        for (int64_t i = 0; i < updates.elements(); ++i) {
          const Dims to = operand_coordinates(coordinates(i, update_shape), indices, numbers, shape, {});
          bool inside = true;
          for (size_t d = 0; d < shape.size(); ++d) inside = inside && to[d] >= 0 && to[d] < shape[d];
          if (!inside) continue;
          double& cell = expected[static_cast<size_t>(linear_index(to, shape))];
          const double value = values[static_cast<size_t>(i)];
          switch (update) {
            case Op::Add: cell += value; break;
            case Op::Multiply: cell *= value; break;
            case Op::Maximum: cell = std::max(cell, value); break;
            case Op::Minimum: cell = std::min(cell, value); break;
            default: cell = value; break;
          }
        }
        const ir::ScatterAttributes attributes{numbers.window_dims,
                                               numbers.collapsed,
                                               numbers.operand_batching,
                                               numbers.index_batching,
                                               numbers.index_map,
                                               numbers.index_vector_dim,
                                               update,
                                               false,
                                               false};
        Tensor apart(dtype, shape, arrangement);
        Tensor& result = in_place ? x : apart;
        std::vector<engines::Overlap> overlaps;
        if (in_place) overlaps.push_back({0, 0, true});
        run({{&x, &indices, &updates}, {&result}, overlaps}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
          return std::vector{b.scatter(p[0], p[1], p[2], attributes)};
        });
        EXPECT_EQ(result.values<double>(), expected)
            << ir::name(update) << " " << name(dtype) << " " << to_string(arrangement);
      }
    }
  }
};

TEST_P(Scatter, EveryUpdateAndType) {
  for (const Op update : {Op::Select, Op::Add, Op::Multiply, Op::Maximum, Op::Minimum}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64, DType::U8}) {
      // Rows, some of them twice, some outside.
      expect_scatter(dtype, update, {5, 3}, {4, 1}, {4, 1, 4, 9}, {4, 3}, {{1}, {0}, {}, {}, {0}, 1});
      // Single elements by coordinates.
      expect_scatter(dtype, update, {5, 3}, {3, 2}, {0, 0, 4, 2, -1, 1}, {3}, {{}, {0, 1}, {}, {}, {0, 1}, 1});
    }
  }
}

TEST_P(Scatter, WindowsPartlyOutside) {
  const Numbers windows{{1, 2}, {}, {}, {}, {0, 1}, 1};
  expect_scatter(DType::F32, Op::Select, {5, 6}, {3, 2}, {1, 1, 4, 4, -1, -2}, {3, 2, 3}, windows);
  expect_scatter(DType::F32, Op::Add, {5, 6}, {3, 2}, {1, 1, 4, 4, -1, -2}, {3, 2, 3}, windows);
  expect_scatter(DType::F32, Op::Add, {5, 6}, {2, 2}, {-2, 0, 5, 0}, {2, 2, 3}, windows);
  expect_scatter(DType::F32, Op::Add, {5, 6}, {1, 2}, {INT64_MAX, INT64_MIN}, {1, 2, 3}, windows);
}

TEST_P(Scatter, Batches) {
  // As torch.scatter along the last dimension.
  expect_scatter(DType::F32, Op::Add, {3, 5}, {3, 4, 1}, {0, 1, 1, 4, 2, 2, 2, 2, 3, 0, 7, -1}, {3, 4},
                 {{}, {1}, {0}, {0}, {1}, 2});
  expect_scatter(DType::F32, Op::Select, {2, 4, 3}, {2, 2}, {3, 0, 1, 1}, {2, 2, 3}, {{2}, {1}, {0}, {0}, {1}, 2});
}

TEST_P(Scatter, LogicalAndBitwise) {
  Tensor x(DType::Bool, {4}), indices(DType::I64, {3, 1}), updates(DType::Bool, {3});
  x.fill(std::vector<int>{1, 1, 0, 0});
  indices.fill(std::vector<int64_t>{0, 1, 2});
  updates.fill(std::vector<int>{0, 1, 1});
  for (const auto& [update, expected] :
       {std::pair{Op::And, std::vector<int>{0, 1, 0, 0}}, {Op::Or, {1, 1, 1, 0}}, {Op::Xor, {1, 0, 1, 0}}}) {
    const ir::ScatterAttributes attributes{{}, {0}, {}, {}, {0}, 1, update, false, false};
    const Tensor result = evaluate({&x, &indices, &updates}, [&](ir::Builder& b, const std::vector<ir::Value>& p) {
      return std::vector{b.scatter(p[0], p[1], p[2], attributes)};
    });
    EXPECT_EQ(result.values<int>(), expected) << ir::name(update);
  }
}

}  // namespace

OPENTRN_FOR_EACH_ENGINE(Gather);
OPENTRN_FOR_EACH_ENGINE(Scatter);

}  // namespace opentrn::conformance
