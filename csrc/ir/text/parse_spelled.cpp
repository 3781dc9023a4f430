// Operations that the IR spells with primitives: calls, checks, and some of CHLO.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/custom_calls.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

using Values = std::vector<Value>;

void require_operands(const Lexer& lexer, const Statement& statement, size_t count) {
  if (statement.operands.size() == count) return;
  lexer.fail(statement.where, "an operation has a wrong number of operands", std::to_string(statement.operands.size()),
             std::to_string(count));
}

Values spell_call(const Lexer& lexer, Statement& statement, Scope& scope) {
  return inline_function(lexer, statement.where, scope, statement.attributes.take_word("callee"), statement.operands);
}

// A composite is what its decomposition says.
Values spell_composite(const Lexer& lexer, Statement& statement, Scope& scope) {
  for (const char* key : {"name", "composite_attributes", "version"}) statement.attributes.drop(key);
  const std::string decomposition = statement.attributes.take_word("decomposition");
  return inline_function(lexer, statement.where, scope, decomposition, statement.operands);
}

// The last dimension's greatest elements and where they are: a stable sort by which the first index wins.
Values spell_top_k(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  const TensorType type = scope.graph.type(statement.operands[0]);
  const int64_t k = statement.attributes.take_integer("k");
  if (type.shape.empty() || k < 0 || k > type.shape.back()) {
    lexer.fail(statement.where, "k is out of range", std::to_string(k), "at most the size of the last dimension");
  }
  const int64_t last = type.rank() - 1;
  const TensorType index_type{DType::I32, type.shape};
  const Value indices = emit(lexer, statement.where, scope, Op::Iota, {}, IotaAttributes{last}, &index_type).front();
  SortAttributes order;
  order.dimension = last;
  order.descending = true;
  const Values sorted = emit(lexer, statement.where, scope, Op::Sort, {statement.operands[0], indices}, order);
  Dims limit = type.shape;
  limit.back() = k;
  const SliceAttributes first{Dims(type.shape.size(), 0), limit, Dims(type.shape.size(), 1)};
  Values results;
  for (const Value value : sorted) {
    results.push_back(emit(lexer, statement.where, scope, Op::Slice, {value}, first).front());
  }
  return results;
}

// Floats in total order, as integers: -NaN < -infinity < ... < -0 < 0 < ... < infinity < NaN.
Value ordered_bits(const Lexer& lexer, const Statement& statement, Scope& scope, Value operand) {
  const TensorType type = scope.graph.type(operand);
  constexpr std::array<DType, 9> integers{DType::Bool, DType::I8,   DType::I16,  DType::Bool, DType::I32,
                                          DType::Bool, DType::Bool, DType::Bool, DType::I64};
  const TensorType bits{integers[static_cast<size_t>(size_of(type.dtype))], type.shape};
  const auto make = [&](Op op, Values operands, const TensorType* declared = nullptr) {
    return emit(lexer, statement.where, scope, op, std::move(operands), {}, declared).front();
  };
  const auto constant = [&](double value) {
    return emit_constant(scope, bits, normalised_data(bits, element_bytes(bits.dtype, value)));
  };
  const Value raw = make(Op::BitcastConvert, {operand}, &bits);
  const int64_t width = 8 * size_of(type.dtype);
  std::vector<std::byte> largest(static_cast<size_t>(size_of(bits.dtype)), std::byte{0xFF});
  largest.back() = std::byte{0x7F};
  const Value sign = make(Op::ShiftRightArithmetic, {raw, constant(static_cast<double>(width - 1))});
  const Value flipped = make(Op::And, {sign, emit_constant(scope, bits, normalised_data(bits, largest))});
  return make(Op::Xor, {raw, flipped});
}

Values spell_compare(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 2);
  const bool total =
      statement.attributes.has("compare_type") && statement.attributes.take_word("compare_type") == "TOTALORDER";
  if (total && is_float(scope.graph.type(statement.operands[0]).dtype)) {
    for (Value& operand : statement.operands) operand = ordered_bits(lexer, statement, scope, operand);
  }
  return emit(lexer, statement.where, scope, Op::Compare, statement.operands, make_attributes(lexer, statement));
}

