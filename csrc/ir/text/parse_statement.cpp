// One operation as it is written, in the pretty or the generic form.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/inference.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

void parse_operands(Lexer& lexer, Scope& scope, Statement& statement) {
  if (lexer.peek().kind != TokenKind::Value) return;
  do {
    statement.operands.push_back(find_value(lexer, lexer.next(), scope));
  } while (lexer.take(",") && lexer.peek().kind == TokenKind::Value);
}

void insert_word(Statement& statement, const char* key, const Token& word) {
  AttributeValue value;
  value.word = word.text;
  statement.attributes.insert(Token{TokenKind::Word, key, word.position}, std::move(value));
}

// "key = value, key = value"; the order of stablehlo.compare is a word without a key, and the elements a check expects
// are a value without one.
void parse_clauses(Lexer& lexer, Statement& statement) {
  while (lexer.peek().kind == TokenKind::Word) {
    if (lexer.peek().is_word("dense")) {
      const Token where = lexer.peek();
      statement.attributes.insert(Token{TokenKind::Word, "value", where.position}, parse_attribute_value(lexer));
    } else {
      const Token key = lexer.next();
      if (!lexer.take("=")) {
        insert_word(statement, "compare_type", key);
      } else if (key.text == "dim_numbers") {
        statement.attributes.insert(key, parse_convolution_numbers(lexer));
      } else {
        statement.attributes.insert(key, parse_clause_value(lexer));
      }
    }
    if (!lexer.take(",")) return;
  }
}

// "(%0, %1, k = 2)"
void parse_operands_in_parentheses(Lexer& lexer, Scope& scope, Statement& statement) {
  lexer.expect("(");
  parse_operands(lexer, scope, statement);
  parse_clauses(lexer, statement);
  lexer.expect(")");
}

