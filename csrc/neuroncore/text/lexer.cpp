#include "neuroncore/text/lexer.h"

#include <charconv>

#include "base/error.h"
#include "neuroncore/text/names.h"

namespace opentrn::neuroncore::text {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

void Lexer::skip_blanks() {
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (c == '/' && peek(1) == '/') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  start_ = at_;
  text_.clear();
  if (at_ >= source_.size()) {
    token_ = Token::End;
    return;
  }
  const char c = source_[at_];
  if (c == '"') return take_string();
  if (is_identifier_start(c)) {
    token_ = Token::Word;
    while (is_identifier_part(peek())) ++at_;
  } else if (c == '0' && peek(1) == 'x' && is_hexadecimal(peek(2))) {
    token_ = Token::Hexadecimal;
    at_ += 2;
    while (is_hexadecimal(peek())) ++at_;
  } else if (is_digit(c)) {
    take_number();
  } else {
    token_ = Token::Symbol;
    at_ += source_.substr(at_, 2) == "<-" || source_.substr(at_, 2) == ".." ? 2 : 1;
  }
  text_ = source_.substr(start_, at_ - start_);
}

/// Digits, perhaps a fraction ("0..8" has none) and an exponent.
void Lexer::take_number() {
  token_ = Token::Number;
  while (is_digit(peek())) ++at_;
  if (peek() == '.' && is_digit(peek(1))) {
    ++at_;
    while (is_digit(peek())) ++at_;
  }
  const size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
  if (peek() != 'e' || !is_digit(peek(1 + sign))) return;
  at_ += 1 + sign;
  while (is_digit(peek())) ++at_;
}

void Lexer::take_string() {
  token_ = Token::String;
  for (++at_; at_ < source_.size() && source_[at_] != '"'; ++at_) {
    if (source_[at_] != '\\') {
      text_ += source_[at_];
      continue;
    }
    ++at_;
    text_ += peek() == 'n' ? '\n' : peek();
  }
  if (at_ >= source_.size()) fail("a string does not end", "\"");
  ++at_;
}

bool Lexer::accept(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail("unexpected text", concat("'", text, "'"));
}

std::string Lexer::word(std::string_view what) {
  if (token_ != Token::Word) fail("unexpected text", std::string(what));
  std::string result = text_;
  advance();
  return result;
}

std::string Lexer::string() {
  if (token_ != Token::String) fail("unexpected text", "a string in quotes");
  std::string result = text_;
  advance();
  return result;
}

int64_t Lexer::integer() {
  const bool negative = accept("-");
  const std::string digits = (negative ? "-" : "") + text_;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (token_ != Token::Number || error != std::errc{} || end != digits.data() + digits.size())
    fail("unexpected text", "an integer");
  advance();
  return value;
}

void Lexer::fail(const std::string& what, const std::string& expected) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < start_ && i < source_.size(); ++i) {
    ++column;
    if (source_[i] != '\n') continue;
    ++line;
    column = 1;
  }
  raise(ErrorKind::Value, {.where = concat("program text, line ", line, ", column ", column),
                           .what = what,
                           .got = token_ == Token::End ? std::string("the end of the text") : concat("'", text_, "'"),
                           .expected = expected});
}

}  // namespace opentrn::neuroncore::text
