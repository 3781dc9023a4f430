// Private to ir/text: the parts of the parser.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/text.h"
#include "ir/text/lexer.h"

namespace opentrn::ir::text {

/// A size that is written "?".
inline constexpr int64_t kDynamic = -1;

/// Integers that stand for real numbers: real = (integer - zero_point) * scale.
struct Quantization {
  DType expressed = DType::F32;
  int64_t lowest = 0, highest = 0;        // of the integers
  std::optional<int64_t> dimension = {};  // along which scales and zero points differ
  std::vector<double> scales = {};        // one, or one for each index of `dimension`
  std::vector<int64_t> zero_points = {};  // as many
  bool operator==(const Quantization&) const = default;
};

/// A tensor type as it is written: sizes may be kDynamic, and elements may be what the IR has no type for. `type` says
/// what the IR holds for them: integers of less than 8 bits in 8, quantised numbers as their integers.
struct WrittenType {
  TensorType type;
  int narrow_bits = 0;  // 2 or 4 for i2, ui2, i4, ui4
  std::optional<Quantization> quantization = {};

  bool is_static() const;
  /// True when a value of this type may be written so.
  bool matches(const TensorType& actual) const;
};

using ir::to_string;
std::string to_string(const WrittenType& type);

/// The value of an attribute, whatever its form in the text.
struct AttributeValue {
  Dims integers;                    // an integer counts as a list of one
  std::optional<Dims> second_list;  // of "[0] x [1]"
  std::string word;                 // true, PHILOX, the inside of a string, a number with a point
  std::map<std::string, AttributeValue> fields;
  std::optional<TensorType> type;  // of "dense<...> : type", with its elements
  std::vector<std::byte> elements;
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
  int64_t take_integer_or(const std::string& key, int64_t otherwise);
  bool take_flag_or(const std::string& key, bool otherwise);
  std::string take_word(const std::string& key);
  AttributeMap take_fields(const std::string& key);
  /// The spelling of `names` that is written; the first when none is.
  std::string spelling(std::initializer_list<const char*> names) const;
  void drop(const std::string& key) { values_.erase(key); }
  void expect_empty() const;
  std::map<std::string, AttributeValue> release() { return std::move(values_); }
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

/// The functions of a module, by name: where each one starts in the text.
struct Source {
  std::string_view text;
  ParseOptions options;
  std::map<std::string, size_t> functions;
  std::string entry;                  // the function the graph is made of
  std::set<std::string> active = {};  // those whose calls are being spelled out
};

/// One function body or one region while it is read.
struct Scope {
  Source* source = nullptr;
  Graph graph = {};
  std::unordered_map<std::string, Value> names = {};
  std::unordered_map<int32_t, Quantization> quantizations = {};  // by value id, of those that are quantised
  std::unordered_map<int32_t, int> narrow_bits = {};             // by value id, of i2, ui2, i4, ui4