// "LT, " before the operands.
void parse_direction(Lexer& lexer, Statement& statement) {
  insert_word(statement, "comparison_direction", lexer.expect_kind(TokenKind::Word, "a comparison direction"));
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

// "(%0 init: %1), (%2 init: %3) applies stablehlo.add across dimensions = [0]"; where a region follows the type,
// "applies" is left out.
void parse_reduce(Lexer& lexer, Scope& scope, Statement& statement) {
  std::vector<Value> initial_values;
  do {
    lexer.expect("(");
    statement.operands.push_back(find_value(lexer, lexer.expect_kind(TokenKind::Value, "a value"), scope));
    lexer.expect_word("init");
    lexer.expect(":");
    initial_values.push_back(find_value(lexer, lexer.expect_kind(TokenKind::Value, "a value"), scope));
    lexer.expect(")");
  } while (lexer.take(","));
  statement.operands.insert(statement.operands.end(), initial_values.begin(), initial_values.end());
  if (lexer.take_word("applies")) {
    insert_word(statement, "reducer", lexer.expect_kind(TokenKind::Word, "the name of a primitive"));
  }
  lexer.expect_word("across");
  parse_clauses(lexer, statement);
}

// "reducer(%a: T, %b: T) (%c: U, %d: U) {...}": the two elements of each input side by side.
void parse_reducer(Lexer& lexer, Scope& scope, Statement& statement) {
  std::vector<Parameter> left, right;
  while (lexer.take("(")) {
    for (std::vector<Parameter>* side : {&left, &right}) {
      const Token name = lexer.expect_kind(TokenKind::Value, "an element");
      lexer.expect(":");
      side->push_back({name, plain_type(lexer, name, parse_type(lexer))});
      lexer.skip_location();
      if (side == &left) lexer.expect(",");
    }
    lexer.expect(")");
  }
  left.insert(left.end(), right.begin(), right.end());
  statement.regions.push_back(parse_region(lexer, scope, statement.captured, left));
}

// "(%a = %0, %b = %1) : T, U cond {...} do {...}"
void parse_while(Lexer& lexer, Scope& scope, Statement& statement) {
  std::vector<Parameter> carried;
  lexer.expect("(");
  while (lexer.peek().kind == TokenKind::Value) {
    const Token name = lexer.next();
    lexer.expect("=");
    const Value initial = find_value(lexer, lexer.expect_kind(TokenKind::Value, "a value"), scope);
    statement.operands.push_back(initial);
    carried.push_back({name, scope.graph.type(initial)});
    if (!lexer.take(",")) break;
  }
  lexer.expect(")");
  if (lexer.take(":")) {
    do {
      statement.signature.results.push_back(parse_type(lexer));
    } while (lexer.take(","));
  }
  if (lexer.take_word("attributes")) statement.attributes.insert_all(parse_dictionary(lexer));
  for (const char* word : {"cond", "do"}) {
    lexer.expect_word(word);
    statement.regions.push_back(parse_region(lexer, scope, statement.captured, carried));
  }
}

void parse_target(Lexer& lexer, Scope& scope, Statement& statement, const char* key) {
  insert_word(statement, key, lexer.expect_kind(TokenKind::Symbol, "the target of the call"));
  parse_operands_in_parentheses(lexer, scope, statement);
}

void parse_pretty(Lexer& lexer, Scope& scope, Statement& statement) {
  const std::string& name = statement.name;
  if (name == "stablehlo.constant") {
    if (lexer.peek().is("{")) statement.attributes.insert_all(parse_dictionary(lexer));
    statement.literal = parse_dense(lexer);
    return;
  }
  if (name == "stablehlo.reduce") return parse_reduce(lexer, scope, statement);
  if (name == "stablehlo.while") return parse_while(lexer, scope, statement);
  if (name == "stablehlo.custom_call") return parse_target(lexer, scope, statement, "call_target_name");
  if (name == "func.call") return parse_target(lexer, scope, statement, "callee");
  if (name == "stablehlo.compare") parse_direction(lexer, statement);
  if (name == "stablehlo.composite") insert_word(statement, "name", lexer.expect_kind(TokenKind::Text, "a name"));
  if (lexer.peek().is("(")) {
    parse_operands_in_parentheses(lexer, scope, statement);
  } else {
    parse_operands(lexer, scope, statement);
  }
  if (name == "stablehlo.slice") return parse_ranges(lexer, statement);
  parse_clauses(lexer, statement);
}

void parse_generic(Lexer& lexer, Scope& scope, Statement& statement) {
  parse_operands_in_parentheses(lexer, scope, statement);
  if (lexer.take("<")) {
    statement.attributes.insert_all(parse_dictionary(lexer));
    lexer.expect(">");
  }
  if (!lexer.take("(")) return;
  do {
    statement.regions.push_back(parse_region(lexer, scope, statement.captured, {}));
  } while (lexer.take(","));
  lexer.expect(")");
}

// Each region takes all captured values; one that was read before another captured more lacks some.
void complete_regions(const Scope& scope, Statement& statement) {
  const auto own_parameters = [&]() -> size_t {
    if (statement.op == Op::Case || statement.op == Op::If) return 0;
    if (statement.op == Op::SelectAndScatter) return 2;
    return statement.operands.size();
  };
  if (statement.regions.size() < 2 || statement.captured.empty()) return;
  for (Graph& region : statement.regions) {
    add_captures(region, scope.graph, statement.captured, region.parameters.size() - own_parameters());
  }
}

void require_operand_types(const Lexer& lexer, const Statement& statement, const Graph& graph) {
  if (!statement.signature.operands) return;
  const std::vector<WrittenType>& written = *statement.signature.operands;
  if (written.size() != statement.operands.size()) {
    lexer.fail(statement.where, "the type has a wrong number of operands", std::to_string(written.size()),
               std::to_string(statement.operands.size()));
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const TensorType& actual = graph.type(statement.operands[i]);
    if (written[i].matches(actual)) continue;
    lexer.fail(statement.where, concat("operand ", i, " is written with a wrong type"), to_string(written[i]),
               opentrn::ir::to_string(actual));
  }
}

void require_result_types(const Lexer& lexer, const Statement& statement, const Graph& graph,
                          const std::vector<Value>& results) {
  const std::vector<WrittenType>& written = statement.signature.results;
  if (std::equal(written.begin(), written.end(), results.begin(), results.end(),
                 [&](const WrittenType& type, Value value) { return type.matches(graph.type(value)); })) {
    return;
  }
  const auto join = [](const auto& types, const auto& spell) {
    std::string text;
    for (const auto& type : types) text += (text.empty() ? "" : ", ") + spell(type);
    return text.empty() ? std::string("nothing") : text;
  };
  lexer.fail(statement.where, "the result is written with a wrong type",
             join(written, [](const WrittenType& type) { return to_string(type); }),
             join(results, [&](Value value) { return opentrn::ir::to_string(graph.type(value)); }));
}

// For inference, which only reads the element type where sizes may be unknown.
TensorType declared_type(const WrittenType& written) {
  return written.is_static() ? written.type : TensorType{written.type.dtype, {}};
}

// Indices of the IR are i32 or i64; other integers are converted. What does not fit beyond all sizes stays there.
Value as_index(const Lexer& lexer, const Token& where, Scope& scope, Value index) {
  const TensorType type = scope.graph.type(index);
  if (!is_integer(type.dtype) || type.dtype == DType::I32 || type.dtype == DType::I64) return index;
  if (type.dtype == DType::U64) {
    std::vector<std::byte> largest(8, std::byte{0xFF});
    largest.back() = std::byte{0x7F};
    const Value limit = emit_constant(scope, type, largest);
    index = emit(lexer, where, scope, Op::Minimum, {index, limit}).front();
  }
  const TensorType wide{DType::I64, type.shape};
  return emit(lexer, where, scope, Op::Convert, {index}, {}, &wide).front();
}

void convert_indices(const Lexer& lexer, Statement& statement, Scope& scope) {
  size_t begin = 1;
  size_t end = statement.operands.size();
  switch (statement.op.value_or(Op::Add)) {
    case Op::Gather: break;
    case Op::Scatter:
      begin = statement.operands.size() / 2;
      end = begin + 1;
      break;
    case Op::DynamicSlice: break;
    case Op::DynamicUpdateSlice: begin = 2; break;
    default: return;
  }
  for (size_t i = begin; i < end && i < statement.operands.size(); ++i) {
    statement.operands[i] = as_index(lexer, statement.where, scope, statement.operands[i]);
  }
}

std::vector<Value> append_primitive(const Lexer& lexer, Statement& statement, Scope& scope) {
  convert_indices(lexer, statement, scope);
  Attributes attributes = make_attributes(lexer, statement);
  statement.operands.insert(statement.operands.end(), statement.captured.begin(), statement.captured.end());
  if (statement.signature.results.empty()) {
    return emit(lexer, statement.where, scope, *statement.op, statement.operands, std::move(attributes));
  }
  const TensorType declared = declared_type(statement.signature.results.back());
  return emit(lexer, statement.where, scope, *statement.op, statement.operands, std::move(attributes), &declared);
}

bool is_call(std::string_view name) { return name == "call" || name == "func.call"; }

}  // namespace

