#include "base/dtype.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace opentrn {
namespace {

TEST(DType, TheTableAgreesWithTheTypesThatHoldElements) {
  for (const DTypeInfo& row : dtype_table()) {
    const size_t size = visit_dtype(row.dtype, []<typename T>() { return sizeof(T); });
    EXPECT_EQ(static_cast<size_t>(row.size), size) << row.name;
    EXPECT_EQ(&info(row.dtype), &row);
    EXPECT_EQ(dtype_from_name(row.name), row.dtype);
  }
  EXPECT_EQ(dtype_table().size(), 21u);
  EXPECT_EQ(dtype_from_name("f99"), std::nullopt);
}

TEST(DType, CategoriesAreThoseOfCpp) {
  for (const DTypeInfo& row : dtype_table()) {
    visit_dtype(row.dtype, [&]<typename T>() {
      EXPECT_EQ(is_bool(row.dtype), (std::is_same_v<T, bool>));
      EXPECT_EQ(is_integer(row.dtype), (std::is_integral_v<T> && !std::is_same_v<T, bool>));
      EXPECT_EQ(category(row.dtype) == Category::Unsigned, (std::is_unsigned_v<T> && !std::is_same_v<T, bool>));
      EXPECT_EQ(is_float(row.dtype), (std::is_convertible_v<T, float> && !std::is_integral_v<T>));
    });
  }
}

TEST(DType, ComputeAndRealTypes) {
  EXPECT_EQ(compute_dtype(DType::BF16), DType::F32);
  EXPECT_EQ(compute_dtype(DType::F8E4M3FN), DType::F32);
  EXPECT_EQ(compute_dtype(DType::C32), DType::C64);
  EXPECT_EQ(compute_dtype(DType::F64), DType::F64);
  EXPECT_EQ(compute_dtype(DType::I8), DType::I8);
  EXPECT_EQ(real_dtype(DType::C32), DType::F16);
  EXPECT_EQ(real_dtype(DType::C128), DType::F64);
  EXPECT_EQ(real_dtype(DType::I64), DType::I64);
}

}  // namespace
}  // namespace opentrn