// CHLO's name for what StableHLO has too.
Values spell_tan(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  return emit(lexer, statement.where, scope, Op::Tan, statement.operands);
}

// To StableHLO, a complex number is true when its real part is; to the IR, when either part is.
Values spell_convert(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  if (statement.signature.results.size() != 1)
    lexer.fail(statement.where, "an operation has a wrong number of results");
  Value operand = statement.operands[0];
  const TensorType result{statement.signature.results[0].type.dtype, {}};
  const bool is_ours = statement.attributes.has(kEitherPart);
  statement.attributes.drop(kEitherPart);
  if (!is_ours && is_bool(result.dtype) && is_complex(scope.graph.type(operand).dtype)) {
    operand = emit(lexer, statement.where, scope, Op::Real, {operand}).front();
  }
  return emit(lexer, statement.where, scope, Op::Convert, {operand}, {}, &result);
}

// Between bools it changes nothing; the IR's primitive has no bools, which other tools pack.
Values spell_bitcast(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  const std::vector<WrittenType>& results = statement.signature.results;
  if (results.size() == 1 && is_bool(results[0].type.dtype) &&
      results[0].matches(scope.graph.type(statement.operands[0]))) {
    return statement.operands;
  }
  if (results.size() != 1) lexer.fail(statement.where, "an operation has a wrong number of results");
  const TensorType declared{results[0].type.dtype, {}};
  return emit(lexer, statement.where, scope, Op::BitcastConvert, statement.operands, {}, &declared);
}

// A barrier forbids what no pass does; quantised operands and results are dealt with where their types are.
Values spell_nothing(const Lexer&, Statement& statement, Scope&) { return statement.operands; }

// "dot": matrices and vectors.
Values spell_dot(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 2);
  for (const char* key : {"precision", "precision_config"}) statement.attributes.drop(key);
  const int64_t rank = scope.graph.type(statement.operands[0]).rank();
  if (rank < 1 || statement.signature.results.size() != 1) lexer.fail(statement.where, "dot takes no scalars");
  const TensorType declared{statement.signature.results[0].type.dtype, {}};
  return emit(lexer, statement.where, scope, Op::DotGeneral, statement.operands, DotAttributes{{}, {}, {rank - 1}, {0}},
              &declared);
}

// Differences and steps that checks allow where they do not say: those of StableHLO itself, for operations from its
// CheckOps.td, for custom calls from the interpreter in its stablehlo-translate.
constexpr const char* kCallTolerance = "0.001";
constexpr const char* kOperationTolerance = "0.0001";
constexpr int64_t kCallSteps = 3;
constexpr int64_t kOperationSteps = 1;

Values emit_check(const Lexer& lexer, const Statement& statement, Scope& scope, std::string_view target, Dims integers,
                  std::string text) {
  return emit(lexer, statement.where, scope, Op::CustomCall, statement.operands,
              CustomCallAttributes{std::string(target), std::move(integers), std::move(text)});
}

// "check.expect_eq_const"(%0) <{value = dense<...> : T}>: the constant becomes an operand.
void add_expected(const Lexer& lexer, Statement& statement, Scope& scope) {
  statement.signature.results.clear();  // the pretty form names the operands' types alone
  if (!statement.name.ends_with("_const")) return require_operands(lexer, statement, 2);
  require_operands(lexer, statement, 1);
  AttributeValue value = statement.attributes.take("value");
  if (!value.type) lexer.fail(statement.where, "a check has no value", "", "dense<...> : type");
  statement.operands.push_back(emit_constant(scope, *value.type, std::move(value.elements)));
}

Values spell_expect_equal(const Lexer& lexer, Statement& statement, Scope& scope) {
  add_expected(lexer, statement, scope);
  return emit_check(lexer, statement, scope, kExpectEqual, {}, "");
}

