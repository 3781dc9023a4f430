// One operation as it is written, in the pretty or the generic form.
#include "base/error.h"
#include "ir/inference.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

Value parse_value(Lexer& lexer, const Scope& scope) {
  const Token token = lexer.expect_kind(TokenKind::Value, "a value");
  const auto found = scope.names.find(token.text);
  if (found == scope.names.end()) lexer.fail(token, "a value is not defined here", "%" + token.text);
  return found->second;
}

void parse_operands(Lexer& lexer, const Scope& scope, Statement& statement) {
  if (lexer.peek().kind != TokenKind::Value) return;
  do {
    statement.operands.push_back(parse_value(lexer, scope));
  } while (lexer.take(",") && lexer.peek().kind == TokenKind::Value);
}

void parse_operands_in_parentheses(Lexer& lexer, const Scope& scope, Statement& statement) {
  lexer.expect("(");
  parse_operands(lexer, scope, statement);
  lexer.expect(")");
}

// "key = value, key = value"; the order of stablehlo.compare is a word without a key.
void parse_clauses(Lexer& lexer, Statement& statement) {
  while (lexer.peek().kind == TokenKind::Word) {
    const Token key = lexer.next();
    AttributeValue value;
    if (lexer.take("=")) {
      value = parse_clause_value(lexer);
      statement.attributes.insert(key, std::move(value));
    } else {
      value.word = key.text;
      statement.attributes.insert(Token{TokenKind::Word, "compare_type", key.position}, std::move(value));
    }
    if (!lexer.take(",")) return;
  }
}

// "LT, " before the operands.
void parse_direction(Lexer& lexer, Statement& statement) {
  const Token word = lexer.expect_kind(TokenKind::Word, "a comparison direction");
  AttributeValue value;
  value.word = word.text;
  statement.attributes.insert(Token{TokenKind::Word, "comparison_direction", word.position}, std::move(value));
  lexer.expect(",");
}

// "[0:2, 0:4:2]"
void parse_ranges(Lexer& lexer, Statement& statement) {
  const Token where = lexer.peek();
  AttributeValue start, limit, strides;
  lexer.expect("[");
  while (!lexer.peek().is("]")) {
    start.integers.push_back(parse_integer(lexer));
    lexer.expect(":");
    limit.integers.push_back(parse_integer(lexer));
    strides.integers.push_back(lexer.take(":") ? parse_integer(lexer) : 1);
    if (!lexer.take(",")) break;
  }
  lexer.expect("]");
  statement.attributes.insert(Token{TokenKind::Word, "start_indices", where.position}, std::move(start));
  statement.attributes.insert(Token{TokenKind::Word, "limit_indices", where.position}, std::move(limit));
  statement.attributes.insert(Token{TokenKind::Word, "strides", where.position}, std::move(strides));
}

// "(%0 init: %1) applies stablehlo.add across dimensions = [0]"
void parse_reduce(Lexer& lexer, const Scope& scope, Statement& statement) {
  lexer.expect("(");
  statement.operands.push_back(parse_value(lexer, scope));
  lexer.expect_word("init");
  lexer.expect(":");
  statement.operands.push_back(parse_value(lexer, scope));
  lexer.expect(")");
  lexer.expect_word("applies");
  const Token reducer = lexer.expect_kind(TokenKind::Word, "the name of a primitive");
  AttributeValue value;
  value.word = reducer.text;
  statement.attributes.insert(Token{TokenKind::Word, "reducer", reducer.position}, std::move(value));
  lexer.expect_word("across");
  parse_clauses(lexer, statement);
}

void parse_custom_call(Lexer& lexer, const Scope& scope, Statement& statement) {
  const Token target = lexer.expect_kind(TokenKind::Symbol, "the target of the call");
  AttributeValue value;
  value.word = target.text;
  statement.attributes.insert(Token{TokenKind::Word, "call_target_name", target.position}, std::move(value));
  parse_operands_in_parentheses(lexer, scope, statement);
}