std::vector<Value> emit(const Lexer& lexer, const Token& where, Scope& scope, Op op, std::vector<Value> operands,
                        Attributes attributes, const TensorType* declared) {
  std::vector<const TensorType*> types;
  for (const Value operand : operands) types.push_back(&scope.graph.type(operand));
  std::vector<TensorType> inferred;
  try {
    inferred = infer({op, types, attributes, declared});
  } catch (const Error& error) {
    lexer.fail(where, error.what());  // the place in front of what inference says
  }
  std::vector<Value> results;
  for (TensorType& type : inferred) results.push_back(scope.graph.new_value(std::move(type)));
  scope.graph.nodes.push_back(Node{op, std::move(operands), results, std::move(attributes)});
  return results;
}

Value emit_constant(Scope& scope, TensorType type, std::vector<std::byte> data) {
  const Value value = scope.graph.new_value(std::move(type));
  scope.graph.nodes.push_back(Node{Op::Constant, {}, {value}, ConstantAttributes{std::move(data)}});
  return value;
}

Statement parse_statement(Lexer& lexer, Scope& scope) {
  const Token word = lexer.peek();
  const bool generic = word.kind == TokenKind::Text;
  if (!generic && word.kind != TokenKind::Word) lexer.fail_expected("an operation");
  lexer.next();
  Statement statement{.where = word, .attributes = AttributeMap(lexer, word)};
  statement.name = is_call(word.text) ? "func.call" : word.text;
  statement.op = op_from_name(word.text);
  const bool known = statement.op || find_spelling(statement.name) != nullptr;
  if (!known) lexer.fail(word, "unknown operation", "'" + word.text + "'", "an operation of the catalogue");
  if (generic) {
    parse_generic(lexer, scope, statement);
  } else {
    parse_pretty(lexer, scope, statement);
  }
  if (lexer.peek().is("{")) statement.attributes.insert_all(parse_dictionary(lexer));
  const bool typed = !generic && statement.op == Op::While;
  const bool untyped = statement.name.starts_with("check.") && !lexer.peek().is(":");
  if (!typed && !untyped) statement.signature = parse_signature(lexer, statement.operands.size());
  if (lexer.take_word("reducer")) parse_reducer(lexer, scope, statement);
  complete_regions(scope, statement);
  return statement;
}

std::vector<Value> append_meaning(const Lexer& lexer, Statement& statement, Scope& scope) {
  const Spelling spelling = find_spelling(statement.name);
  return spelling != nullptr ? spelling(lexer, statement, scope) : append_primitive(lexer, statement, scope);
}

std::vector<Value> append_statement(const Lexer& lexer, Statement statement, Scope& scope) {
  require_operand_types(lexer, statement, scope.graph);
  std::vector<Value> results =
      is_encoded(statement, scope) ? append_encoded(lexer, statement, scope) : append_meaning(lexer, statement, scope);
  statement.attributes.expect_empty();
  require_result_types(lexer, statement, scope.graph, results);
  return results;
}

}  // namespace opentrn::ir::text