Values spell_expect_almost_equal(const Lexer& lexer, Statement& statement, Scope& scope) {
  add_expected(lexer, statement, scope);
  const bool given = statement.attributes.has("tolerance");
  const std::string tolerance = given ? statement.attributes.take_word("tolerance") : kOperationTolerance;
  return emit_check(lexer, statement, scope, kExpectAlmostEqual, {}, tolerance);
}

Values spell_expect_close(const Lexer& lexer, Statement& statement, Scope& scope) {
  add_expected(lexer, statement, scope);
  const int64_t fewest = statement.attributes.take_integer_or("min_ulp_difference", 0);
  const int64_t most = statement.attributes.take_integer_or("max_ulp_difference", kOperationSteps);
  return emit_check(lexer, statement, scope, kExpectClose, {fewest, most}, "");
}

// check.eq returns whether it holds; as it raises when it does not, that is true.
Values spell_check_eq(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 2);
  const bool exact = is_integral(scope.graph.type(statement.operands[0]).dtype);
  emit_check(lexer, statement, scope, exact ? kExpectEqual : kExpectAlmostEqual, {}, exact ? "" : kOperationTolerance);
  return {emit_constant(scope, {DType::Bool, {}}, {std::byte{1}})};
}

// What JAX asserts of the sizes it is given.
Values spell_shape_assertion(const Lexer& lexer, Statement& statement, Scope& scope) {
  std::string message;
  if (statement.attributes.has("error_message")) message = statement.attributes.take_word("error_message");
  if (statement.operands.empty()) lexer.fail(statement.where, "an assertion has no operand");
  const std::optional<Dims> holds = known_integers(scope.graph, statement.operands[0]);
  if (!holds) lexer.fail(statement.where, "an assertion depends on more than constants and shapes");
  if ((*holds)[0] == 0) lexer.fail(statement.where, "the sizes break an assertion of the module", message);
  return {};
}

Values spell_custom_call(const Lexer& lexer, Statement& statement, Scope& scope) {
  CustomCallAttributes call = std::get<CustomCallAttributes>(make_attributes(lexer, statement));
  for (const char* key : {"mhlo.backend_config", "operand_layouts", "result_layouts", "output_operand_aliases"}) {
    statement.attributes.drop(key);
  }
  if (call.target == "check.eq") return spell_check_eq(lexer, statement, scope);
  if (call.target == "shape_assertion") return spell_shape_assertion(lexer, statement, scope);
  if (call.target == "Sharding") return statement.operands;
  if (call.target == kExpectAlmostEqual && call.text.empty()) call.text = kCallTolerance;
  if (call.target == kExpectClose && call.integers.empty()) call.integers = {0, kCallSteps};
  return emit(lexer, statement.where, scope, Op::CustomCall, statement.operands, std::move(call));
}

struct Entry {
  std::string_view name;
  Spelling spelling;
};

constexpr std::array<Entry, 17> kSpellings{{
    {"func.call", spell_call},
    {"stablehlo.bitcast_convert", spell_bitcast},
    {"stablehlo.compare", spell_compare},
    {"stablehlo.composite", spell_composite},
    {"stablehlo.convert", spell_convert},
    {"stablehlo.custom_call", spell_custom_call},
    {"stablehlo.dot", spell_dot},
    {"stablehlo.optimization_barrier", spell_nothing},
    {"stablehlo.uniform_dequantize", spell_nothing},
    {"stablehlo.uniform_quantize", spell_nothing},
    {"chlo.tan", spell_tan},
    {"chlo.top_k", spell_top_k},
    {"check.expect_almost_eq", spell_expect_almost_equal},
    {"check.expect_almost_eq_const", spell_expect_almost_equal},
    {"check.expect_close", spell_expect_close},
    {"check.expect_eq", spell_expect_equal},
    {"check.expect_eq_const", spell_expect_equal},
}};

}  // namespace

Spelling find_spelling(std::string_view name) {
  const auto found =
      std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Entry& entry) { return entry.name == name; });
  return found != kSpellings.end() ? found->spelling : find_dynamic_spelling(name);
}

}  // namespace opentrn::ir::text
