#include "base/dtype.h"

#include <array>

namespace opentrn {

namespace {

constexpr std::array<DTypeInfo, 21> kTable{{
    {DType::Bool, "i1", "bool", 1, Category::Bool},
    {DType::U8, "ui8", "uint8", 1, Category::Unsigned},
    {DType::I8, "i8", "int8", 1, Category::Signed},
    {DType::U16, "ui16", "uint16", 2, Category::Unsigned},
    {DType::I16, "i16", "int16", 2, Category::Signed},
    {DType::U32, "ui32", "uint32", 4, Category::Unsigned},
    {DType::I32, "i32", "int32", 4, Category::Signed},
    {DType::U64, "ui64", "uint64", 8, Category::Unsigned},
    {DType::I64, "i64", "int64", 8, Category::Signed},
    {DType::F8E4M3FN, "f8E4M3FN", "float8_e4m3fn", 1, Category::Float},
    {DType::F8E5M2, "f8E5M2", "float8_e5m2", 1, Category::Float},
    {DType::F8E4M3FNUZ, "f8E4M3FNUZ", "float8_e4m3fnuz", 1, Category::Float},
    {DType::F8E5M2FNUZ, "f8E5M2FNUZ", "float8_e5m2fnuz", 1, Category::Float},
    {DType::F8E8M0FNU, "f8E8M0FNU", "float8_e8m0fnu", 1, Category::Float},
    {DType::F16, "f16", "float16", 2, Category::Float},
    {DType::BF16, "bf16", "bfloat16", 2, Category::Float},
    {DType::F32, "f32", "float32", 4, Category::Float},
    {DType::F64, "f64", "float64", 8, Category::Float},
    {DType::C32, "complex<f16>", "complex32", 4, Category::Complex},
    {DType::C64, "complex<f32>", "complex64", 8, Category::Complex},
    {DType::C128, "complex<f64>", "complex128", 16, Category::Complex},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const DTypeInfo> dtype_table() { return kTable; }

const DTypeInfo& info(DType dtype) { return kTable[static_cast<size_t>(dtype)]; }

DType compute_dtype(DType dtype) {
  if (dtype == DType::C32) return DType::C64;
  if (is_float(dtype) && size_of(dtype) < 4) return DType::F32;
  return dtype;
}

DType real_dtype(DType dtype) {
  switch (dtype) {
    case DType::C32: return DType::F16;
    case DType::C64: return DType::F32;
    case DType::C128: return DType::F64;
    default: return dtype;
  }
}

std::optional<DType> dtype_from_name(std::string_view stablehlo_name) {
  for (const DTypeInfo& row : kTable) {
    if (row.name == stablehlo_name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace opentrn
