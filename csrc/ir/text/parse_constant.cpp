#include <charconv>
#include <cstring>

#include "base/convert.h"
#include "base/error.h"
#include "ir/constants.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

bool is_leaf(const Token& token) {
  return token.kind == TokenKind::Number || token.is_word("true") || token.is_word("false");
}

void parse_leaf(Lexer& lexer, DenseLiteral& literal) {
  const bool complex = lexer.take("(");
  for (int part = 0; part < (complex ? 2 : 1); ++part) {
    if (part == 1) lexer.expect(",");
    if (!is_leaf(lexer.peek())) lexer.fail_expected("a number, true or false");
    literal.leaves.push_back(lexer.next());
  }
  if (complex) lexer.expect(")");
}

// Every list of one depth must have the same length: the first one sets it.
void parse_nested(Lexer& lexer, DenseLiteral& literal, size_t depth) {
  if (!lexer.peek().is("[")) {
    if (depth != literal.shape.size()) lexer.fail(lexer.peek(), "the lists of a constant have different depths");
    return parse_leaf(lexer, literal);
  }
  const Token where = lexer.next();
  const bool first = depth == literal.shape.size() && literal.leaves.empty();
  if (first) literal.shape.resize(depth + 1, -1);
  if (depth >= literal.shape.size()) lexer.fail(where, "the lists of a constant have different depths");
  int64_t length = 0;
  if (!lexer.take("]")) {
    do {
      parse_nested(lexer, literal, depth + 1);
      ++length;
    } while (lexer.take(","));
    lexer.expect("]");
  }
  int64_t& expected = literal.shape[depth];
  if (expected < 0) expected = length;
  if (expected != length) {
    lexer.fail(where, "the lists of a constant have different lengths", std::to_string(length),
               std::to_string(expected));
  }
}

template <typename Number>
Number read_number(const Lexer& lexer, const Token& token, int base = 10) {
  const bool hex = base == 16;
  const std::string_view text = std::string_view(token.text).substr(hex ? 2 : 0);
  Number value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  }
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    lexer.fail(token, "a number does not fit the element type", token.text);
  }
  return value;
}

// The bits of a hexadecimal literal, which must have as many digits as the type has.
std::vector<std::byte> read_bits(const Lexer& lexer, const Token& token, DType dtype) {
  const auto size = static_cast<size_t>(size_of(dtype));
  if (token.text.size() != 2 + 2 * size) {
    lexer.fail(token, "a bit pattern has a wrong width", token.text, concat(2 * size, " digits for ", name(dtype)));
  }
  const auto bits = read_number<uint64_t>(lexer, token, 16);
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(bits >> (8 * i) & 0xFFu);
  return bytes;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::vector<std::byte> read_bool(const Lexer& lexer, const Token& token) {
  if (token.text == "true" || token.text == "1") return bytes_of(true);
  if (token.text == "false" || token.text == "0") return bytes_of(false);
  lexer.fail(token, "an element of i1 is no bool", token.text, "true or false");
}

// A leaf of a real type.
std::vector<std::byte> read_leaf(const Lexer& lexer, const Token& token, DType dtype) {
  if (is_bool(dtype)) return read_bool(lexer, token);
  if (token.kind != TokenKind::Number) lexer.fail(token, "an element is no number", token.text);
  const bool hex = token.text.starts_with("0x");
  if (is_float(dtype)) {
    return hex ? read_bits(lexer, token, dtype) : element_bytes(dtype, read_number<double>(lexer, token));
  }
  return visit_dtype(dtype, [&]<typename T>() -> std::vector<std::byte> {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return bytes_of(read_number<T>(lexer, token, hex ? 16 : 10));
    } else {
      return {};
    }
  });
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::vector<std::byte> read_byte_string(const Lexer& lexer, const Token& where, const std::string& text) {
  std::vector<std::byte> bytes;
  if (!text.starts_with("0x") || text.size() % 2 != 0) lexer.fail(where, "a constant is no string of hex digits");
  for (size_t i = 2; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) lexer.fail(where, "a constant has a wrong hex digit", text.substr(i, 2));
    bytes.push_back(std::byte(static_cast<unsigned>(high * 16 + low)));
  }
  return bytes;
}

// Tools disagree about bools in byte strings: one a byte or, the first in the lowest bit, eight a byte; the length
// tells which. One byte 0xFF is true for all.
std::vector<std::byte> read_bools(const std::vector<std::byte>& bytes, int64_t elements) {
  const bool packed = static_cast<int64_t>(bytes.size()) == (elements + 7) / 8 && elements > 1;
  const bool splat = bytes.size() == 1 && (bytes[0] == std::byte{0} || bytes[0] == std::byte{0xFF});
  std::vector<std::byte> bools;
  for (int64_t i = 0; packed && !splat && i < elements; ++i) {
    bools.push_back(bytes[static_cast<size_t>(i / 8)] >> (i % 8) & std::byte{1});
  }
  if (packed && !splat) return bools;
  for (const std::byte byte : bytes) bools.push_back(std::byte(byte != std::byte{0} ? 1 : 0));
  return bools;
}

void require_size(const Lexer& lexer, const Token& where, size_t got, size_t expected, const TensorType& type) {
  if (got == expected) return;
  lexer.fail(where, "a constant has a wrong number of bytes", std::to_string(got),
             concat(expected, " for ", to_string(type)));
}

}  // namespace

DenseLiteral parse_dense(Lexer& lexer) {
  lexer.expect_word("dense");
  lexer.expect("<");
  DenseLiteral literal;
  if (lexer.peek().kind == TokenKind::Text) {
    literal.bytes = lexer.next().text;
  } else if (lexer.peek().is(">")) {
    literal.empty = true;
  } else {
    parse_nested(lexer, literal, 0);
  }
  lexer.expect(">");
  return literal;
}

std::vector<std::byte> dense_bytes(const Lexer& lexer, const Token& where, const DenseLiteral& literal,
                                   const TensorType& type) {
  const auto element = static_cast<size_t>(size_of(type.dtype));
  const auto whole = static_cast<size_t>(type.bytes());
  if (literal.bytes) {
    std::vector<std::byte> bytes = read_byte_string(lexer, where, *literal.bytes);
    if (is_bool(type.dtype)) bytes = read_bools(bytes, type.elements());
    if (bytes.size() != element) require_size(lexer, where, bytes.size(), whole, type);
    return normalised_data(type, std::move(bytes));
  }
  if (literal.shape.empty() && !literal.empty && type.elements() == 0) return {};  // a splat of nothing
  if (literal.empty || type.elements() == 0) {
    require_size(lexer, where, literal.leaves.size(), 0, type);
    require_size(lexer, where, 0, whole, type);
    return {};
  }
  if (!literal.shape.empty() && literal.shape != type.shape) {
    lexer.fail(where, "a constant has another shape than its type", to_string(literal.shape), to_string(type));
  }
  std::vector<std::byte> bytes;
  for (const Token& leaf : literal.leaves) {
    const std::vector<std::byte> one = read_leaf(lexer, leaf, real_dtype(type.dtype));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  require_size(lexer, where, bytes.size(), literal.shape.empty() ? element : whole, type);
  return normalised_data(type, std::move(bytes));
}

}  // namespace opentrn::ir::text
