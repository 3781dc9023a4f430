#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

struct NarrowInteger {
  std::string_view name;
  DType held_in;
  int bits;
};

constexpr NarrowInteger kNarrowIntegers[] = {
    {"i2", DType::I8, 2}, {"i4", DType::I8, 4}, {"ui2", DType::U8, 2}, {"ui4", DType::U8, 4}};

/// The inside of a type, taken apart from the left.
class TypeText {
 public:
  TypeText(const Lexer& lexer, const Token& where, std::string_view text)
      : lexer_(lexer), where_(where), whole_(text), rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    skip_blanks();
    return true;
  }
  void expect(std::string_view prefix) {
    if (!take(prefix)) fail(concat("'", prefix, "'"));
  }
  std::string_view take_until(std::string_view marks) {
    const size_t end = std::min(rest_.find_first_of(marks), rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }
  template <typename Number>
  std::optional<Number> take_number() {
    Number value{};
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (status != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    skip_blanks();
    return value;
  }
  template <typename Number>
  Number expect_number() {
    const std::optional<Number> value = take_number<Number>();
    if (!value) fail("a number");
    return *value;
  }
  [[noreturn]] void fail(std::string expected) const {
    const std::string_view line = whole_.substr(0, whole_.find('\n'));
    lexer_.fail(where_, "a tensor type is not understood", "'" + std::string(line) + "'", std::move(expected));
  }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with('\n')) rest_.remove_prefix(1);
  }

  const Lexer& lexer_;
  const Token& where_;
  std::string_view whole_, rest_;
};

void read_element_type(TypeText& text, std::string_view name, WrittenType& type) {
  for (const NarrowInteger& narrow : kNarrowIntegers) {
    if (narrow.name != name) continue;
    type.type.dtype = narrow.held_in;
    type.narrow_bits = narrow.bits;
    return;
  }
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) text.fail("an element type of the IR");
  type.type.dtype = *dtype;
}

void read_scale(TypeText& text, Quantization& quantization) {
  quantization.scales.push_back(text.expect_number<double>());
  quantization.zero_points.push_back(text.take(":") ? text.expect_number<int64_t>() : 0);
}

// "uniform<i8:f32, 0.5:-3>", "uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>"
void read_quantization(TypeText& text, WrittenType& type) {
  text.expect("uniform<");
  Quantization quantization;
  if (text.take("u")) {
    read_element_type(text, concat("ui", text.take_until(":<")), type);
  } else {
    read_element_type(text, text.take_until(":<"), type);
  }
  const int64_t bits = type.narrow_bits > 0 ? type.narrow_bits : 8 * size_of(type.type.dtype);
  const bool is_signed = category(type.type.dtype) == Category::Signed;
  if (!is_integer(type.type.dtype) || bits > 32) text.fail("integers of at most 32 bits that numbers are stored in");
  quantization.lowest = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  quantization.highest = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (text.take("<")) {
    quantization.lowest = text.expect_number<int64_t>();
    text.expect(":");
    quantization.highest = text.expect_number<int64_t>();
    text.expect(">");
  }
  text.expect(":");
  const std::optional<DType> expressed = dtype_from_name(text.take_until(":,"));
  if (!expressed || !is_float(*expressed)) text.fail("a float type that quantised numbers stand for");
  quantization.expressed = *expressed;
  if (text.take(":")) quantization.dimension = text.expect_number<int64_t>();
  text.expect(",");
  while (text.take(" ")) {
  }
  const bool list = text.take("{");
  do {
    read_scale(text, quantization);
  } while (list && text.take(","));
  if (list) text.expect("}");
  text.expect(">");
  type.quantization = std::move(quantization);
}

// "2x3xf32"
WrittenType read_type(const Lexer& lexer, const Token& where, std::string_view inside) {
  TypeText text(lexer, where, inside);
  WrittenType type;
  for (;;) {
    const bool dynamic = text.take("?");
    const std::optional<int64_t> size = dynamic ? std::optional(kDynamic) : text.take_number<int64_t>();
    if (!size) break;
    if (!dynamic && *size < 0) text.fail("sizes of at least 0");
    text.expect("x");
    type.type.shape.push_back(*size);
  }
  if (text.take("!quant.")) {
    read_quantization(text, type);
  } else {
    std::string_view name = text.rest();
    // What follows a comma bounds sizes that are not known: a note to compilers.
    if (const size_t comma = name.find(", #"); comma != std::string_view::npos) name = name.substr(0, comma);
    read_element_type(text, name, type);
  }
  return type;
}

// "(T, T)", or "T, T" without parentheses.
std::vector<WrittenType> parse_types(Lexer& lexer) {
  return lexer.peek().is("(") ? parse_type_list(lexer) : std::vector<WrittenType>{parse_type(lexer)};
}

}  // namespace

bool WrittenType::is_static() const {
  return std::find(type.shape.begin(), type.shape.end(), kDynamic) == type.shape.end();
}

bool WrittenType::matches(const TensorType& actual) const {
  if (actual.dtype != type.dtype || actual.shape.size() != type.shape.size()) return false;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] != kDynamic && type.shape[i] != actual.shape[i]) return false;
  }
  return true;
}

std::string to_string(const WrittenType& type) {
  std::string text = "tensor<";
  for (const int64_t size : type.type.shape) text += size == kDynamic ? "?x" : std::to_string(size) + "x";
  return concat(text, name(type.type.dtype), ">");
}

const TensorType& plain_type(const Lexer& lexer, const Token& where, const WrittenType& type) {
  if (type.is_static() && type.narrow_bits == 0 && !type.quantization) return type.type;
  lexer.fail(where, "a type has no like in the IR", to_string(type),
             "static sizes, and elements that are not quantised");
}

WrittenType parse_type(Lexer& lexer) {
  const Token where = lexer.peek();
  lexer.expect_word("tensor");
  return read_type(lexer, where, lexer.take_angle_brackets());
}

std::vector<WrittenType> parse_type_list(Lexer& lexer) {
  std::vector<WrittenType> types;
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
  std::vector<WrittenType> types{parse_type(lexer)};
  while (lexer.take(",")) types.push_back(parse_type(lexer));
  if (!lexer.take("->")) {
    if (types.size() == operands) return {std::nullopt, std::move(types)};
    return {std::nullopt, {types.back()}};
  }
  std::vector<WrittenType> results = parse_types(lexer);
  if (types.size() == 1) types.resize(operands, types.front());
  return {std::move(types), std::move(results)};
}

}  // namespace opentrn::ir::text
