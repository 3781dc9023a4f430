// Reading and writing by index, and the halves of data-dependent operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TestTensor kMatrix = floats({3, 2}, {0, 1, 10, 11, 20, 21});

CallBuilder index_select(const TestTensor& self, int64_t dim, const TestTensor& index) {
  CallBuilder call("index_select");
  call.tensor("self", self).set("dim", dim).tensor("index", index);
  return call;
}

CallBuilder gather(const TestTensor& self, int64_t dim, const TestTensor& index) {
  CallBuilder call("gather");
  call.tensor("self", self).set("dim", dim).tensor("index", index).set("sparse_grad", false);
  return call;
}

/// A list with gaps: nullptr stands for None.
CallBuilder indexed(std::string name, const TestTensor& self, const std::vector<TestTensor>& indices) {
  CallBuilder call(std::move(name));
  call.tensor("self", self).tensors("indices", indices);
  return call;
}

size_t count(const Lowered& lowered, ir::Op op) {
  const auto& nodes = lowered.graph.nodes;
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [op](const auto& node) { return node.op == op; }));
}

TEST(IndexSelect, TakesSlicesInOneGather) {
  EXPECT_THAT(index_select(kMatrix, 0, integers({2}, {2, 0})).run_for<double>(), ElementsAre(20, 21, 0, 1));
  EXPECT_THAT(index_select(kMatrix, -1, integers({1}, {1})).run_for<double>(), ElementsAre(1, 11, 21));
  EXPECT_EQ(index_select(kMatrix, 0, integers({2}, {2, 0})).lower().graph.nodes.size(), 2u);  // check, gather
}

TEST(IndexSelect, OfEveryTypeIsBitExact) {
  for (const DTypeInfo& row : dtype_table()) {
    TestTensor bytes = empty_tensor(row.dtype, {3});
    for (size_t i = 0; i < bytes.bytes.size(); ++i)
      bytes.bytes[i] = std::byte(row.dtype == DType::Bool ? i % 2 : 37 * i + 129);
    const TestTensor result = index_select(bytes, 0, integers({2}, {2, 1})).run()[0];
    const auto size = static_cast<size_t>(row.size);
    EXPECT_TRUE(std::equal(result.bytes.begin(), result.bytes.begin() + row.size, bytes.bytes.begin() + 2 * row.size))
        << row.name;
    EXPECT_EQ(result.bytes[size], bytes.bytes[size]) << row.name;
  }
}

TEST(IndexSelect, RefusesWhatLiesOutsideAndDoesNotWrap) {
  EXPECT_THAT(error_of([] { index_select(kMatrix, 0, integers({1}, {3})).run(); }, ErrorKind::Index),
              HasSubstr("index 3 is out of bounds for dimension 0 with size 3"));
  EXPECT_THAT(error_of([] { index_select(kMatrix, 0, integers({1}, {-1})).run(); }, ErrorKind::Index),
              HasSubstr("index -1"));
  EXPECT_THAT(error_of([] { index_select(kMatrix, 0, floats({1}, {1})).lower(); }),
              HasSubstr("Expected dtype int32/int64"));
}

TEST(Gather, ReadsElementsAlongADimension) {
  EXPECT_THAT(gather(kMatrix, 0, integers({2, 2}, {2, 0, 1, 1})).run_for<double>(), ElementsAre(20, 1, 10, 11));
  EXPECT_THAT(gather(kMatrix, 1, integers({1, 3}, {1, 1, 0})).run_for<double>(), ElementsAre(1, 1, 0));
  EXPECT_THAT(error_of([] { gather(kMatrix, 0, integers({1, 2}, {0, -1})).run(); }),
              HasSubstr("index -1 is out of bounds"));
  EXPECT_THAT(error_of([] { gather(kMatrix, 0, integers({1, 3}, {0, 0, 0})).lower(); }),
              HasSubstr("Size does not match"));
}

TEST(Index, WrapsNegativeIndicesAndBroadcasts) {
  const auto results = indexed("index.Tensor", kMatrix, {integers({2, 1}, {0, -1}), integers({2}, {1, 0})}).run();
  EXPECT_EQ(results[0].type.shape, (Dims{2, 2}));
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1, 0, 21, 20));
  EXPECT_THAT(error_of([] { indexed("index.Tensor", kMatrix, {integers({1}, {-4})}).run(); }, ErrorKind::Index),
              HasSubstr("index -4 is out of bounds for dimension 0 with size 3"));
}

