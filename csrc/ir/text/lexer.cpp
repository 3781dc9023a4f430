#include "ir/text/lexer.h"

#include <cctype>

#include "base/error.h"

namespace opentrn::ir::text {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80u) == 0; }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }  // of UTF-8
bool is_hex_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
bool is_value_part(char c) { return is_word_part(c) || c == '-' || c == '#'; }
bool is_symbol_part(char c) { return is_word_part(c) || c == '-'; }

int hex_value(char c) { return is_digit(c) ? c - '0' : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10; }

std::string describe(const Token& token) {
  return token.kind == TokenKind::End ? "the end of the text" : "'" + token.text + "'";
}

}  // namespace

Token Lexer::next() {
  Token taken = std::move(current_);
  advance();
  return taken;
}

bool Lexer::take(std::string_view mark) {
  if (!current_.is(mark)) return false;
  advance();
  return true;
}

bool Lexer::take_word(std::string_view word) {
  if (!current_.is_word(word)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view mark) {
  if (!take(mark)) fail_expected("'" + std::string(mark) + "'");
}

void Lexer::expect_word(std::string_view word) {
  if (!take_word(word)) fail_expected("'" + std::string(word) + "'");
}

Token Lexer::expect_kind(TokenKind kind, std::string_view description) {
  if (current_.kind != kind) fail_expected(std::string(description));
  return next();
}

std::string Lexer::take_angle_brackets() {
  if (!current_.is("<")) fail_expected("'<'");
  const size_t start = current_.position + 1;
  size_t depth = 1;
  size_t end = start;
  for (; depth > 0; ++end) {
    if (end >= text_.size()) fail(current_, "a '<' is never closed");
    if (text_[end] == '<') ++depth;
    if (text_[end] == '>') --depth;
  }
  position_ = end;
  advance();
  return std::string(text_.substr(start, end - 1 - start));
}

void Lexer::skip_brackets(std::string_view open, std::string_view close) {
  const Token start = current_;
  size_t depth = 0;
  do {
    if (current_.kind == TokenKind::End) fail(start, concat("a '", open, "' is never closed"));
    if (current_.is(open)) ++depth;
    if (current_.is(close)) --depth;
    advance();
  } while (depth > 0);
}

void Lexer::skip_location() {
  if (take_word("loc")) skip_brackets("(", ")");
}

void Lexer::fail(const Token& token, std::string what, std::string got, std::string expected) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < token.position && i < text_.size(); ++i) {
    column = text_[i] == '\n' ? 1 : column + 1;
    line += text_[i] == '\n' ? 1 : 0;
  }
  raise(ErrorKind::Value, {.where = concat("line ", line, ", column ", column),
                           .what = std::move(what),
                           .got = std::move(got),
                           .expected = std::move(expected)});
}

void Lexer::fail_expected(std::string expected) const {
  fail(current_, "the text does not parse", describe(current_), std::move(expected));
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[position_])) != 0) {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  current_ = lex();
}

Token Lexer::lex() {
  const size_t start = position_;
  if (start >= text_.size()) return {TokenKind::End, "", start};
  const char first = text_[start];
  const char second = at(start + 1);
  if (is_letter(first)) return lex_while(TokenKind::Word, start, 0, is_word_part);
  if (is_digit(first) || (first == '-' && is_digit(second))) return lex_number(start);
  if (first == '%') return lex_while(TokenKind::Value, start, 1, is_value_part);
  if (first == '^') return lex_while(TokenKind::Block, start, 1, is_symbol_part);
  if (first == '#') return lex_while(TokenKind::Alias, start, 1, is_word_part);
  if (first == '"') return lex_text(start);
  if (first == '@' && second == '"') {
    Token token = lex_text(start + 1);
    return {TokenKind::Symbol, std::move(token.text), start};
  }
  if (first == '@') return lex_while(TokenKind::Symbol, start, 1, is_symbol_part);
  position_ += first == '-' && second == '>' ? 2 : 1;
  // A letter beyond ASCII is one mark, so that an error can show it.
  while (is_continuation(at(position_)) && !is_ascii(first)) ++position_;
  return {TokenKind::Mark, std::string(text_.substr(start, position_ - start)), start};
}

Token Lexer::lex_while(TokenKind kind, size_t start, size_t skipped, bool (*accept)(char)) {
  position_ = start + skipped;
  while (accept(at(position_))) ++position_;
  return {kind, std::string(text_.substr(start + skipped, position_ - start - skipped)), start};
}

Token Lexer::lex_number(size_t start) {
  position_ = start + (text_[start] == '-' ? 1 : 0);
  if (at(position_) == '0' && at(position_ + 1) == 'x' && is_hex_digit(at(position_ + 2))) {
    position_ += 2;
    while (is_hex_digit(at(position_))) ++position_;
    return {TokenKind::Number, std::string(text_.substr(start, position_ - start)), start};
  }
  while (is_digit(at(position_))) ++position_;
  if (at(position_) == '.') {
    ++position_;
    while (is_digit(at(position_))) ++position_;
    const bool exponent = at(position_) == 'e' || at(position_) == 'E';
    const bool sign = at(position_ + 1) == '+' || at(position_ + 1) == '-';
    if (exponent && is_digit(at(position_ + (sign ? 2 : 1)))) {
      position_ += sign ? 2 : 1;
      while (is_digit(at(position_))) ++position_;
    }
  }
  return {TokenKind::Number, std::string(text_.substr(start, position_ - start)), start};
}

Token Lexer::lex_text(size_t start) {
  Token token{TokenKind::Text, "", start};
  position_ = start + 1;
  for (;;) {
    const char c = at(position_++);
    if (position_ > text_.size() || c == '\n') fail(token, "a string is never closed");
    if (c == '"') return token;
    if (c != '\\') {
      token.text += c;
      continue;
    }
    const char escaped = at(position_++);
    if (escaped == '"' || escaped == '\\') {
      token.text += escaped;
    } else if (escaped == 'n' || escaped == 't') {
      token.text += escaped == 'n' ? '\n' : '\t';
    } else if (is_hex_digit(escaped) && is_hex_digit(at(position_))) {
      token.text += static_cast<char>(hex_value(escaped) * 16 + hex_value(at(position_++)));
    } else {
      fail(token, "a string has an unknown escape", std::string("\\") + escaped,
           "\\\\, \\\", \\n, \\t or two hex digits");
    }
  }
}

}  // namespace opentrn::ir::text
