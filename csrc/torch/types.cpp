#include "torch/types.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace opentrn::torch_backend {
namespace {

using Pair = std::pair<c10::ScalarType, DType>;

constexpr std::array<Pair, 21> kPairs{{
    {c10::ScalarType::Bool, DType::Bool},
    {c10::ScalarType::Byte, DType::U8},
    {c10::ScalarType::Char, DType::I8},
    {c10::ScalarType::UInt16, DType::U16},
    {c10::ScalarType::Short, DType::I16},
    {c10::ScalarType::UInt32, DType::U32},
    {c10::ScalarType::Int, DType::I32},
    {c10::ScalarType::UInt64, DType::U64},
    {c10::ScalarType::Long, DType::I64},
    {c10::ScalarType::Float8_e4m3fn, DType::F8E4M3FN},
    {c10::ScalarType::Float8_e5m2, DType::F8E5M2},
    {c10::ScalarType::Float8_e4m3fnuz, DType::F8E4M3FNUZ},
    {c10::ScalarType::Float8_e5m2fnuz, DType::F8E5M2FNUZ},
    {c10::ScalarType::Float8_e8m0fnu, DType::F8E8M0FNU},
    {c10::ScalarType::Half, DType::F16},
    {c10::ScalarType::BFloat16, DType::BF16},
    {c10::ScalarType::Float, DType::F32},
    {c10::ScalarType::Double, DType::F64},
    {c10::ScalarType::ComplexHalf, DType::C32},
    {c10::ScalarType::ComplexFloat, DType::C64},
    {c10::ScalarType::ComplexDouble, DType::C128},
}};

constexpr int8_t kNone = -1;

constexpr auto kByScalarType = [] {
  std::array<int8_t, static_cast<size_t>(c10::ScalarType::NumOptions)> table{};
  for (int8_t& entry : table) entry = kNone;
  for (const Pair& pair : kPairs) table[static_cast<size_t>(pair.first)] = static_cast<int8_t>(pair.second);
  return table;
}();

}  // namespace

std::optional<DType> dtype_of(c10::ScalarType type) noexcept {
  const auto index = static_cast<size_t>(type);
  if (index >= kByScalarType.size() || kByScalarType[index] == kNone) return std::nullopt;
  return static_cast<DType>(kByScalarType[index]);
}

c10::ScalarType scalar_type_of(DType dtype) noexcept {
  for (const Pair& pair : kPairs) {
    if (pair.second == dtype) return pair.first;
  }
  return c10::ScalarType::Undefined;
}

DType require_dtype(c10::ScalarType type, const char* operator_name) {
  if (const auto dtype = dtype_of(type)) return *dtype;
  raise(ErrorKind::Type, {.where = operator_name,
                          .what = "the device holds no tensors of this dtype",
                          .got = c10::toString(type),
                          .expected = "an integer, floating point, complex or bool dtype",
                          .action = "convert the tensor first or keep it on the CPU"});
}

}  // namespace opentrn::torch_backend
