// Words of a program's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opentrn::neuroncore::text {

enum class Token : uint8_t { End, Word, Number, Hexadecimal, String, Symbol };

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) { advance(); }

  Token token() const { return token_; }
  /// The text of the token; of a string what it means.
  const std::string& text() const { return text_; }
  void advance();

  bool is(std::string_view text) const { return token_ != Token::String && text_ == text; }
  /// Takes the token if it is this one.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string word(std::string_view what);
  std::string string();
  int64_t integer();

  /// Raises an Error of kind Value that names the place of the current token.
  [[noreturn]] void fail(const std::string& what, const std::string& expected) const;

 private:
  void skip_blanks();
  void take_number();
  void take_string();
  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  std::string_view source_;
  size_t at_ = 0;
  size_t start_ = 0;
  Token token_ = Token::End;
  std::string text_;
};

}  // namespace opentrn::neuroncore::text
