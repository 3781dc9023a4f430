// Scatter: replacing and combining, repeated indices, places outside, updates in place.
#include "tests/cpp/compiler/harness.h"

namespace opentrn::compiler {

namespace {

using ir::Op;
using ir::TensorType;
using neuroncore::Opcode;
using Values = std::vector<ir::Value>;

ir::ScatterAttributes rows_of(Op update, bool unique = false) {
  ir::ScatterAttributes attributes;
  attributes.update_window_dims = {1};
  attributes.inserted_window_dims = {0};
  attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  attributes.update = update;
  attributes.unique_indices = unique;
  return attributes;
}

/// Operand, indices, updates. Indices repeat, and some lie outside of 0 .. limit - 1.
std::function<double(size_t, int64_t)> with_indices(int64_t limit) {
  return [limit](size_t p, int64_t i) {
    if (p == 1) return static_cast<double>(i * 37 % (limit + 2) - 1);
    return static_cast<double>((i * 7 + static_cast<int64_t>(p)) % 5) - 1;
  };
}

Case rows(DType dtype, Op update, int64_t count, int64_t columns) {
  return Case(
      {TensorType{dtype, {40, columns}}, TensorType{DType::I64, {count}}, TensorType{dtype, {count, columns}}},
      [&](ir::Builder& b, const Values& v) { return Values{b.scatter(v[0], v[1], v[2], rows_of(update))}; },
      with_indices(40));
}

TEST(Scatter, Rows) {
  for (const Op update : {Op::Select, Op::Add, Op::Multiply, Op::Maximum, Op::Minimum}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::I32, DType::I64, DType::F64}) {
      for (const int64_t count : {0, 1, 129, 300}) {
        for (const int64_t columns : {1, 20, 64, 600}) {
          expect_same_bytes(rows(dtype, update, count, columns),
                            concat(ir::name(update), " ", name(dtype), " ", count, " of ", columns));
        }
      }
    }
  }
}

TEST(Scatter, BitsAndBooleans) {
  for (const Op update : {Op::And, Op::Or}) {
    for (const DType dtype : {DType::Bool, DType::I32}) {
      expect_same_bytes(rows(dtype, update, 50, 70), concat(ir::name(update), " ", name(dtype)));
    }
  }
  for (const DType dtype : {DType::Bool, DType::U8, DType::C64}) {
    expect_same_bytes(rows(dtype, Op::Select, 50, 70), std::string(name(dtype)));
  }
  expect_same_bytes(rows(DType::C64, Op::Add, 50, 70), "complex sums");
}

TEST(Scatter, InPlace) {
  for (const Op update : {Op::Select, Op::Add, Op::Maximum}) {
    for (const int64_t columns : {1, 100}) {
      Case test = rows(DType::F32, update, 70, columns);
      expect_same_bytes(test.in_place(0, 0), concat(ir::name(update), " in place, ", columns));
    }
  }
}

// The result may lie in the memory of any operand of its shape, or of several of them.
TEST(Scatter, InPlaceOfTheUpdatesOrTheIndices) {
  ir::ScatterAttributes along;
  along.inserted_window_dims = {0};
  along.scatter_dims_to_operand_dims = {0};
  along.index_vector_dim = 1;
  const auto values = [](size_t, int64_t i) { return static_cast<double>(i * 7 % 50); };
  for (const int shared : {0, 1, 2}) {
    Case test(
        {TensorType{DType::I64, {50}}, TensorType{DType::I64, {50}}, TensorType{DType::I64, {50}}},
        [&](ir::Builder& b, const Values& v) { return Values{b.scatter(v[0], v[1], v[2], along)}; }, values);
    expect_same_bytes(test.in_place(0, shared), concat("in the memory of operand ", shared));
  }
  Case test(
      {TensorType{DType::I64, {50}}},
      [&](ir::Builder& b, const Values& v) { return Values{b.scatter(v[0], v[0], v[0], along)}; }, values);
  expect_same_bytes(test.in_place(0, 0), "one tensor is everything");
}

