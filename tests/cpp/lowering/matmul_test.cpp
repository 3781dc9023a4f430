// Matrix products and triangular systems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/cpp/lowering/call_builder.h"

namespace opentrn::lowering::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TestTensor kLeft = floats({2, 3}, {1, 2, 3, 4, 5, 6});
const TestTensor kRight = floats({3, 2}, {1, 0, 0, 1, 2, 2});

CallBuilder addmm(const TestTensor& self, double beta, double alpha, const TestTensor& left = kLeft) {
  CallBuilder call("addmm");
  call.tensor("self", self).tensor("mat1", left).tensor("mat2", kRight).scalar("beta", beta).scalar("alpha", alpha);
  return call;
}

TEST(Mm, OfRowMajorAndTransposedOperands) {
  CallBuilder call("mm");
  EXPECT_THAT(call.tensor("self", kLeft).tensor("mat2", kRight).run_for<double>(), ElementsAre(7, 8, 16, 17));
  const TestTensor transposed = tensor_of<double>(DType::F32, {3, 2}, {1, 0, 0, 1, 2, 2}, Dims{1, 3});
  CallBuilder other("mm");
  EXPECT_THAT(other.tensor("self", kLeft).tensor("mat2", transposed).run_for<double>(), ElementsAre(7, 8, 16, 17));
}

TEST(Mm, OfIntegersIsExactBeyondFloat) {
  const int64_t big = (int64_t{1} << 53) + 1;
  CallBuilder call("mm");
  call.tensor("self", integers({1, 2}, {big, 1})).tensor("mat2", integers({2, 1}, {1, 2}));
  EXPECT_THAT(call.run_for<int64_t>(), ElementsAre(big + 2));
}

TEST(Mm, OfBfloat16AccumulatesInFloat32) {
  const std::vector<double> ones(512, 1.0);
  CallBuilder call("mm");
  call.tensor("self", tensor_of(DType::BF16, {1, 512}, ones)).tensor("mat2", tensor_of(DType::BF16, {512, 1}, ones));
  const auto results = call.run();
  EXPECT_EQ(results[0].type.dtype, DType::BF16);
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(512));
}

TEST(Mm, OverNothingIsZero) {
  CallBuilder call("mm");
  EXPECT_THAT(call.tensor("self", floats({2, 0}, {})).tensor("mat2", floats({0, 1}, {})).run_for<double>(),
              ElementsAre(0, 0));
}

TEST(Mm, RefusesBadOperands) {
  EXPECT_THAT(error_of([] { CallBuilder("mm").tensor("self", kLeft).tensor("mat2", kLeft).lower(); }),
              HasSubstr("shapes cannot be multiplied (2x3 and 2x3)"));
  EXPECT_THAT(error_of([] { CallBuilder("mm").tensor("self", kLeft).tensor("mat2", floats({3}, {1, 2, 3})).lower(); }),
              HasSubstr("mat2 must be a matrix"));
  const TestTensor doubles = tensor_of<double>(DType::F64, {3, 1}, {1, 2, 3});
  EXPECT_THAT(error_of([&] { CallBuilder("mm").tensor("self", kLeft).tensor("mat2", doubles).lower(); }),
              HasSubstr("same dtype"));
  const TestTensor bools = tensor_of<double>(DType::Bool, {1, 1}, {1});
  EXPECT_THAT(error_of([&] { CallBuilder("mm").tensor("self", bools).tensor("mat2", bools).lower(); },
                       ErrorKind::NotImplemented),
              HasSubstr("not implemented for 'Bool'"));
}

TEST(Addmm, BroadcastsSelfAndScalesBothTerms) {
  EXPECT_THAT(addmm(floats({2}, {1, 10}), 1, 1).run_for<double>(), ElementsAre(8, 18, 17, 27));
  EXPECT_THAT(addmm(floats({2, 1}, {1, 10}), 2, 0.5).run_for<double>(), ElementsAre(5.5, 6, 28, 28.5));
}

TEST(Addmm, CoefficientsOfZeroDropTheirTermWhateverItHolds) {
  EXPECT_THAT(addmm(floats({2}, {kNan, kNan}), 0, 1).run_for<double>(), ElementsAre(7, 8, 16, 17));
  const TestTensor nans = floats({1, 3}, {kNan, kNan, kNan});
  EXPECT_THAT(addmm(floats({2}, {3, 4}), 1, 0, nans).run_for<double>(), ElementsAre(3, 4));
}

