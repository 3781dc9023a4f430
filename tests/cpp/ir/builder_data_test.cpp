#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/error.h"
#include "ir/builder.h"

namespace opentrn::ir {
namespace {

class BuilderData : public testing::Test {
 protected:
  Value of(Dims shape, DType dtype = DType::F32) { return builder.parameter({dtype, std::move(shape)}); }
  Dims shape(Value value) { return builder.shape(value); }

  void refuses(const std::string& part, const std::function<void()>& action) {
    try {
      action();
      ADD_FAILURE() << "nothing was raised, expected: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Builder builder;
};

template <typename T>
std::vector<std::byte> bytes(const std::vector<T>& values) {
  std::vector<std::byte> data(values.size() * sizeof(T));
  std::memcpy(data.data(), values.data(), data.size());
  return data;
}

TEST_F(BuilderData, Broadcast) {
  EXPECT_EQ(shape(builder.broadcast_in_dim(of({3}), {2, 3, 4}, {1})), (Dims{2, 3, 4}));
  EXPECT_EQ(shape(builder.broadcast_in_dim(of({1, 3}), {3, 0}, {1, 0})), (Dims{3, 0}));
  refuses("does not broadcast", [&] { builder.broadcast_in_dim(of({3}), {2, 4}, {1}); });
  refuses("wrong length", [&] { builder.broadcast_in_dim(of({3}), {2, 3}, {}); });
  refuses("twice", [&] { builder.broadcast_in_dim(of({3, 3}), {3, 3}, {0, 0}); });
  refuses("out of range", [&] { builder.broadcast_in_dim(of({3}), {3}, {1}); });
  refuses("negative", [&] { builder.broadcast_in_dim(of({1}), {-1}, {0}); });
  const Value x = of({2, 3});
  EXPECT_EQ(builder.broadcast_in_dim(x, {2, 3}, {0, 1}), x);
  const Value square = of({3, 3});
  EXPECT_NE(builder.broadcast_in_dim(square, {3, 3}, {1, 0}), square);
}

TEST_F(BuilderData, BroadcastToAlignsAtTheRight) {
  EXPECT_EQ(shape(builder.broadcast_to(of({3, 1}), {2, 3, 4})), (Dims{2, 3, 4}));
  refuses("more dimensions", [&] { builder.broadcast_to(of({3, 1}), {3}); });
  refuses("does not broadcast", [&] { builder.broadcast_to(of({3}), {3, 4}); });
}

TEST_F(BuilderData, Concatenate) {
  const std::vector<Value> operands{of({2, 3}), of({2, 0}), of({2, 4})};
  EXPECT_EQ(shape(builder.concatenate(operands, 1)), (Dims{2, 7}));
  refuses("operand 1 does not fit", [&] { builder.concatenate(std::vector<Value>{of({2, 3}), of({3, 3})}, 1); });
  refuses("operand 1 does not fit", [&] { builder.concatenate(std::vector<Value>{of({2}), of({2, 2})}, 0); });
  refuses("operand 1 does not fit", [&] { builder.concatenate(std::vector<Value>{of({2}), of({2}, DType::I32)}, 0); });
  refuses("out of range", [&] { builder.concatenate(std::vector<Value>{of({2})}, 1); });
  refuses("no operands", [&] { builder.concatenate({}, 0); });
}

TEST_F(BuilderData, ConstantsHaveOneForm) {
  const auto data_of = [&](Value value) {
    Graph graph = builder.finish({value});
    return graph.nodes.back().as<ConstantAttributes>().data;
  };
  EXPECT_EQ(data_of(builder.constant({DType::I32, {2}}, bytes<int32_t>({7, 7}))), bytes<int32_t>({7}));
  EXPECT_EQ(data_of(builder.constant({DType::I32, {2}}, bytes<int32_t>({7, 8}))), bytes<int32_t>({7, 8}));
  EXPECT_EQ(data_of(builder.splat({DType::I32, {2, 2}}, 7)), bytes<int32_t>({7}));
  EXPECT_EQ(data_of(builder.splat({DType::I32, {0}}, 7)), std::vector<std::byte>{});
  EXPECT_EQ(data_of(builder.splat({DType::BF16, {4}}, 1.00390625)), bytes<uint16_t>({0x3F80}));
  EXPECT_EQ(data_of(builder.scalar(DType::Bool, 2)), bytes<uint8_t>({1}));
  EXPECT_EQ(data_of(builder.scalar(DType::C64, 1.5)), bytes<float>({1.5f, 0}));
  refuses("wrong size", [&] { builder.constant({DType::I32, {3}}, bytes<int32_t>({1, 2})); });
  refuses("wrong size", [&] { builder.constant({DType::I32, {}}, bytes<int32_t>({1, 1})); });
  refuses("wrong size", [&] { builder.constant({DType::I32, {2}}, bytes<uint8_t>({1, 1})); });
}

TEST_F(BuilderData, Iota) {
  EXPECT_EQ(shape(builder.iota({DType::I64, {2, 3}}, 1)), (Dims{2, 3}));
  refuses("out of range", [&] { builder.iota({DType::I64, {}}, 0); });
  refuses("wrong element type", [&] { builder.iota({DType::Bool, {2}}, 0); });
}

TEST_F(BuilderData, Pad) {
  EXPECT_EQ(shape(builder.pad(of({2, 3}), of({}), {1, -1}, {0, 2}, {0, 3})), (Dims{3, 10}));
  EXPECT_EQ(shape(builder.pad(of({0}), of({}), {1}, {1}, {5})), Dims{2});
  refuses("operand 1", [&] { builder.pad(of({2}), of({1}), {0}, {0}, {0}); });
  refuses("operand 1", [&] { builder.pad(of({2}), of({}, DType::F64), {0}, {0}, {0}); });
  refuses("interior_padding", [&] { builder.pad(of({2}), of({}), {0}, {0}, {-1}); });
  refuses("cuts off", [&] { builder.pad(of({2}), of({}), {-2}, {-1}, {0}); });
  refuses("edge_padding_high", [&] { builder.pad(of({2}), of({}), {0}, {}, {0}); });
}

TEST_F(BuilderData, Reshape) {
  EXPECT_EQ(shape(builder.reshape(of({2, 6}), {3, 4})), (Dims{3, 4}));
  EXPECT_EQ(shape(builder.reshape(of({0, 6}), {0})), Dims{0});
  refuses("number of elements", [&] { builder.reshape(of({2, 6}), {5}); });
  refuses("negative", [&] { builder.reshape(of({2, 6}), {-3, -4}); });
  const Value x = of({2, 6});
  EXPECT_EQ(builder.reshape(x, {2, 6}), x);
}

TEST_F(BuilderData, ReverseAndTranspose) {
  EXPECT_EQ(shape(builder.reverse(of({2, 3}), {1})), (Dims{2, 3}));
  refuses("out of range", [&] { builder.reverse(of({2, 3}), {2}); });
  refuses("twice", [&] { builder.reverse(of({2, 3}), {1, 1}); });
  EXPECT_EQ(shape(builder.transpose(of({2, 3, 4}), {2, 0, 1})), (Dims{4, 2, 3}));
  refuses("wrong length", [&] { builder.transpose(of({2, 3}), {0}); });
  refuses("twice", [&] { builder.transpose(of({2, 3}), {0, 0}); });
  const Value x = of({2, 3});
  EXPECT_EQ(builder.transpose(x, {0, 1}), x);
}

TEST_F(BuilderData, Slice) {
  EXPECT_EQ(shape(builder.slice(of({4, 9}), {1, 0}, {4, 8}, {1, 3})), (Dims{3, 3}));
  EXPECT_EQ(shape(builder.slice(of({4}), {2}, {2}, {7})), Dims{0});
  refuses("dimension 0", [&] { builder.slice(of({4}), {0}, {5}, {1}); });
  refuses("dimension 0", [&] { builder.slice(of({4}), {3}, {2}, {1}); });
  refuses("dimension 0", [&] { builder.slice(of({4}), {-1}, {2}, {1}); });
  refuses("dimension 0", [&] { builder.slice(of({4}), {0}, {2}, {0}); });
  refuses("strides", [&] { builder.slice(of({4}), {0}, {2}, {}); });
  const Value x = of({4});
  EXPECT_EQ(builder.slice(x, {0}, {4}, {1}), x);
}

TEST_F(BuilderData, DynamicSlices) {
  const std::vector<Value> starts{of({}, DType::I64), of({}, DType::I64)};
  EXPECT_EQ(shape(builder.dynamic_slice(of({4, 5}), starts, {1, 5})), (Dims{1, 5}));
  refuses("slice_sizes", [&] { builder.dynamic_slice(of({4, 5}), starts, {1, 6}); });
  refuses("start indices", [&] { builder.dynamic_slice(of({4}), starts, {1}); });
  refuses("no index", [&] { builder.dynamic_slice(of({4}), std::vector<Value>{of({})}, {1}); });
  refuses("operand 2", [&] {
    builder.dynamic_slice(of({4, 5}), std::vector<Value>{of({}, DType::I64), of({}, DType::I32)}, {1, 1});
  });
  EXPECT_EQ(shape(builder.dynamic_update_slice(of({4, 5}), of({2, 5}), starts)), (Dims{4, 5}));
  refuses("operand 1 does not fit", [&] { builder.dynamic_update_slice(of({4, 5}), of({5, 5}), starts); });
  refuses("operand 1 does not fit", [&] { builder.dynamic_update_slice(of({4, 5}), of({2, 5}, DType::F64), starts); });
}

TEST_F(BuilderData, Gather) {
  GatherAttributes rows;
  rows.offset_dims = {1};
  rows.collapsed_slice_dims = {0};
  rows.start_index_map = {0};
  rows.index_vector_dim = 2;
  rows.slice_sizes = {1, 4};
  const Value table = of({10, 4});
  const Value indices = of({3, 5}, DType::I64);
  EXPECT_EQ(shape(builder.gather(table, indices, rows)), (Dims{3, 4, 5}));
  rows.offset_dims = {2};
  EXPECT_EQ(shape(builder.gather(table, indices, rows)), (Dims{3, 5, 4}));
  const auto with = [&](auto change) {
    GatherAttributes changed = rows;
    change(changed);
    return [this, table, indices, changed] { builder.gather(table, indices, changed); };
  };
  refuses("operand 1 is no index", [&] { builder.gather(table, of({3}, DType::F32), rows); });
  refuses("start_index_map", with([](auto& a) { a.start_index_map = {0, 1}; }));
  refuses("index_vector_dim", with([](auto& a) { a.index_vector_dim = 3; }));
  refuses("slice_sizes", with([](auto& a) { a.slice_sizes = {1, 5}; }));
  refuses("slice_sizes", with([](auto& a) { a.slice_sizes = {2, 4}; }));
  refuses("slice_sizes", with([](auto& a) { a.slice_sizes = {1}; }));
  refuses("offset_dims", with([](auto& a) { a.offset_dims = {}; }));
  refuses("offset_dims", with([](auto& a) { a.offset_dims = {3}; }));
  refuses("collapsed_slice_dims", with([](auto& a) { a.collapsed_slice_dims = {2}; }));
  refuses("has another size", with([](auto& a) {
            a.collapsed_slice_dims = {};
            a.operand_batching_dims = {0};
            a.start_indices_batching_dims = {0};
            a.start_index_map = {1};
          }));
}

TEST_F(BuilderData, Scatter) {
  ScatterAttributes rows;
  rows.update_window_dims = {1};
  rows.inserted_window_dims = {0};
  rows.scatter_dims_to_operand_dims = {0};
  rows.index_vector_dim = 1;
  const Value operand = of({10, 4});
  const Value indices = of({3, 1}, DType::I32);
  EXPECT_EQ(shape(builder.scatter(operand, indices, of({3, 4}), rows)), (Dims{10, 4}));
  EXPECT_EQ(shape(builder.scatter(operand, indices, of({3, 2}), rows)), (Dims{10, 4}));
  refuses("operand 2 has a wrong size", [&] { builder.scatter(operand, indices, of({2, 4}), rows); });
  refuses("operand 2 has a wrong size", [&] { builder.scatter(operand, indices, of({3, 5}), rows); });
  refuses("operand 2 has another element type",
          [&] { builder.scatter(operand, indices, of({3, 4}, DType::F64), rows); });
  refuses("the shape of operand 2", [&] { builder.scatter(operand, indices, of({3}), rows); });
  rows.update = Op::Subtract;
  refuses("update function", [&] { builder.scatter(operand, indices, of({3, 4}), rows); });
  rows.update = Op::And;
  refuses("update function", [&] { builder.scatter(operand, indices, of({3, 4}), rows); });
}

// Rules pass `b.shape(x)` to a call whose other arguments add values; the shape must stay where it is.
TEST(Builder, ShapesStayWhereTheyAreWhileValuesAreAdded) {
  Builder builder;
  const Value x = builder.parameter({DType::F32, {2, 3}});
  const Dims& shape = builder.shape(x);
  for (int i = 0; i < 1000; ++i) builder.negate(x);
  EXPECT_EQ(&shape, &builder.shape(x));
  EXPECT_EQ(shape, (Dims{2, 3}));
}

}  // namespace
}  // namespace opentrn::ir
