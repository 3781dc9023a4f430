#include "lowering/promotion.h"

#include <gtest/gtest.h>

#include <array>

namespace opentrn::lowering {
namespace {

TensorArgument argument(DType dtype, Dims shape, bool wrapped = false) {
  TensorArgument result;
  result.type = {dtype, std::move(shape)};
  result.wrapped_number = wrapped;
  return result;
}

DType promoted(std::initializer_list<TensorArgument> operands) {
  Promoter promoter(DType::F32);
  for (const TensorArgument& operand : operands) promoter.add(operand);
  return promoter.result();
}

// Rows and columns: bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128.
constexpr std::array kTypes{DType::Bool, DType::U8,   DType::I8,  DType::I16, DType::I32, DType::I64,
                            DType::F16,  DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128};

TEST(PromoteTypes, IsSymmetricAndKeepsEqualTypes) {
  for (const DType left : kTypes) {
    EXPECT_EQ(promote_types(left, left), left);
    for (const DType right : kTypes) EXPECT_EQ(promote_types(left, right), promote_types(right, left));
  }
}

TEST(PromoteTypes, Integers) {
  EXPECT_EQ(promote_types(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promote_types(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote_types(DType::U8, DType::I64), DType::I64);
  EXPECT_EQ(promote_types(DType::I16, DType::I32), DType::I32);
}

TEST(PromoteTypes, Floats) {
  EXPECT_EQ(promote_types(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promote_types(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote_types(DType::BF16, DType::F64), DType::F64);
  EXPECT_EQ(promote_types(DType::F64, DType::C64), DType::C128);
  EXPECT_EQ(promote_types(DType::BF16, DType::C64), DType::C64);
  EXPECT_EQ(promote_types(DType::F16, DType::C32), DType::C32);
}

TEST(PromoteTypes, RefusesWideUnsignedWithSigned) {
  EXPECT_THROW(promote_types(DType::U16, DType::I32), Error);
  EXPECT_THROW(promote_types(DType::F8E4M3FN, DType::F32), Error);
}

TEST(Promoter, ZeroDimensionalTensorsAreWeak) {
  EXPECT_EQ(promoted({argument(DType::F16, {2}), argument(DType::F32, {})}), DType::F16);
  EXPECT_EQ(promoted({argument(DType::U8, {1}), argument(DType::I64, {})}), DType::U8);
  EXPECT_EQ(promoted({argument(DType::I64, {2}), argument(DType::F16, {})}), DType::F16);
  EXPECT_EQ(promoted({argument(DType::I64, {}), argument(DType::F16, {2})}), DType::F16);
  EXPECT_EQ(promoted({argument(DType::F64, {2}), argument(DType::C64, {})}), DType::C128);
}

TEST(Promoter, PythonNumbersAreWeakest) {
  EXPECT_EQ(promoted({argument(DType::I32, {2}), argument(DType::F64, {}, true)}), DType::F32);
  EXPECT_EQ(promoted({argument(DType::I32, {}), argument(DType::I64, {}, true)}), DType::I32);
  EXPECT_EQ(promoted({argument(DType::Bool, {2}), argument(DType::I64, {}, true)}), DType::I64);
  EXPECT_EQ(promoted({argument(DType::BF16, {}), argument(DType::F64, {}, true)}), DType::BF16);
  EXPECT_EQ(promoted({argument(DType::F32, {2}), argument(DType::C128, {}, true)}), DType::C64);
}

TEST(Promoter, NeedsAnOperand) { EXPECT_THROW(Promoter(DType::F32).result(), Error); }

TEST(CanCast, RefusesLossOfCategory) {
  EXPECT_FALSE(can_cast(DType::C64, DType::F32));
  EXPECT_FALSE(can_cast(DType::F32, DType::I64));
  EXPECT_FALSE(can_cast(DType::I64, DType::Bool));
  EXPECT_TRUE(can_cast(DType::F64, DType::F16));
  EXPECT_TRUE(can_cast(DType::I64, DType::I8));
  EXPECT_TRUE(can_cast(DType::Bool, DType::C64));
}

}  // namespace
}  // namespace opentrn::lowering
