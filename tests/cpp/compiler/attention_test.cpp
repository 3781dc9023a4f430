// Attention becomes one program; whatever looks like it but is not stays as it is.
#include "passes/attention.h"

#include <limits>

#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::TensorType;
using ir::Value;
using neuroncore::Opcode;
using Values = std::vector<Value>;

double wave(size_t p, int64_t i) {
  const int64_t number = (i * 37 + 11 * static_cast<int64_t>(p)) % 64;
  return static_cast<double>(number) / 32 - 1;
}

Value softmax(ir::Builder& b, Value scores) {
  const Dims shape = b.shape(scores);
  Dims rows;
  for (int64_t i = 0; i + 1 < b.rank(scores); ++i) rows.push_back(i);
  const Dims last = {b.rank(scores) - 1};
  const Value largest = b.broadcast_in_dim(b.reduce(scores, Op::Maximum, last), shape, rows);
  const Value powers = b.exponential(b.subtract(scores, largest));
  return b.divide(powers, b.broadcast_in_dim(b.reduce(powers, Op::Add, last), shape, rows));
}

using Masking = std::function<Value(ir::Builder& b, Value scores, const Values& parameters)>;

struct Sizes {
  Dims batch = {2, 3};
  int64_t queries = 20, keys = 30, depth = 16, width = 16;
  DType dtype = DType::F32;
};

Dims with(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

Case attention(const Sizes& s, const std::vector<TensorType>& masks = {}, const Masking& masking = {}) {
  std::vector<TensorType> types = {{s.dtype, with(s.batch, s.queries, s.depth)},
                                   {s.dtype, with(s.batch, s.keys, s.depth)},
                                   {s.dtype, with(s.batch, s.keys, s.width)}};
  types.insert(types.end(), masks.begin(), masks.end());
  Dims batch;
  for (size_t i = 0; i < s.batch.size(); ++i) batch.push_back(static_cast<int64_t>(i));
  const auto rank = static_cast<int64_t>(s.batch.size());
  return Case(
      types,
      [&](ir::Builder& b, const Values& v) {
        Value scores = b.dot_general(v[0], v[1], {batch, batch, {rank + 1}, {rank + 1}}, DType::F32);
        if (masking) scores = masking(b, scores, v);
        const Value weights = b.convert(softmax(b, scores), s.dtype);
        const Value result = b.dot_general(weights, v[2], {batch, batch, {rank + 1}, {rank}}, DType::F32);
        return Values{b.convert(result, s.dtype)};
      },
      wave);
}

Value scaled(ir::Builder& b, Value scores) { return b.multiply(scores, b.splat_like(scores, 0.25)); }

// Relative to the largest result. 2e-6 are 34 roundings of float32: both forms make more of them than that (a sum over
// the depth, an exponential, two sums over the keys), yet they cancel, while a tile left out or counted twice shows.
// The narrow types are one spacing apart at most: each form rounds once.
void expect_fused(const Case& test, const std::string& what, double tolerance = 2e-6) {
  const neuroncore::Program program = compiled(test.module);
  EXPECT_EQ(count(program, Opcode::ActivationReduce), 1) << what;
  for (const neuroncore::Buffer& buffer : program.buffers) {
    EXPECT_FALSE(buffer.space == neuroncore::Space::Hbm && buffer.role == neuroncore::Role::Internal) << what;
  }
  expect_close(test, tolerance, what);
}

TEST(Attention, EdgesOfTiles) {
  for (const int64_t queries : {1, 127, 128, 129}) {
    for (const int64_t keys : {1, 128, 300}) {
      expect_fused(attention({.batch = {2}, .queries = queries, .keys = keys}), concat(queries, " x ", keys));
    }
  }
}

TEST(Attention, BatchesAndTypes) {
  expect_fused(attention({.batch = {}}), "no batch");
  expect_fused(attention({.batch = {2, 2, 2}, .depth = 128, .width = 64}), "three batch dimensions");
  expect_fused(attention({.dtype = DType::BF16}), "bf16", 0x1p-7);
  expect_fused(attention({.dtype = DType::F16}), "f16", 0x1p-10);
}

TEST(Attention, Scale) {
  expect_fused(attention({}, {}, [](ir::Builder& b, Value s, const Values&) { return scaled(b, s); }), "multiplied");
  expect_fused(
      attention({}, {}, [](ir::Builder& b, Value s, const Values&) { return b.divide(s, b.splat_like(s, 3.0)); }),
      "divided");
}

TEST(Attention, AddedMask) {
  const Masking add = [](ir::Builder& b, Value s, const Values& v) {
    return b.add(scaled(b, s), b.broadcast_to(v[3], b.shape(s)));
  };
  for (const Dims& shape : {Dims{20, 30}, Dims{2, 1, 1, 30}, Dims{2, 3, 20, 30}}) {
    expect_fused(attention({}, {{DType::F32, shape}}, add), to_string(shape));
  }
}

TEST(Attention, SelectedMask) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Masking keep = [&](ir::Builder& b, Value s, const Values& v) {
    return b.select(b.broadcast_to(v[3], b.shape(s)), s, b.splat_like(s, -infinity));
  };
  const Masking drop = [&](ir::Builder& b, Value s, const Values& v) {
    return b.select(b.broadcast_to(v[3], b.shape(s)), b.splat_like(s, -1e9), s);
  };
  expect_fused(attention({}, {{DType::Bool, {20, 30}}}, keep), "kept where true");
  expect_fused(attention({}, {{DType::Bool, {20, 30}}}, drop), "replaced where true");
}

