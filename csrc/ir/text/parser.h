// Private to ir/text: the parts of the parser.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/text/lexer.h"

namespace opentrn::ir::text {

/// The value of an attribute, whatever its form in the text.
struct AttributeValue {
  Dims integers;                    // an integer counts as a list of one
  std::optional<Dims> second_list;  // of "[0] x [1]"
  std::string word;                 // true, PHILOX, the inside of a string
  std::map<std::string, AttributeValue> fields;
};

/// The attributes written at one operation. Whoever needs one takes it; what is left at the end is an error.
class AttributeMap {
 public:
  AttributeMap(const Lexer& lexer, Token where) : lexer_(&lexer), where_(std::move(where)) {}

  void insert(const Token& key, AttributeValue value);
  void insert_all(AttributeMap fields);

  bool has(const std::string& key) const { return values_.contains(key); }
  AttributeValue take(const std::string& key);
  Dims take_list(const std::string& key);
  Dims take_list_or(const std::string& key, Dims otherwise);
  int64_t take_integer(const std::string& key);
  bool take_flag_or(const std::string& key, bool otherwise);
  std::string take_word(const std::string& key);
  AttributeMap take_fields(const std::string& key);
  void drop(const std::string& key) { values_.erase(key); }
  void expect_empty() const;
  [[noreturn]] void fail(std::string what, std::string got, std::string expected) const;

 private:
  const Lexer* lexer_;
  Token where_;
  std::map<std::string, AttributeValue> values_;
};

/// A literal "dense<...>" before its type is known.
struct DenseLiteral {
  std::vector<Token> leaves;  // two a complex element
  Dims shape;                 // of the nested lists; empty for a splat
  std::optional<std::string> bytes;
  bool empty = false;
};

/// One function body or one region while it is read.
struct Scope {
  Graph graph;
  std::unordered_map<std::string, Value> names;
};

/// "a : T, T -> T" and all other forms of an operation's type. Lists that are not written are absent.
struct Signature {
  std::optional<std::vector<TensorType>> operands;
  std::vector<TensorType> results;
};

/// An operation as it is written, before its meaning is known.
struct Statement {
  Token where;
  Op op = Op::Add;
  std::vector<Value> operands;
  AttributeMap attributes;
  std::optional<DenseLiteral> literal;
  std::optional<Graph> region;
  Signature signature;
};

TensorType parse_type(Lexer& lexer);
std::vector<TensorType> parse_type_list(Lexer& lexer);
Signature parse_signature(Lexer& lexer, size_t operands);

/// "{key = value, ...}"
AttributeMap parse_dictionary(Lexer& lexer);
/// The value after "key =".
AttributeValue parse_attribute_value(Lexer& lexer);
/// The same in a clause of the pretty form, where "[0] x [1]" is one value and ": type" ends it.
AttributeValue parse_clause_value(Lexer& lexer);
int64_t parse_integer(Lexer& lexer);

DenseLiteral parse_dense(Lexer& lexer);
std::vector<std::byte> dense_bytes(const Lexer& lexer, const Token& where, const DenseLiteral& literal,
                                   const TensorType& type);

/// Reads the operation at hand: everything right of "=".
Statement parse_statement(Lexer& lexer, const Scope& scope);
Graph parse_region(Lexer& lexer);
/// Appends what the statement means to the scope's graph, types checked, and returns its results.
std::vector<Value> append_statement(const Lexer& lexer, Statement statement, Scope& scope);
/// "%0, %1 = operation" lines up to the one whose word is `terminator`, whose operands are returned.
std::vector<Value> parse_body(Lexer& lexer, Scope& scope, std::string_view terminator);

/// The attributes a statement stands for. Takes all it uses out of `statement.attributes`.
Attributes make_attributes(const Lexer& lexer, Statement& statement);
Op reducer_of_region(const Lexer& lexer, const Statement& statement, bool may_replace);
bool region_is_descending(const Lexer& lexer, const Statement& statement);

}  // namespace opentrn::ir::text