  // Of a region: names not found here are looked up in the parent, and its values become parameters.
  Scope* parent = nullptr;
  std::vector<Value>* captures = nullptr;
  std::unordered_map<std::string, Value> captured_names = {};
};

/// "a : T, T -> T" and all other forms of an operation's type. Lists that are not written are absent.
struct Signature {
  std::optional<std::vector<WrittenType>> operands;
  std::vector<WrittenType> results;
};

/// An operation as it is written, before its meaning is known.
struct Statement {
  Token where;
  std::string name = {};
  std::optional<Op> op = {};  // nothing for an operation that the IR spells with several primitives
  std::vector<Value> operands = {};
  AttributeMap attributes;
  std::optional<DenseLiteral> literal = {};
  std::vector<Graph> regions = {};
  std::vector<Value> captured = {};  // values the regions read
  Signature signature = {};
};

WrittenType parse_type(Lexer& lexer);
std::vector<WrittenType> parse_type_list(Lexer& lexer);
Signature parse_signature(Lexer& lexer, size_t operands);
/// Refuses a type that the IR has no like of.
const TensorType& plain_type(const Lexer& lexer, const Token& where, const WrittenType& type);

/// "{key = value, ...}"
AttributeMap parse_dictionary(Lexer& lexer);
/// The value after "key =".
AttributeValue parse_attribute_value(Lexer& lexer);
/// The same in a clause of the pretty form, where "[0] x [1]" is one value and ": type" ends it.
AttributeValue parse_clause_value(Lexer& lexer);
/// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
AttributeValue parse_convolution_numbers(Lexer& lexer);
int64_t parse_integer(Lexer& lexer);

DenseLiteral parse_dense(Lexer& lexer);
std::vector<std::byte> dense_bytes(const Lexer& lexer, const Token& where, const DenseLiteral& literal,
                                   const TensorType& type);

/// The value of a name, captured from a surrounding scope where need be.
Value find_value(const Lexer& lexer, const Token& token, Scope& scope);
void define_name(const Lexer& lexer, const Token& token, std::string name, Value value, Scope& scope);

/// Reads the operation at hand: everything right of "=".
Statement parse_statement(Lexer& lexer, Scope& scope);
/// "{ ^bb0(%a: T): ... return }". `names` are those of parameters that are declared outside the braces, with their
/// types.
struct Parameter {
  Token name;
  TensorType type;
};
Graph parse_region(Lexer& lexer, Scope& parent, std::vector<Value>& captured, const std::vector<Parameter>& parameters);
/// Gives a region that was read before others of the same operation the parameters for what only they captured.
void add_captures(Graph& region, const Graph& parent, const std::vector<Value>& captured, size_t known);

/// Appends a primitive to the scope's graph, types checked. `declared`: see InferenceQuery.
std::vector<Value> emit(const Lexer& lexer, const Token& where, Scope& scope, Op op, std::vector<Value> operands,
                        Attributes attributes = {}, const TensorType* declared = nullptr);
Value emit_constant(Scope& scope, TensorType type, std::vector<std::byte> data);
/// Appends what the statement means to the scope's graph, types checked, and returns its results.
std::vector<Value> append_statement(const Lexer& lexer, Statement statement, Scope& scope);
/// The same without regard to types that the IR has none for.
std::vector<Value> append_meaning(const Lexer& lexer, Statement& statement, Scope& scope);
/// Whether an operand or a result is of such a type, and what the statement means then.
bool is_encoded(const Statement& statement, const Scope& scope);
std::vector<Value> append_encoded(const Lexer& lexer, Statement& statement, Scope& scope);
/// "%0, %1 = operation" lines up to a return, whose operands are returned.
std::vector<Value> parse_body(Lexer& lexer, Scope& scope);
/// Spells out a call: the body of the function, its parameters bound to the arguments.
std::vector<Value> inline_function(const Lexer& lexer, const Token& where, Scope& scope, const std::string& name,
                                   const std::vector<Value>& arguments);

/// The attributes a statement stands for. Takes all it uses out of `statement.attributes` and the regions.
Attributes make_attributes(const Lexer& lexer, Statement& statement);

/// The list under either of its names: that of the generic form, that of the pretty one.
Dims list_named(AttributeMap& attributes, std::initializer_list<const char*> names);
int64_t integer_named(AttributeMap& attributes, std::initializer_list<const char*> names);
/// "[[low, high], ...]", a pair a dimension.
void split_padding(AttributeMap& attributes, const std::string& key, size_t rank, Dims& low, Dims& high);

ReducePrecisionAttributes precision_attributes(AttributeMap& attributes);
FftAttributes fft_attributes(AttributeMap& attributes);
TriangularSolveAttributes triangular_attributes(AttributeMap& attributes);
ConvolutionAttributes convolution_attributes(AttributeMap& attributes);

void require_regions(const Lexer& lexer, const Statement& statement, size_t count);
Region take_region(Statement& statement, size_t index);
/// A reducer the IR has a short word for, or Op::Map with the region itself in `body`.
Op function_of_region(const Lexer& lexer, Statement& statement, bool may_replace, Region& body);
/// An order the IR has a flag for, or the comparator itself.
void recognise_order(const Lexer& lexer, Statement& statement, SortAttributes& sort);

/// Operations that are spelled with primitives of the catalogue, those whose operands decide about shapes among them.
using Spelling = std::vector<Value> (*)(const Lexer& lexer, Statement& statement, Scope& scope);
Spelling find_spelling(std::string_view name);
Spelling find_dynamic_spelling(std::string_view name);

/// The elements of an integer value that follows from constants and shapes alone, or nothing.
std::optional<Dims> known_integers(const Graph& graph, Value value);

}  // namespace opentrn::ir::text
