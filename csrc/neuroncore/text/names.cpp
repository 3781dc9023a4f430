#include "neuroncore/text/names.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "neuroncore/builder.h"

namespace opentrn::neuroncore::text {

std::string_view name(Space space) {
  constexpr std::array<std::string_view, 3> kNames{"hbm", "sbuf", "psum"};
  return kNames[static_cast<size_t>(space)];
}

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 4> kNames{"parameter", "result", "constant", "internal"};
  return kNames[static_cast<size_t>(role)];
}

bool is_identifier_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_identifier_part(char c) { return is_identifier_start(c) || (c >= '0' && c <= '9') || c == '.'; }

bool is_identifier(std::string_view word) {
  if (word.empty() || !is_identifier_start(word.front())) return false;
  for (const char c : word) {
    if (!is_identifier_part(c)) return false;
  }
  return true;
}

namespace {

/// "i3" and "r0" are loops and registers.
bool is_reserved(std::string_view word) {
  return (word.front() == 'i' || word.front() == 'r') &&
         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

std::vector<std::string> buffer_names(const Program& program) {
  std::unordered_map<std::string_view, int> uses;
  for (const Buffer& buffer : program.buffers) ++uses[buffer.name];
  std::vector<std::string> names;
  names.reserve(program.buffers.size());
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const std::string& own = program.buffers[b].name;
    const std::string numbered = concat(own, ".", b);
    if (!is_identifier(own) || is_reserved(own) || uses.contains(numbered)) {
      names.push_back(std::to_string(b));
    } else {
      names.push_back(uses[own] == 1 ? own : numbered);
    }
  }
  return names;
}

std::string hexadecimal(const std::byte* bytes, size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  text.reserve(2 + 2 * count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<size_t>(bytes[i]);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

Immediate from_decimal(DType dtype, const std::string& digits) {
  if (dtype == DType::U64) {
    Immediate result{.dtype = dtype};
    const uint64_t value = std::strtoull(digits.c_str(), nullptr, 10);
    std::memcpy(result.bytes.data(), &value, sizeof value);
    return result;
  }
  if (is_integral(dtype)) return immediate(dtype, static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10)));
  return immediate(dtype, std::strtod(digits.c_str(), nullptr));
}

namespace {

template <typename T>
std::string digits_of(T value) {
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc{} ? std::string(buffer.data(), end) : std::string();
}

std::string digits_of(const Immediate& value) {
  return visit_dtype(value.dtype, [&]<typename T>() -> std::string {
    T stored;
    std::memcpy(&stored, value.bytes.data(), sizeof(T));
    if constexpr (std::is_same_v<T, bool>)
      return stored ? "1" : "0";
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(stored);
    else if constexpr (std::is_floating_point_v<T>)
      return digits_of(stored);
    else if constexpr (std::is_convertible_v<T, float>)
      return digits_of(static_cast<float>(stored));
    else
      return {};
  });
}

}  // namespace

std::string decimal(const Immediate& value) {
  if (value.dtype == DType::Bool && static_cast<unsigned>(value.bytes[0]) > 1) return {};
  const std::string digits = digits_of(value);
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789+-.e") == std::string::npos;
  if (!plain || from_decimal(value.dtype, digits).bytes != value.bytes) return {};
  return digits;
}

}  // namespace opentrn::neuroncore::text
