// Modules, functions and regions.
#include "base/error.h"
#include "ir/text.h"
#include "ir/text/parser.h"

namespace opentrn::ir {

namespace text {

namespace {

struct ResultName {
  Token token;
  int64_t count = 1;  // of "%0:2"
};

void define(const Lexer& lexer, const Token& token, std::string name, Value value, Scope& scope) {
  if (!scope.names.emplace(std::move(name), value).second)
    lexer.fail(token, "a value is defined twice", "%" + token.text);
}

std::vector<ResultName> parse_result_names(Lexer& lexer) {
  std::vector<ResultName> names;
  do {
    ResultName name{lexer.expect_kind(TokenKind::Value, "a result or the end of the function")};
    if (lexer.take(":")) name.count = parse_integer(lexer);
    names.push_back(std::move(name));
  } while (lexer.take(","));
  lexer.expect("=");
  return names;
}

void bind_results(const Lexer& lexer, const std::vector<ResultName>& names, const std::vector<Value>& results,
                  Scope& scope) {
  size_t next = 0;
  for (const ResultName& name : names) {
    for (int64_t i = 0; i < name.count; ++i, ++next) {
      if (next >= results.size()) lexer.fail(name.token, "an operation has fewer results than names");
      const bool one = name.count == 1;
      define(lexer, name.token, one ? name.token.text : concat(name.token.text, "#", i), results[next], scope);
    }
  }
  if (next != results.size()) lexer.fail(names.front().token, "an operation has more results than names");
}

// "(%a: T {...}, %b: T)"
void parse_parameters(Lexer& lexer, Scope& scope) {
  lexer.expect("(");
  if (lexer.take(")")) return;
  do {
    const Token name = lexer.expect_kind(TokenKind::Value, "a parameter");
    lexer.expect(":");
    const Value value = scope.graph.new_value(parse_type(lexer));
    scope.graph.parameters.push_back(value);
    define(lexer, name, name.text, value, scope);
    if (lexer.peek().is("{")) parse_dictionary(lexer);
  } while (lexer.take(","));
  lexer.expect(")");
}

// "-> T" or "-> (T {...}, T)"; nothing for a function without results.
std::vector<TensorType> parse_result_types(Lexer& lexer) {
  std::vector<TensorType> types;
  if (!lexer.take("->")) return types;
  if (!lexer.take("(")) return {parse_type(lexer)};
  if (lexer.take(")")) return types;
  do {
    types.push_back(parse_type(lexer));
    if (lexer.peek().is("{")) parse_dictionary(lexer);
  } while (lexer.take(","));
  lexer.expect(")");
  return types;
}

Graph parse_function(Lexer& lexer) {
  lexer.expect_word("func.func");
  if (!lexer.take_word("public")) lexer.take_word("private");
  Scope scope;
  const Token name = lexer.expect_kind(TokenKind::Symbol, "the name of the function");
  scope.graph.name = name.text;
  parse_parameters(lexer, scope);
  const std::vector<TensorType> results = parse_result_types(lexer);
  if (lexer.take_word("attributes")) parse_dictionary(lexer);
  lexer.expect("{");
  scope.graph.results = parse_body(lexer, scope, "return");
  lexer.expect("}");
  std::vector<TensorType> returned;
  for (const Value value : scope.graph.results) returned.push_back(scope.graph.type(value));
  if (returned != results) lexer.fail(name, "the function returns other types than it declares");
  return std::move(scope.graph);
}

}  // namespace

std::vector<Value> parse_body(Lexer& lexer, Scope& scope, std::string_view terminator) {
  while (!lexer.peek().is_word(terminator) && !lexer.peek().is_word("func.return")) {
    const std::vector<ResultName> names = parse_result_names(lexer);
    bind_results(lexer, names, append_statement(lexer, parse_statement(lexer, scope), scope), scope);
  }
  const Token where = lexer.next();
  std::vector<Value> results;
  std::vector<TensorType> types;
  while (lexer.peek().kind == TokenKind::Value) {
    const Token token = lexer.next();
    const auto found = scope.names.find(token.text);
    if (found == scope.names.end()) lexer.fail(token, "a value is not defined here", "%" + token.text);
    results.push_back(found->second);
    types.push_back(scope.graph.type(found->second));
    if (!lexer.take(",")) break;
  }
  if (results.empty()) return results;
  lexer.expect(":");
  std::vector<TensorType> written{parse_type(lexer)};
  while (lexer.take(",")) written.push_back(parse_type(lexer));
  if (written != types) lexer.fail(where, "the values returned have other types than written");
  return results;
}

Graph parse_region(Lexer& lexer) {
  Scope scope;
  scope.graph.name = "region";
  lexer.expect("{");
  lexer.expect_kind(TokenKind::Block, "a block");
  parse_parameters(lexer, scope);
  lexer.expect(":");
  scope.graph.results = parse_body(lexer, scope, "stablehlo.return");
  lexer.expect("}");
  return std::move(scope.graph);
}

}  // namespace text

Graph parse(std::string_view source) {
  text::Lexer lexer(source);
  const bool module = lexer.take_word("module");
  if (module) {
    if (lexer.peek().kind == text::TokenKind::Symbol) lexer.next();
    if (lexer.take_word("attributes")) text::parse_dictionary(lexer);
    lexer.expect("{");
  }
  Graph graph = text::parse_function(lexer);
  if (module && !lexer.take("}")) lexer.fail_expected("the end of the module, for a module has one function");
  if (lexer.peek().kind != text::TokenKind::End) lexer.fail_expected("the end of the text");
  return graph;
}

}  // namespace opentrn::ir
