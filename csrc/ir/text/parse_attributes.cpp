// Attributes as they are written: dictionaries, lists, arrays, nested structures.
#include <charconv>

#include "base/error.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

void AttributeMap::insert(const Token& key, AttributeValue value) {
  if (!values_.emplace(key.text, std::move(value)).second) lexer_->fail(key, "an attribute is given twice", key.text);
}

void AttributeMap::insert_all(AttributeMap fields) {
  for (auto& [key, value] : fields.values_)
    insert(Token{TokenKind::Word, key, fields.where_.position}, std::move(value));
}

void AttributeMap::fail(std::string what, std::string got, std::string expected) const {
  lexer_->fail(where_, std::move(what), std::move(got), std::move(expected));
}

AttributeValue AttributeMap::take(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) fail("an attribute is missing", "none", "'" + key + "'");
  AttributeValue value = std::move(found->second);
  values_.erase(found);
  return value;
}

Dims AttributeMap::take_list(const std::string& key) { return take(key).integers; }

Dims AttributeMap::take_list_or(const std::string& key, Dims otherwise) {
  return has(key) ? take_list(key) : std::move(otherwise);
}

int64_t AttributeMap::take_integer(const std::string& key) {
  const Dims values = take_list(key);
  if (values.size() != 1) fail("'" + key + "' is no integer", to_string(values), "one integer");
  return values.front();
}

bool AttributeMap::take_flag_or(const std::string& key, bool otherwise) {
  if (!has(key)) return otherwise;
  const std::string word = take_word(key);
  if (word != "true" && word != "false") fail("'" + key + "' is no flag", "'" + word + "'", "true or false");
  return word == "true";
}

std::string AttributeMap::take_word(const std::string& key) { return take(key).word; }

AttributeMap AttributeMap::take_fields(const std::string& key) {
  AttributeMap fields(*lexer_, where_);
  fields.values_ = take(key).fields;
  return fields;
}

void AttributeMap::expect_empty() const {
  for (const auto& [key, value] : values_) {
    // Names with a dot are annotations of other dialects (mhlo.sharding, jax.result_info), which change no value.
    if (key.find('.') == std::string::npos) fail("unknown attribute", "'" + key + "'", "an attribute of the operation");
  }
}

int64_t parse_integer(Lexer& lexer) {
  const Token token = lexer.expect_kind(TokenKind::Number, "an integer");
  int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [rest, status] = std::from_chars(token.text.data(), end, value);
  if (status != std::errc() || rest != end) lexer.fail(token, "not a 64-bit integer", token.text, "an integer");
  return value;
}

namespace {

// "[0, 1]", also nested and of words; flattened.
void parse_list(Lexer& lexer, AttributeValue& value) {
  lexer.expect("[");
  if (lexer.take("]")) return;
  do {
    if (lexer.peek().is("[")) {
      parse_list(lexer, value);
      continue;
    }
    const AttributeValue item = parse_attribute_value(lexer);
    value.integers.insert(value.integers.end(), item.integers.begin(), item.integers.end());
    value.word += item.word;
  } while (lexer.take(","));
  lexer.expect("]");
}

// "array<i64: 1, 2>", the word already taken.
AttributeValue parse_array(Lexer& lexer) {
  AttributeValue value;
  lexer.expect("<");
  const Token type = lexer.expect_kind(TokenKind::Word, "an element type");
  if (lexer.take(":")) {
    do {
      if (type.text == "i1") {
        value.integers.push_back(lexer.expect_kind(TokenKind::Word, "true or false").text == "true" ? 1 : 0);
      } else {
        value.integers.push_back(parse_integer(lexer));
      }
    } while (lexer.take(","));
  }
  lexer.expect(">");
  return value;
}

// "dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>", only of integers.
AttributeValue parse_dense_integers(Lexer& lexer) {
  const Token where = lexer.peek();
  const DenseLiteral literal = parse_dense(lexer);
  lexer.expect(":");
  TensorType type = parse_type(lexer);
  if (type.dtype != DType::I64) lexer.fail(where, "an attribute has a wrong element type", to_string(type), "i64");
  const std::vector<std::byte> bytes = dense_bytes(lexer, where, literal, type);
  AttributeValue value;
  for (size_t i = 0; i + sizeof(int64_t) <= bytes.size(); i += sizeof(int64_t)) {
    uint64_t word = 0;
    for (size_t byte = sizeof(int64_t); byte-- > 0;) word = word << 8 | std::to_integer<uint64_t>(bytes[i + byte]);
    value.integers.push_back(static_cast<int64_t>(word));
  }
  if (value.integers.size() == 1) value.integers.resize(static_cast<size_t>(type.elements()), value.integers.front());
  return value;
}

// "#stablehlo.gather<offset_dims = [1], ...>", the alias already taken.
AttributeValue parse_structure(Lexer& lexer) {
  AttributeValue value;
  if (!lexer.take("<")) return value;
  while (!lexer.peek().is(">")) {
    const Token key = lexer.expect_kind(TokenKind::Word, "a field");
    if (lexer.take("=")) {
      value.fields[key.text] = parse_attribute_value(lexer);
    } else {
      value.word += key.text;
    }
    if (!lexer.take(",")) break;
  }
  lexer.expect(">");
  return value;
}

AttributeValue parse_word_value(Lexer& lexer) {
  if (lexer.peek().is_word("dense")) return parse_dense_integers(lexer);
  const Token word = lexer.next();
  if (word.text == "array") return parse_array(lexer);
  AttributeValue value;
  value.word = word.text;
  return value;
}

}  // namespace

AttributeValue parse_attribute_value(Lexer& lexer) {
  AttributeValue value;
  switch (lexer.peek().kind) {
    case TokenKind::Number: value.integers.push_back(parse_integer(lexer)); return value;
    case TokenKind::Word: return parse_word_value(lexer);
    case TokenKind::Alias: lexer.next(); return parse_structure(lexer);
    case TokenKind::Text:
    case TokenKind::Symbol: value.word = lexer.next().text; return value;
    case TokenKind::Mark: break;
    default: lexer.fail_expected("the value of an attribute");
  }
  if (lexer.peek().is("[")) {
    parse_list(lexer, value);
  } else if (lexer.peek().is("{")) {
    parse_dictionary(lexer);  // of another dialect: nothing of ours is written so
  } else {
    lexer.fail_expected("the value of an attribute");
  }
  return value;
}

AttributeValue parse_clause_value(Lexer& lexer) {
  AttributeValue value = parse_attribute_value(lexer);
  if (lexer.take_word("x")) value.second_list = parse_attribute_value(lexer).integers;
  return value;
}

AttributeMap parse_dictionary(Lexer& lexer) {
  AttributeMap attributes(lexer, lexer.peek());
  lexer.expect("{");
  while (!lexer.peek().is("}")) {
    const bool quoted = lexer.peek().kind == TokenKind::Text;
    const Token key = quoted ? lexer.next() : lexer.expect_kind(TokenKind::Word, "the name of an attribute");
    AttributeValue value;
    value.word = "true";
    if (lexer.take("=")) value = parse_attribute_value(lexer);
    if (lexer.take(":")) lexer.expect_kind(TokenKind::Word, "the type of an attribute");
    attributes.insert(key, std::move(value));
    if (!lexer.take(",")) break;
  }
  lexer.expect("}");
  return attributes;
}

}  // namespace opentrn::ir::text
