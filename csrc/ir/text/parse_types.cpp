#include <charconv>

#include "base/error.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

// "2x3xf32"
TensorType read_type(const Lexer& lexer, const Token& where, std::string_view text) {
  TensorType type;
  for (;;) {
    int64_t size = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto length = static_cast<size_t>(end - text.data());
    if (length == 0) break;
    if (status != std::errc() || size < 0 || length == text.size() || text[length] != 'x') {
      lexer.fail(where, "a tensor type has a wrong size", std::string(text), "sizes with 'x' after each");
    }
    type.shape.push_back(size);
    text.remove_prefix(length + 1);
  }
  const std::optional<DType> dtype = dtype_from_name(text);
  if (!dtype)
    lexer.fail(where, "unknown element type", "'" + std::string(text) + "'", "a static shape and a known type");
  type.dtype = *dtype;
  return type;
}

// "(T, T)", or "T, T" without parentheses.
std::vector<TensorType> parse_types(Lexer& lexer) {
  return lexer.peek().is("(") ? parse_type_list(lexer) : std::vector<TensorType>{parse_type(lexer)};
}

}  // namespace

TensorType parse_type(Lexer& lexer) {
  const Token where = lexer.peek();
  lexer.expect_word("tensor");
  return read_type(lexer, where, lexer.take_angle_brackets());
}

std::vector<TensorType> parse_type_list(Lexer& lexer) {
  std::vector<TensorType> types;
  lexer.expect("(");
  if (lexer.take(")")) return types;
  do {
    types.push_back(parse_type(lexer));
  } while (lexer.take(","));
  lexer.expect(")");
  return types;
}

Signature parse_signature(Lexer& lexer, size_t operands) {
  lexer.expect(":");
  if (lexer.peek().is("(")) {
    Signature signature{parse_type_list(lexer), {}};
    lexer.expect("->");
    signature.results = parse_types(lexer);
    return signature;
  }
  std::vector<TensorType> types{parse_type(lexer)};
  while (lexer.take(",")) types.push_back(parse_type(lexer));
  if (!lexer.take("->")) return {std::nullopt, {types.back()}};
  std::vector<TensorType> results = parse_types(lexer);
  if (types.size() == 1) types.resize(operands, types.front());
  return {std::move(types), std::move(results)};
}

}  // namespace opentrn::ir::text