TEST(Addmm, CoefficientsOfOneCostNothing) {
  EXPECT_EQ(addmm(floats({2, 2}, {1, 2, 3, 4}), 1, 1).lower().graph.nodes.size(), 2u);  // product and sum
}

TEST(Addmm, RefusesASelfThatDoesNotBroadcast) {
  EXPECT_THAT(error_of([] { addmm(floats({3}, {1, 2, 3}), 1, 1).lower(); }), HasSubstr("expanded size of the tensor"));
}

TEST(Bmm, MultipliesEachBatchAndChecksBatches) {
  const TestTensor left = floats({2, 1, 2}, {1, 2, 3, 4});
  const TestTensor right = floats({2, 2, 1}, {1, 1, 2, 3});
  EXPECT_THAT(CallBuilder("bmm").tensor("self", left).tensor("mat2", right).run_for<double>(), ElementsAre(3, 18));
  EXPECT_THAT(error_of([&] { CallBuilder("bmm").tensor("self", left).tensor("mat2", left).lower(); }),
              HasSubstr("Expected size for first two dimensions of mat2 tensor to be: [2, 2] but got: [2, 1]"));
}

TEST(Vdot, ConjugatesTheFirstOperand) {
  using Complex = std::complex<double>;
  const TestTensor left = tensor_of<Complex>(DType::C64, {2}, {{0, 1}, {2, 0}});
  const TestTensor right = tensor_of<Complex>(DType::C64, {2}, {{0, 1}, {0, 3}});
  EXPECT_THAT(CallBuilder("vdot").tensor("self", left).tensor("other", right).run_for<Complex>(),
              ElementsAre(Complex{1, 6}));
  EXPECT_THAT(CallBuilder("dot").tensor("self", left).tensor("tensor", right).run_for<Complex>(),
              ElementsAre(Complex{-1, 6}));
}

TEST(Addr, OfBoolsIsLogical) {
  const auto bools = [](std::vector<double> values) {
    return tensor_of(DType::Bool, {static_cast<int64_t>(values.size())}, values);
  };
  CallBuilder call("addr");
  call.tensor("self", tensor_of<double>(DType::Bool, {2, 2}, {0, 0, 1, 0})).tensor("vec1", bools({1, 0}));
  call.tensor("vec2", bools({0, 1})).scalar("beta", 1).scalar("alpha", 1);
  EXPECT_THAT(call.run_for<double>(), ElementsAre(0, 1, 1, 0));
}

CallBuilder triangular(const TestTensor& matrix, const TestTensor& right, bool upper, bool left, bool unit) {
  CallBuilder call("linalg_solve_triangular");
  call.tensor("self", matrix).tensor("B", right).set("upper", upper).set("left", left).set("unitriangular", unit);
  return call;
}

TEST(SolveTriangular, ReadsOneTriangleOnly) {
  const TestTensor matrix = floats({3, 3}, {2, 1, 1, 9, 4, 2, 9, 9, 5});  // the nines are not to be read
  const TestTensor right = floats({3, 1}, {7, 14, 10});
  const auto results = triangular(matrix, right, true, true, false).run();
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1.25, 2.5, 2));
  EXPECT_EQ(results[0].strides, (Dims{1, 3}));
  EXPECT_THAT(triangular(matrix, right, true, true, true).run_for<double>(), ElementsAre(3, -6, 10));
}

TEST(SolveTriangular, FromTheRightAndInBatches) {
  const TestTensor matrix = floats({2, 2, 2}, {2, 0, 1, 4, 1, 0, 1, 1});
  const TestTensor right = floats({1, 2}, {4, 8});
  const auto results = triangular(matrix, right, false, false, false).run();
  EXPECT_EQ(results[0].type.shape, (Dims{2, 1, 2}));
  EXPECT_THAT(values_of<double>(results[0]), ElementsAre(1, 2, -4, 8));
}

TEST(SolveTriangular, DeclinesWhatItDoesNotCover) {
  const TestTensor doubles = tensor_of<double>(DType::F64, {1, 1}, {1});
  EXPECT_THROW(triangular(floats({1, 1}, {1}), doubles, true, true, false).lower(), Declined);
  EXPECT_THAT(error_of([] { triangular(kLeft, kLeft, true, true, false).lower(); }),
              HasSubstr("must be batches of square matrices, but they are 2 by 3 matrices"));
}

}  // namespace
}  // namespace opentrn::lowering::testing
