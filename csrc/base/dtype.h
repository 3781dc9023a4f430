// Element types. One table holds every fact about a type; nothing else in the project lists them.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/half.h"

namespace opentrn {

enum class DType : uint8_t {
  Bool,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E8M0FNU,
  F16,
  BF16,
  F32,
  F64,
  C32,
  C64,
  C128,
};

enum class Category : uint8_t { Bool, Unsigned, Signed, Float, Complex };

struct DTypeInfo {
  DType dtype;
  std::string_view name;        // StableHLO's element type, e.g. "bf16"
  std::string_view torch_name;  // PyTorch's, e.g. "bfloat16"
  int64_t size;                 // bytes
  Category category;
};

/// All element types in the order of the enumeration.
std::span<const DTypeInfo> dtype_table();

const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline int64_t size_of(DType dtype) { return info(dtype).size; }
inline Category category(DType dtype) { return info(dtype).category; }

inline bool is_bool(DType dtype) { return category(dtype) == Category::Bool; }
inline bool is_integer(DType dtype) {
  return category(dtype) == Category::Signed || category(dtype) == Category::Unsigned;
}
inline bool is_integral(DType dtype) { return is_integer(dtype) || is_bool(dtype); }
inline bool is_float(DType dtype) { return category(dtype) == Category::Float; }
inline bool is_complex(DType dtype) { return category(dtype) == Category::Complex; }

/// The type arithmetic on `dtype` is done in: float32 for the narrow floats, complex64 for complex32, else itself.
DType compute_dtype(DType dtype);

/// The real type of a complex type's parts; other types are returned unchanged.
DType real_dtype(DType dtype);

std::optional<DType> dtype_from_name(std::string_view stablehlo_name);

/// Calls `function.operator()<T>()` with the C++ type that holds one element of `dtype`.
template <typename Function>
decltype(auto) visit_dtype(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::Bool: return function.template operator()<bool>();
    case DType::U8: return function.template operator()<uint8_t>();
    case DType::I8: return function.template operator()<int8_t>();
    case DType::U16: return function.template operator()<uint16_t>();
    case DType::I16: return function.template operator()<int16_t>();
    case DType::U32: return function.template operator()<uint32_t>();
    case DType::I32: return function.template operator()<int32_t>();
    case DType::U64: return function.template operator()<uint64_t>();
    case DType::I64: return function.template operator()<int64_t>();
    case DType::F8E4M3FN: return function.template operator()<Float8E4M3FN>();
    case DType::F8E5M2: return function.template operator()<Float8E5M2>();
    case DType::F8E4M3FNUZ: return function.template operator()<Float8E4M3FNUZ>();
    case DType::F8E5M2FNUZ: return function.template operator()<Float8E5M2FNUZ>();
    case DType::F8E8M0FNU: return function.template operator()<Float8E8M0FNU>();
    case DType::F16: return function.template operator()<Half>();
    case DType::BF16: return function.template operator()<BFloat16>();
    case DType::F32: return function.template operator()<float>();
    case DType::F64: return function.template operator()<double>();
    case DType::C32: return function.template operator()<ComplexHalf>();
    case DType::C64: return function.template operator()<std::complex<float>>();
    case DType::C128: return function.template operator()<std::complex<double>>();
  }
  __builtin_unreachable();
}

}  // namespace opentrn