void parse_pretty(Lexer& lexer, const Scope& scope, Statement& statement) {
  switch (statement.op) {
    case Op::Constant: statement.literal = parse_dense(lexer); return;
    case Op::Reduce: return parse_reduce(lexer, scope, statement);
    case Op::CustomCall: return parse_custom_call(lexer, scope, statement);
    case Op::Compare: parse_direction(lexer, statement); break;
    default: break;
  }
  parse_operands(lexer, scope, statement);
  if (statement.op == Op::Slice) return parse_ranges(lexer, statement);
  parse_clauses(lexer, statement);
}

void parse_generic(Lexer& lexer, const Scope& scope, Statement& statement) {
  parse_operands_in_parentheses(lexer, scope, statement);
  if (lexer.take("<")) {
    statement.attributes.insert_all(parse_dictionary(lexer));
    lexer.expect(">");
  }
  if (lexer.take("(")) {
    statement.region = parse_region(lexer);
    lexer.expect(")");
  }
}

void require_operand_types(const Lexer& lexer, const Statement& statement, const Graph& graph) {
  if (!statement.signature.operands) return;
  const std::vector<TensorType>& written = *statement.signature.operands;
  if (written.size() != statement.operands.size()) {
    lexer.fail(statement.where, "the type has a wrong number of operands", std::to_string(written.size()),
               std::to_string(statement.operands.size()));
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const TensorType& actual = graph.type(statement.operands[i]);
    if (written[i] == actual) continue;
    lexer.fail(statement.where, concat("operand ", i, " is written with a wrong type"), to_string(written[i]),
               to_string(actual));
  }
}

// The parser's position in front of what inference says.
std::vector<TensorType> infer_at(const Lexer& lexer, const Token& where, const InferenceQuery& query) {
  try {
    return infer(query);
  } catch (const Error& error) {
    lexer.fail(where, error.what());
  }
}

}  // namespace

Statement parse_statement(Lexer& lexer, const Scope& scope) {
  const Token word = lexer.peek();
  const bool generic = word.kind == TokenKind::Text;
  if (!generic && word.kind != TokenKind::Word) lexer.fail_expected("an operation");
  lexer.next();
  const std::optional<Op> op = op_from_name(word.text);
  if (!op) lexer.fail(word, "unknown operation", "'" + word.text + "'", "an operation of the catalogue");
  Statement statement{.where = word,
                      .op = *op,
                      .operands = {},
                      .attributes = AttributeMap(lexer, word),
                      .literal = {},
                      .region = {},
                      .signature = {}};
  if (generic) {
    parse_generic(lexer, scope, statement);
  } else {
    parse_pretty(lexer, scope, statement);
  }
  if (lexer.peek().is("{")) statement.attributes.insert_all(parse_dictionary(lexer));
  statement.signature = parse_signature(lexer, statement.operands.size());
  return statement;
}

std::vector<Value> append_statement(const Lexer& lexer, Statement statement, Scope& scope) {
  require_operand_types(lexer, statement, scope.graph);
  Attributes attributes = make_attributes(lexer, statement);
  statement.attributes.expect_empty();
  std::vector<const TensorType*> operands;
  for (const Value operand : statement.operands) operands.push_back(&scope.graph.type(operand));
  const std::vector<TensorType>& written = statement.signature.results;
  if (written.empty()) lexer.fail(statement.where, "an operation has no result");
  const std::vector<TensorType> types =
      infer_at(lexer, statement.where, {statement.op, operands, attributes, &written.back()});
  if (types != written) {
    std::string inferred;
    for (const TensorType& type : types) inferred += (inferred.empty() ? "" : ", ") + to_string(type);
    lexer.fail(statement.where, "the result is written with a wrong type", to_string(written.back()), inferred);
  }
  std::vector<Value> results;
  for (const TensorType& type : types) results.push_back(scope.graph.new_value(type));
  scope.graph.nodes.push_back(Node{statement.op, std::move(statement.operands), results, std::move(attributes)});
  return results;
}

}  // namespace opentrn::ir::text
