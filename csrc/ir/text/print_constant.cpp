#include <charconv>
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "ir/constants.h"
#include "ir/text.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

constexpr int64_t kLongestList = 64;  // more elements than that are printed as one string of bytes

char hex_digit(unsigned value) { return "0123456789ABCDEF"[value & 15u]; }

// Most significant byte first, as a number is written.
std::string print_bits(const std::byte* element, int64_t size) {
  std::string text = "0x";
  for (int64_t i = size; i-- > 0;) {
    const auto byte = std::to_integer<unsigned>(element[i]);
    text += {hex_digit(byte >> 4), hex_digit(byte)};
  }
  return text;
}

template <typename Number>
std::string shortest(Number value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

// A float literal of MLIR has a decimal point.
std::string with_point(std::string digits) {
  if (digits.find('.') != std::string::npos) return digits;
  const size_t exponent = digits.find('e');
  digits.insert(exponent == std::string::npos ? digits.size() : exponent, ".0");
  return digits;
}

template <typename Float>
std::string print_float(DType dtype, const std::byte* element) {
  Float value;
  std::memcpy(&value, element, sizeof(Float));
  using Printed = std::conditional_t<std::is_same_v<Float, double>, double, float>;
  const auto number = static_cast<Printed>(value);
  if (std::isfinite(number)) {
    const std::string digits = with_point(shortest(number));
    double read = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), read);
    const std::vector<std::byte> bits = element_bytes(dtype, read);
    if (std::memcmp(bits.data(), element, bits.size()) == 0) return digits;
  }
  return print_bits(element, size_of(dtype));
}

template <typename T>
std::string print_one(DType dtype, const std::byte* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *element != std::byte{0} ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return std::to_string(value);
  } else if constexpr (is_complex_type<T>) {
    const DType part = real_dtype(dtype);
    return "(" + print_element(part, element) + ", " + print_element(part, element + size_of(part)) + ")";
  } else {
    return print_float<T>(dtype, element);
  }
}

// Advances `element` over what it prints.
std::string print_nested(DType dtype, const Dims& shape, size_t dimension, const std::byte*& element) {
  if (dimension == shape.size()) {
    const std::byte* current = element;
    element += size_of(dtype);
    return print_element(dtype, current);
  }
  std::string text = "[";
  for (int64_t i = 0; i < shape[dimension]; ++i) {
    if (i > 0) text += ", ";
    text += print_nested(dtype, shape, dimension + 1, element);
  }
  return text + "]";
}

std::string print_bytes(const std::vector<std::byte>& data) {
  std::string text = "\"0x";
  for (const std::byte byte : data) {
    const auto value = std::to_integer<unsigned>(byte);
    text += {hex_digit(value >> 4), hex_digit(value)};
  }
  return text + "\"";
}

std::string print_list(const TensorType& type, const std::vector<std::byte>& data) {
  if (data.empty()) return "";
  if (static_cast<int64_t>(data.size()) == size_of(type.dtype)) return print_element(type.dtype, data.data());
  if (type.elements() > kLongestList && !is_bool(type.dtype)) return print_bytes(data);
  const std::byte* element = data.data();
  return print_nested(type.dtype, type.shape, 0, element);
}

}  // namespace

std::string print_element(DType dtype, const std::byte* element) {
  return visit_dtype(dtype, [&]<typename T>() { return print_one<T>(dtype, element); });
}

std::string print_constant(const TensorType& type, const ConstantAttributes& constant) {
  return "dense<" + print_list(type, constant.data) + ">";
}

}  // namespace opentrn::ir::text

namespace opentrn::ir {

std::string print_elements(const TensorType& type, const std::vector<std::byte>& data) {
  return text::print_constant(type, {data}) + " : " + to_string(type);
}

}  // namespace opentrn::ir