TEST(Scatter, InPlaceMovesOnlyTheUpdates) {
  Case test(
      {TensorType{DType::F32, {100'000, 64}}, TensorType{DType::I64, {3}}, TensorType{DType::F32, {3, 64}}},
      [](ir::Builder& b, const Values& v) { return Values{b.scatter(v[0], v[1], v[2], rows_of(Op::Add))}; },
      with_indices(100));
  test.in_place(0, 0);
  const neuroncore::Program program = compiled(test.module);
  EXPECT_EQ(count(program, Opcode::DmaCopy), 2);  // the indices, the updates
  EXPECT_EQ(program.loops.size(), size_t{0});
}

TEST(Scatter, ElementsAlongADimension) {
  for (const int64_t dim : {0, 1}) {
    for (const Op update : {Op::Select, Op::Add, Op::Multiply}) {
      const Dims others = dim == 0 ? Dims{1} : Dims{0};
      const Case test(
          {TensorType{DType::F32, {140, 33}}, TensorType{DType::I64, {140, 33}}, TensorType{DType::F32, {140, 33}}},
          [&](ir::Builder& b, const Values& v) {
            ir::ScatterAttributes attributes;
            attributes.inserted_window_dims = {dim};
            attributes.input_batching_dims = others;
            attributes.scatter_indices_batching_dims = others;
            attributes.scatter_dims_to_operand_dims = {dim};
            attributes.index_vector_dim = 2;
            attributes.update = update;
            return Values{b.scatter(v[0], v[1], v[2], attributes)};
          },
          with_indices(20));
      expect_same_bytes(test, concat("dimension ", dim, " ", ir::name(update)));
    }
  }
}

TEST(Scatter, SeveralComponentsAndPlacesOutside) {
  for (const DType index : {DType::I32, DType::I64}) {
    const Case test(
        {TensorType{DType::F32, {12, 9}}, TensorType{index, {400, 2}}, TensorType{DType::F32, {400}}},
        [](ir::Builder& b, const Values& v) {
          ir::ScatterAttributes attributes;
          attributes.inserted_window_dims = {0, 1};
          attributes.scatter_dims_to_operand_dims = {0, 1};
          attributes.index_vector_dim = 1;
          attributes.update = Op::Add;
          return Values{b.scatter(v[0], v[1], v[2], attributes)};
        },
        with_indices(11));
    expect_same_bytes(test, std::string(name(index)));
  }
}

TEST(Scatter, WindowsPartlyOutside) {
  const Case test(
      {TensorType{DType::F32, {10}}, TensorType{DType::I64, {5, 1}}, TensorType{DType::F32, {5, 4}}},
      [](ir::Builder& b, const Values& v) {
        ir::ScatterAttributes attributes;
        attributes.update_window_dims = {1};
        attributes.scatter_dims_to_operand_dims = {0};
        attributes.index_vector_dim = 1;
        return Values{b.scatter(v[0], v[1], v[2], attributes)};
      },
      with_indices(9));
  expect_same_bytes(test, "the part inside is written");
}

TEST(Scatter, UniqueIndicesCombineByTiles) {
  const Case test(
      {TensorType{DType::F32, {500, 3}}, TensorType{DType::I64, {300}}, TensorType{DType::F32, {300, 3}}},
      [](ir::Builder& b, const Values& v) { return Values{b.scatter(v[0], v[1], v[2], rows_of(Op::Multiply, true))}; },
      [](size_t p, int64_t i) { return p == 1 ? static_cast<double>(i * 7 % 500) : static_cast<double>(i % 5); });
  expect_same_bytes(test, "unique");
  EXPECT_EQ(count(compiled(test.module), Opcode::LibraryCall), 0);
}

}  // namespace

}  // namespace opentrn::compiler
