// Attributes as they are written: dictionaries, lists, arrays, nested structures.
#include <charconv>
#include <cstring>

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

int64_t AttributeMap::take_integer_or(const std::string& key, int64_t otherwise) {
  return has(key) ? take_integer(key) : otherwise;
}

std::string AttributeMap::spelling(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (has(name)) return name;
  }
  return *names.begin();
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

// "[0, 1]", also nested and of words; flattened. Flags count as 0 and 1.
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
    if (item.word == "true" || item.word == "false") value.integers.push_back(item.word == "true" ? 1 : 0);
    value.word = item.word;
    if (lexer.take(":")) lexer.expect_kind(TokenKind::Word, "the type of an attribute");
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

// The integers among the elements, for whoever takes the attribute as a list.
Dims list_of(const TensorType& type, const std::vector<std::byte>& elements) {
  Dims integers;
  const auto size = static_cast<size_t>(size_of(type.dtype));
  for (size_t i = 0; i + size <= elements.size(); i += size) {
    integers.push_back(visit_dtype(type.dtype, [&]<typename T>() -> int64_t {
      if constexpr (std::is_integral_v<T>) {
        T element;
        std::memcpy(&element, elements.data() + i, sizeof(T));
        return static_cast<int64_t>(element);
      } else {
        return 0;
      }
    }));
  }
  if (integers.size() == 1) integers.resize(static_cast<size_t>(type.elements()), integers.front());
  return integers;
}

// "dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>"
AttributeValue parse_elements(Lexer& lexer) {
  const Token where = lexer.peek();
  const DenseLiteral literal = parse_dense(lexer);
  lexer.expect(":");
  const WrittenType type = parse_type(lexer);
  AttributeValue value;
  value.type = type.type;
  value.elements = dense_bytes(lexer, where, literal, type.type);
  if (is_integral(type.type.dtype)) value.integers = list_of(type.type, value.elements);
  return value;
}

// "#stablehlo.gather<offset_dims = [1], ...>", "#stablehlo<precision HIGHEST>", the alias already taken.
AttributeValue parse_structure(Lexer& lexer) {
  AttributeValue value;
  if (!lexer.take("<")) return value;
  if (lexer.peek().is("[")) {
    value = parse_convolution_numbers(lexer);
    lexer.expect(">");
    return value;
  }
  while (!lexer.peek().is(">")) {
    const Token key = lexer.expect_kind(TokenKind::Word, "a field");
    if (!lexer.take("=")) {
      value.word = key.text;
      lexer.take(",");
      continue;
    }
    value.fields[key.text] = parse_attribute_value(lexer);
    if (!lexer.take(",")) break;
  }
  lexer.expect(">");
  return value;
}

AttributeValue parse_word_value(Lexer& lexer) {
  if (lexer.peek().is_word("dense")) return parse_elements(lexer);
  const Token word = lexer.next();
  if (word.text == "array") return parse_array(lexer);
  AttributeValue value;
  value.word = word.text;
  if (word.text == "loc" && lexer.peek().is("(")) lexer.skip_brackets("(", ")");
  if (word.text == "tensor" && lexer.peek().is("<")) lexer.take_angle_brackets();
  return value;
}

// "0.5", "1.0e-3": kept as it is written.
AttributeValue parse_number_value(Lexer& lexer) {
  AttributeValue value;
  if (lexer.peek().text.find('.') == std::string::npos) {
    value.integers.push_back(parse_integer(lexer));
  } else {
    value.word = lexer.next().text;
  }
  return value;
}

// One side of a convolution's numbers: which dimension each letter names, and which each spatial dimension is.
void parse_convolution_side(Lexer& lexer, AttributeValue& numbers, const std::string& side, char first,
                            const std::string& first_name, char second, const std::string& second_name) {
  std::map<int64_t, int64_t> spatial;
  int64_t dimension = 0;
  lexer.expect("[");
  do {
    const Token token = lexer.next();
    if (token.kind == TokenKind::Word && token.text == std::string(1, first)) {
      numbers.fields[side + first_name].integers = {dimension};
    } else if (token.kind == TokenKind::Word && token.text == std::string(1, second)) {
      numbers.fields[side + second_name].integers = {dimension};
    } else if (token.kind == TokenKind::Number && token.text.size() == 1) {
      spatial[token.text[0] - '0'] = dimension;
    } else if (!token.is("?")) {
      lexer.fail(token, "a dimension of a convolution is not understood", token.text,
                 concat(first, ", ", second, " or the number of a spatial dimension"));
    }
    ++dimension;
  } while (lexer.take(","));
  lexer.expect("]");
  Dims& list = numbers.fields[side + "_spatial_dimensions"].integers;
  for (const auto& [number, place] : spatial) list.push_back(place);
}

}  // namespace

AttributeValue parse_convolution_numbers(Lexer& lexer) {
  AttributeValue numbers;
  parse_convolution_side(lexer, numbers, "input", 'b', "_batch_dimension", 'f', "_feature_dimension");
  lexer.expect_word("x");
  parse_convolution_side(lexer, numbers, "kernel", 'i', "_input_feature_dimension", 'o', "_output_feature_dimension");
  lexer.expect("->");
  parse_convolution_side(lexer, numbers, "output", 'b', "_batch_dimension", 'f', "_feature_dimension");
  return numbers;
}

AttributeValue parse_attribute_value(Lexer& lexer) {
  AttributeValue value;
  switch (lexer.peek().kind) {
    case TokenKind::Number: return parse_number_value(lexer);
    case TokenKind::Word: return parse_word_value(lexer);
    case TokenKind::Alias: lexer.next(); return parse_structure(lexer);
    case TokenKind::Text:
    case TokenKind::Symbol: value.word = lexer.next().text; return value;
    case TokenKind::Mark: break;
    default: lexer.fail_expected("the value of an attribute");
  }
  if (lexer.peek().is("[")) {
    parse_list(lexer, value);
  } else if (lexer.peek().is("<")) {
    value = parse_structure(lexer);
  } else if (lexer.peek().is("{")) {
    value.fields = parse_dictionary(lexer).release();
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
    if (lexer.take(":")) parse_attribute_value(lexer);  // its type
    attributes.insert(key, std::move(value));
    if (!lexer.take(",")) break;
  }
  lexer.expect("}");
  return attributes;
}

// The list under either of its names: that of the generic form, that of the pretty one.
Dims list_named(AttributeMap& attributes, std::initializer_list<const char*> names) {
  return attributes.take_list(attributes.spelling(names));
}

int64_t integer_named(AttributeMap& attributes, std::initializer_list<const char*> names) {
  return attributes.take_integer(attributes.spelling(names));
}

// "[[low, high], ...]"
void split_padding(AttributeMap& attributes, const std::string& key, size_t rank, Dims& low, Dims& high) {
  const Dims padding = attributes.take_list_or(key, Dims(2 * rank, 0));
  if (padding.size() != 2 * rank) {
    attributes.fail("'" + key + "' has a wrong length", opentrn::to_string(padding), "two a dimension");
  }
  for (size_t i = 0; i < rank; ++i) {
    low.push_back(padding[2 * i]);
    high.push_back(padding[2 * i + 1]);
  }
}

}  // namespace opentrn::ir::text