TEST(Index, DeclinesMasksAndRefusesBadLists) {
  const TestTensor mask = tensor_of<double>(DType::Bool, {3}, {1, 0, 1});
  EXPECT_THROW(indexed("index.Tensor", kMatrix, {mask}).lower(), Declined);
  EXPECT_THAT(
      error_of([] { indexed("index.Tensor", kMatrix, {integers({2}, {0, 0}), integers({3}, {0, 0, 0})}).lower(); },
               ErrorKind::Index),
      HasSubstr("could not be broadcast together"));
  const TestTensor one = integers({1}, {0});
  EXPECT_THAT(error_of([&] { indexed("index.Tensor", kMatrix, {one, one, one}).lower(); }, ErrorKind::Index),
              HasSubstr("too many indices for tensor of dimension 2 (got 3)"));
}

TEST(Index, ResultFollowsTheMemoryOrderOfTheOtherDimensions) {
  const TestTensor columns =
      tensor_of<double>(DType::F32, {3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Dims{1, 3, 6});
  const auto results = indexed("index.Tensor", columns, {integers({2}, {2, 0})}).run();
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(8, 9, 10, 11, 0, 1, 2, 3));
  EXPECT_EQ(results[0].strides, (Dims{4, 1, 2}));
}

TEST(IndexPut, LastWriteWinsOrAllAreAdded) {
  const TestTensor zeros = floats({5}, {0, 0, 0, 0, 0});
  const auto put = [&](bool accumulate) {
    return indexed("index_put", zeros, {integers({3}, {1, 1, 3})})
        .tensor("values", floats({3}, {1, 2, 4}))
        .set("accumulate", accumulate)
        .run_for<double>();
  };
  EXPECT_THAT(put(true), ElementsAre(0, 3, 0, 4, 0));
  EXPECT_THAT(put(false), ElementsAre(0, 2, 0, 4, 0));
}

TEST(IndexPut, RefusesOtherTypesAndShapes) {
  const auto put = [](const TestTensor& values) {
    indexed("index_put", kMatrix, {integers({2}, {0, 1})}).tensor("values", values).set("accumulate", false).lower();
  };
  EXPECT_THAT(error_of([&] { put(integers({1}, {1})); }),
              HasSubstr("Index put requires the source and destination dtypes match"));
  EXPECT_THAT(error_of([&] { put(floats({4}, {1, 2, 3, 4})); }),
              HasSubstr("cannot be broadcast to indexing result of shape [2, 2]"));
}

TEST(IndexAdd, CountsRepeatedRows) {
  CallBuilder call("index_add");
  call.tensor("self", kMatrix).set("dim", int64_t{0}).tensor("index", tensor_of<int64_t>(DType::I32, {2}, {1, 1}));
  call.tensor("source", floats({2, 2}, {1, 2, 3, 4})).scalar("alpha", 2);
  EXPECT_THAT(call.run_for<double>(), ElementsAre(0, 1, 18, 23, 20, 21));
}

TEST(IndexFill, WrapsAndChecksTheValue) {
  const auto fill = [](double value) {
    CallBuilder call("index_fill.int_Scalar");
    call.tensor("self", tensor_of<double>(DType::I8, {3}, {1, 2, 3})).set("dim", int64_t{0});
    return call.tensor("index", integers({1}, {-1})).scalar("value", value).run_for<int64_t>();
  };
  EXPECT_THAT(fill(7), ElementsAre(1, 2, 7));
  EXPECT_THAT(error_of([&] { fill(300); }), HasSubstr("value cannot be converted to type int8 without overflow"));
}

CallBuilder scatter(std::string name, const TestTensor& self, const TestTensor& index, const TestTensor& src) {
  CallBuilder call(std::move(name));
  call.tensor("self", self).set("dim", int64_t{0}).tensor("index", index).tensor("src", src);
  return call;
}

TEST(Scatter, LeavesTheRestAlone) {
  const auto result =
      scatter("scatter.src", kMatrix, integers({1, 1}, {2}), floats({2, 2}, {5, 6, 7, 8})).run_for<double>();
  EXPECT_THAT(result, ElementsAre(0, 1, 10, 11, 5, 21));
  EXPECT_THAT(error_of([] { scatter("scatter.src", kMatrix, integers({1, 1}, {3}), kMatrix).run(); }),
              HasSubstr("index 3 is out of bounds for dimension 0 with size 3"));
}

