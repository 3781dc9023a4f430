// Operations whose operands decide about shapes. The IR has static shapes: each becomes the primitive with the sizes it
// turns out to have, and is refused where these depend on more than constants and the shapes of operands.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

using Values = std::vector<Value>;

void require_operands(const Lexer& lexer, const Statement& statement, size_t count) {
  if (statement.operands.size() == count) return;
  lexer.fail(statement.where, "an operation has a wrong number of operands", std::to_string(statement.operands.size()),
             std::to_string(count));
}

Dims known(const Lexer& lexer, const Statement& statement, const Scope& scope, size_t operand) {
  const std::optional<Dims> integers = known_integers(scope.graph, statement.operands[operand]);
  if (integers) return *integers;
  lexer.fail(statement.where, "a shape depends on values", concat("operand ", operand),
             "constants, and arithmetic on them and on sizes");
}

Values emit_with(const Lexer& lexer, const Statement& statement, Scope& scope, Op op, Values operands,
                 Attributes attributes = {}, const TensorType* declared = nullptr) {
  return emit(lexer, statement.where, scope, op, std::move(operands), std::move(attributes), declared);
}

DType result_dtype(const Lexer& lexer, const Statement& statement) {
  if (statement.signature.results.size() == 1) return statement.signature.results[0].type.dtype;
  lexer.fail(statement.where, "an operation has a wrong number of results",
             std::to_string(statement.signature.results.size()), "1");
}

Values spell_get_dimension_size(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  const Dims& shape = scope.graph.type(statement.operands[0]).shape;
  const int64_t dimension = integer_named(statement.attributes, {"dimension", "dim"});
  if (dimension < 0 || dimension >= static_cast<int64_t>(shape.size())) {
    lexer.fail(statement.where, "the dimension is out of range", std::to_string(dimension));
  }
  const auto size = static_cast<double>(shape[static_cast<size_t>(dimension)]);
  return {emit_constant(scope, {DType::I32, {}}, element_bytes(DType::I32, size))};
}

Values spell_broadcast(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 2);
  for (const char* key : {"known_expanding_dimensions", "known_nonexpanding_dimensions"}) {
    statement.attributes.drop(key);
  }
  const BroadcastAttributes attributes{list_named(statement.attributes, {"broadcast_dimensions", "dims"})};
  const TensorType type{scope.graph.type(statement.operands[0]).dtype, known(lexer, statement, scope, 1)};
  return emit_with(lexer, statement, scope, Op::BroadcastInDim, {statement.operands[0]}, attributes, &type);
}

Values spell_iota(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 1);
  const IotaAttributes attributes{integer_named(statement.attributes, {"iota_dimension", "dim"})};
  const TensorType type{result_dtype(lexer, statement), known(lexer, statement, scope, 0)};
  return emit_with(lexer, statement, scope, Op::Iota, {}, attributes, &type);
}

Values spell_reshape(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 2);
  const TensorType type{scope.graph.type(statement.operands[0]).dtype, known(lexer, statement, scope, 1)};
  return emit_with(lexer, statement, scope, Op::Reshape, {statement.operands[0]}, {}, &type);
}

Values spell_real_dynamic_slice(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 4);
  const SliceAttributes attributes{known(lexer, statement, scope, 1), known(lexer, statement, scope, 2),
                                   known(lexer, statement, scope, 3)};
  return emit_with(lexer, statement, scope, Op::Slice, {statement.operands[0]}, attributes);
}

Values spell_pad(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 5);
  const PadAttributes attributes{known(lexer, statement, scope, 2), known(lexer, statement, scope, 3),
                                 known(lexer, statement, scope, 4)};
  return emit_with(lexer, statement, scope, Op::Pad, {statement.operands[0], statement.operands[1]}, attributes);
}

// As gather and convolution, with one attribute an operand: the operand's integers take the attribute's place.
Values spell_with_attribute(const Lexer& lexer, Statement& statement, Scope& scope, Op op, const char* key) {
  require_operands(lexer, statement, 3);
  AttributeValue value;
  value.integers = known(lexer, statement, scope, 2);
  statement.attributes.drop(key);
  statement.attributes.insert(Token{TokenKind::Word, key, statement.where.position}, std::move(value));
  statement.op = op;
  statement.operands.pop_back();
  Attributes attributes = make_attributes(lexer, statement);
  const TensorType declared{result_dtype(lexer, statement), {}};
  return emit_with(lexer, statement, scope, op, statement.operands, std::move(attributes), &declared);
}

Values spell_gather(const Lexer& lexer, Statement& statement, Scope& scope) {
  return spell_with_attribute(lexer, statement, scope, Op::Gather, "slice_sizes");
}

Values spell_convolution(const Lexer& lexer, Statement& statement, Scope& scope) {
  require_operands(lexer, statement, 3);
  // The pretty form keeps the rest of the window in one clause; padding goes there too.
  const Dims padding = known(lexer, statement, scope, 2);
  statement.op = Op::Convolution;
  statement.operands.pop_back();
  auto attributes = std::get<ConvolutionAttributes>(make_attributes(lexer, statement));
  for (size_t i = 0; i < attributes.padding_low.size() && 2 * i + 1 < padding.size(); ++i) {
    attributes.padding_low[i] = padding[2 * i];
    attributes.padding_high[i] = padding[2 * i + 1];
  }
  const TensorType declared{result_dtype(lexer, statement), {}};
  return emit_with(lexer, statement, scope, Op::Convolution, statement.operands, std::move(attributes), &declared);
}

struct Entry {
  std::string_view name;
  Spelling spelling;
};

constexpr std::array<Entry, 8> kSpellings{{
    {"stablehlo.dynamic_broadcast_in_dim", spell_broadcast},
    {"stablehlo.dynamic_conv", spell_convolution},
    {"stablehlo.dynamic_gather", spell_gather},
    {"stablehlo.dynamic_iota", spell_iota},
    {"stablehlo.dynamic_pad", spell_pad},
    {"stablehlo.dynamic_reshape", spell_reshape},
    {"stablehlo.get_dimension_size", spell_get_dimension_size},
    {"stablehlo.real_dynamic_slice", spell_real_dynamic_slice},
}};

}  // namespace

Spelling find_dynamic_spelling(std::string_view name) {
  const auto found =
      std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Entry& entry) { return entry.name == name; });
  return found != kSpellings.end() ? found->spelling : nullptr;
}

}  // namespace opentrn::ir::text
