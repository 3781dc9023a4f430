#include "ir/constants.h"

#include <cstring>
#include <limits>

#include "base/convert.h"
#include "base/error.h"

namespace opentrn::ir {

namespace {

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// The code of the largest finite element of the types that have no infinity; 0 for the others.
uint8_t largest_finite_code(DType dtype) {
  switch (dtype) {
    case DType::F8E4M3FN: return 0x7E;
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2FNUZ: return 0x7F;
    default: return 0;
  }
}

std::vector<std::byte> extreme_float(DType dtype, bool lowest) {
  if (dtype == DType::F8E8M0FNU) return {lowest ? std::byte{0x00} : std::byte{0xFE}};
  if (const uint8_t code = largest_finite_code(dtype); code != 0) return {std::byte(lowest ? code | 0x80 : code)};
  const double infinity = std::numeric_limits<double>::infinity();
  return element_bytes(dtype, lowest ? -infinity : infinity);
}

// The lowest element of the type, or its greatest one.
std::vector<std::byte> extreme(DType dtype, bool lowest) {
  if (is_float(dtype)) return extreme_float(dtype, lowest);
  return visit_dtype(dtype, [lowest]<typename T>() -> std::vector<std::byte> {
    if constexpr (std::is_integral_v<T>) {
      return bytes_of(lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
    } else {
      return {};
    }
  });
}

}  // namespace

std::vector<std::byte> element_bytes(DType dtype, double value) {
  return visit_dtype(dtype, [value]<typename T>() { return bytes_of(convert_element<T>(value)); });
}

std::vector<std::byte> normalised_data(const TensorType& type, std::vector<std::byte> data) {
  const auto element = static_cast<size_t>(size_of(type.dtype));
  if (type.elements() == 0 && data.size() == element) return {};
  if (static_cast<int64_t>(data.size()) != type.bytes() || data.size() <= element) return data;
  if (std::memcmp(data.data(), data.data() + element, data.size() - element) == 0) data.resize(element);
  return data;
}

std::vector<std::byte> neutral_element(Op reducer, DType dtype) {
  switch (reducer) {
    case Op::Add:
    case Op::Or:
    case Op::Xor:
      if (dtype != DType::F8E8M0FNU) return element_bytes(dtype, 0);
      break;
    case Op::Multiply: return element_bytes(dtype, 1);
    case Op::And:
      return std::vector<std::byte>(static_cast<size_t>(size_of(dtype)), std::byte(is_bool(dtype) ? 1 : 0xFF));
    case Op::Maximum: return extreme(dtype, true);
    case Op::Minimum: return extreme(dtype, false);
    default: break;
  }
  raise(ErrorKind::Runtime, {.where = std::string(name(reducer)),
                             .what = "there is no neutral element",
                             .got = std::string(name(dtype)),
                             .expected = "add, multiply, maximum, minimum, and, or, xor on a type that has one",
                             .action = "reduce with an explicit initial value"});
}

}  // namespace opentrn::ir