// A query sees the keys up to its own; whole blocks of keys are masked for the first queries.
TEST(Attention, Causal) {
  for (const int64_t window : {1000, 40}) {
    const Masking causal = [&](ir::Builder& b, Value s, const Values&) {
      const TensorType index{DType::I32, b.shape(s)};
      const int64_t rank = b.rank(s);
      const Value query = b.iota(index, rank - 2), key = b.iota(index, rank - 1);
      const Value seen = b.and_(
          b.compare(ir::ComparisonDirection::GE, query, key),
          b.compare(ir::ComparisonDirection::LT, b.subtract(query, key), b.splat(index, static_cast<double>(window))));
      return b.select(seen, s, b.splat_like(s, -std::numeric_limits<double>::infinity()));
    };
    const Case test = attention({.batch = {2}, .queries = 300, .keys = 300}, {}, causal);
    EXPECT_EQ(count(compiled(test.module), Opcode::ActivationReduce), 1);
    expect_close(test, 2e-6, concat("window ", window));
  }
}

TEST(Attention, RowsWithoutAKeyAreNaN) {
  const Masking none = [](ir::Builder& b, Value s, const Values&) {
    return b.add(s, b.splat_like(s, -std::numeric_limits<double>::infinity()));
  };
  expect_close(attention({.keys = 200}, {}, none), 0, "all masked");
}

TEST(Attention, GroupedHeads) {
  // Three query heads share one head of keys and values.
  const Case test(
      {TensorType{DType::F32, {2, 6, 20, 16}}, TensorType{DType::F32, {2, 2, 30, 16}},
       TensorType{DType::F32, {2, 2, 30, 16}}},
      [](ir::Builder& b, const Values& v) {
        const Value keys = b.broadcast_in_dim(v[1], {2, 2, 3, 30, 16}, {0, 1, 3, 4});
        const Value values = b.broadcast_in_dim(v[2], {2, 2, 3, 30, 16}, {0, 1, 3, 4});
        const Value queries = b.reshape(v[0], {2, 2, 3, 20, 16});
        const Value scores = b.dot_general(queries, keys, {{0, 1, 2}, {0, 1, 2}, {4}, {4}}, DType::F32);
        const Value weights = softmax(b, scaled(b, scores));
        const Value result = b.dot_general(weights, values, {{0, 1, 2}, {0, 1, 2}, {4}, {3}}, DType::F32);
        return Values{b.reshape(result, {2, 6, 20, 16})};
      },
      wave);
  expect_fused(test, "grouped");
}

TEST(Attention, FlattenedBatches) {
  // As matmul of four-dimensional tensors lowers: products of flattened batches, a mask of the full shape.
  const Case test(
      {TensorType{DType::F32, {6, 20, 16}}, TensorType{DType::F32, {6, 30, 16}}, TensorType{DType::F32, {6, 30, 16}},
       TensorType{DType::F32, {2, 1, 20, 30}}},
      [](ir::Builder& b, const Values& v) {
        const Value products = b.dot_general(v[0], v[1], {{0}, {0}, {2}, {2}}, DType::F32);
        const Value scores = b.reshape(products, {2, 3, 20, 30});
        const Value mask = b.broadcast_to(b.multiply(v[3], v[3]), {2, 3, 20, 30});
        const Value weights = softmax(b, b.add(scaled(b, scores), mask));
        return Values{b.dot_general(b.reshape(weights, {6, 20, 30}), v[2], {{0}, {0}, {2}, {1}}, DType::F32)};
      },
      wave);
  EXPECT_EQ(count(compiled(test.module), Opcode::ActivationReduce), 1);
  expect_close(test, 2e-6, "flattened");
}

void expect_unfused(const Case& test, const std::string& what) {
  EXPECT_EQ(count(compiled(test.module), Opcode::NcTranspose), 0) << what;
  expect_close(test, 2e-6, what);
}

TEST(Attention, NotWhenTheWeightsAreAResultToo) {
  const Case test(
      {TensorType{DType::F32, {20, 16}}, TensorType{DType::F32, {30, 16}}, TensorType{DType::F32, {30, 16}}},
      [](ir::Builder& b, const Values& v) {
        const Value weights = softmax(b, b.dot_general(v[0], v[1], {{}, {}, {1}, {1}}, DType::F32));
        return Values{b.dot_general(weights, v[2], {{}, {}, {1}, {0}}, DType::F32), weights};
      },
      wave);
  expect_unfused(test, "weights are read");
}

TEST(Attention, NotWhenAnythingElseIsInTheWay) {
  expect_unfused(attention({}, {}, [](ir::Builder& b, Value s, const Values&) { return b.tanh(s); }), "soft capping");
  expect_unfused(attention({.depth = 200}), "deep heads");
}

TEST(Attention, IsFoundInAGraph) {
  ir::Graph graph = attention({}, {{DType::F32, {20, 30}}}, [](ir::Builder& b, Value s, const Values& v) {
                      return b.add(scaled(b, s), b.broadcast_to(v[3], b.shape(s)));
                    }).module.graph;
  ASSERT_TRUE(passes::group_attention(graph));
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto found = passes::find_attention(graph, i);
    if (!found) continue;
    EXPECT_EQ(found->nodes.back() - found->nodes.front() + 1, found->nodes.size());
    EXPECT_EQ(found->key_product, found->nodes.front());
    ASSERT_EQ(found->steps.size(), size_t{2});
    EXPECT_EQ(found->steps[0].op, Op::Multiply);
    EXPECT_EQ(found->steps[1].op, Op::Add);
    return;
  }
  ADD_FAILURE() << "no attention";
}

TEST(Attention, ProgramsDoNotGrowWithSizes) {
  const auto instructions = [](int64_t size) {
    return compiled(attention({.queries = size, .keys = size}).module).instructions.size();
  };
  EXPECT_EQ(instructions(8), instructions(4000));
}

}  // namespace

}  // namespace opentrn::compiler
