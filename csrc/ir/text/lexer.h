// Private to ir/text: words of MLIR text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opentrn::ir::text {

enum class TokenKind {
  End,
  Value,   // %name, %name#1
  Symbol,  // @name
  Block,   // ^name
  Alias,   // #dialect.name
  Word,    // module, stablehlo.add, true
  Number,  // -1, 0.5, 1.0e-3, 0x7F80
  Text,    // "...", unescaped
  Mark,    // one character of punctuation, or ->
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;  // without the leading sigil or the quotes
  size_t position = 0;

  bool is(std::string_view mark) const { return kind == TokenKind::Mark && text == mark; }
  bool is_word(std::string_view word) const { return kind == TokenKind::Word && text == word; }
};

class Lexer {
 public:
  /// Starts at `position`; places in errors are those of the whole text.
  explicit Lexer(std::string_view text, size_t position = 0) : text_(text), position_(position) { advance(); }

  /// The token at hand; it stays until `next` takes it.
  const Token& peek() const { return current_; }
  Token next();

  bool take(std::string_view mark);
  bool take_word(std::string_view word);
  void expect(std::string_view mark);
  void expect_word(std::string_view word);
  Token expect_kind(TokenKind kind, std::string_view description);

  /// Takes "<...>" after a token that is already taken, brackets matched, and returns what is between them: the inside
  /// of a tensor type cannot be split into tokens.
  std::string take_angle_brackets();

  /// Takes what stands between matching brackets, the opening one at hand and both included.
  void skip_brackets(std::string_view open, std::string_view close);
  /// Takes "loc(...)" where there is one: places in other files mean nothing here.
  void skip_location();

  /// Raises an error that shows the line and the column of `token`.
  [[noreturn]] void fail(const Token& token, std::string what, std::string got = "", std::string expected = "") const;
  /// What is wrong is the token at hand.
  [[noreturn]] void fail_expected(std::string expected) const;

 private:
  void advance();
  void skip_blanks();
  Token lex();
  Token lex_while(TokenKind kind, size_t start, size_t skipped, bool (*accept)(char));
  Token lex_number(size_t start);
  Token lex_text(size_t start);
  char at(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  std::string_view text_;
  size_t position_;
  Token current_;
};

}  // namespace opentrn::ir::text