TEST(ScatterReduce, CountsOrLeavesOutSelf) {
  const auto reduce = [](std::string how, bool include_self) {
    return scatter("scatter_reduce.two", floats({3}, {10, 20, 30}), integers({3}, {0, 0, 2}), floats({3}, {1, 4, 6}))
        .text("reduce", std::move(how))
        .set("include_self", include_self)
        .run_for<double>();
  };
  EXPECT_THAT(reduce("sum", true), ElementsAre(15, 20, 36));
  EXPECT_THAT(reduce("sum", false), ElementsAre(5, 20, 6));
  EXPECT_THAT(reduce("mean", true), ElementsAre(5, 20, 18));
  EXPECT_THAT(reduce("mean", false), ElementsAre(2.5, 20, 6));
  EXPECT_THAT(reduce("amax", false), ElementsAre(4, 20, 6));
  EXPECT_THAT(reduce("amin", true), ElementsAre(1, 20, 6));
  EXPECT_THAT(reduce("prod", false), ElementsAre(4, 20, 6));
  EXPECT_THAT(error_of([&] { reduce("median", true); }), HasSubstr("median"));
}

TEST(ScatterReduce, MeanOfIntegersRoundsDown) {
  const auto result =
      scatter("scatter_reduce.two", integers({2}, {5, -7}), integers({2}, {0, 1}), integers({2}, {2, 2}))
          .text("reduce", "mean")
          .set("include_self", true)
          .run_for<int64_t>();
  EXPECT_THAT(result, ElementsAre(3, -3));
}

TEST(Embedding, IsACheckAndAGatherOfRows) {
  CallBuilder call("embedding");
  call.tensor("weight", kMatrix).tensor("indices", integers({1, 2}, {2, 0}));
  const Lowered lowered = call.lower();
  EXPECT_EQ(lowered.graph.nodes.size(), 2u);
  EXPECT_EQ(lowered.outputs[0].type.shape, (Dims{1, 2, 2}));
}

TEST(EmbeddingBackward, LeavesOutThePaddingRowAndDividesByFrequency) {
  const auto gradient = [](int64_t padding, bool by_frequency) {
    CallBuilder call("embedding_dense_backward");
    call.tensor("grad_output", floats({4, 1}, {1, 1, 1, 1})).tensor("indices", integers({4}, {0, 1, 1, 2}));
    call.set("num_weights", int64_t{4}).set("padding_idx", padding).set("scale_grad_by_freq", by_frequency);
    return call.run_for<double>();
  };
  EXPECT_THAT(gradient(-1, false), ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(gradient(0, false), ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(gradient(0, true), ElementsAre(0, 1, 1, 0));
}

TEST(MaskedScatter, TakesSourceInOrderAndCountsIt) {
  const TestTensor mask = tensor_of<double>(DType::Bool, {2, 3}, {1, 0, 1, 0, 1, 0});
  const auto fill = [&](const TestTensor& source) {
    CallBuilder call("masked_scatter");
    return call.tensor("self", floats({2, 3}, {0, 0, 0, 0, 0, 0}))
        .tensor("mask", mask)
        .tensor("source", source)
        .run_for<double>();
  };
  EXPECT_THAT(fill(tensor_of<double>(DType::F32, {2, 2}, {7, 9, 8, 10}, Dims{1, 2})), ElementsAre(7, 0, 9, 0, 8, 0));
  EXPECT_THAT(error_of([&] { fill(floats({2}, {1, 2})); }),
              HasSubstr("Number of elements of source < number of ones in mask"));
  EXPECT_THAT(error_of([&] { fill(floats({0}, {})); }), HasSubstr("Number of elements of source"));
}

TEST(Nonzero, CountsThenListsCoordinates) {
  const TestTensor x = floats({2, 3}, {0, 5, 0, -1, 0, 2});
  EXPECT_THAT(CallBuilder("opentrn.count_nonzero").tensor("self", x).run_for<int64_t>(), ElementsAre(3));
  const auto results = CallBuilder("opentrn.nonzero").tensor("self", x).set("count", int64_t{3}).run();
  EXPECT_THAT(values_of<int64_t>(results[0]), ElementsAre(0, 1, 1, 0, 1, 2));
  EXPECT_EQ(results[0].strides, (Dims{1, 3}));
}

TEST(Indexing, UsesNoGridOfIndices) {
  EXPECT_EQ(count(gather(kMatrix, 0, integers({2, 2}, {2, 0, 1, 1})).lower(), ir::Op::Iota), 0u);
  EXPECT_EQ(count(scatter("scatter_add", kMatrix, integers({1, 2}, {2, 0}), kMatrix).lower(), ir::Op::Iota), 0u);
}

}  // namespace
}  // namespace opentrn::lowering::testing
