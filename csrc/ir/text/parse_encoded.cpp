// Values of types that the IR has none for: quantised numbers and integers of less than 8 bits. Operations on them are
// spelled with the types that hold them.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

using Values = std::vector<Value>;

/// Appends what one statement is spelled with.
class Speller {
 public:
  Speller(const Lexer& lexer, const Statement& statement, Scope& scope)
      : lexer_(lexer), statement_(statement), scope_(scope) {}

  // (integer - zero point) * scale
  Value dequantize(Value integers, const Quantization& quantization) {
    const TensorType real{quantization.expressed, scope_.graph.type(integers).shape};
    const Value number = make(Op::Convert, {integers}, &real);
    const Value centred = make(Op::Subtract, {number, zero_points(real, quantization)});
    return make(Op::Multiply, {centred, scales(real, quantization)});
  }

  // The nearest integer to real / scale + zero point within the bounds, the even one of two.
  Value quantize(Value real, const Quantization& quantization, DType held_in) {
    const TensorType type = scope_.graph.type(real);
    const Value scaled = make(Op::Divide, {real, scales(type, quantization)});
    const Value moved = make(Op::Add, {scaled, zero_points(type, quantization)});
    const Value low = splat(type.dtype, static_cast<double>(quantization.lowest));
    const Value high = splat(type.dtype, static_cast<double>(quantization.highest));
    const Value clamped = make(Op::Clamp, {low, moved, high});
    const Value rounded = make(Op::RoundNearestEven, {clamped});
    const TensorType integers{held_in, type.shape};
    const Value result = make(Op::Convert, {rounded}, &integers);
    scope_.quantizations[result.id] = quantization;
    return result;
  }

  // Drops what is beyond the lowest bits, and repeats the sign.
  Value wrap(Value value, int bits) {
    const TensorType type = scope_.graph.type(value);
    const Value shift = splat_like(type, static_cast<double>(8 - bits));
    const Value moved = make(Op::ShiftLeft, {value, shift});
    const bool is_signed = category(type.dtype) == Category::Signed;
    const Value result = make(is_signed ? Op::ShiftRightArithmetic : Op::ShiftRightLogical, {moved, shift});
    scope_.narrow_bits[result.id] = bits;
    return result;
  }

 private:
  Value make(Op op, Values operands, const TensorType* declared = nullptr) {
    return emit(lexer_, statement_.where, scope_, op, std::move(operands), {}, declared).front();
  }

  Value splat(DType dtype, double value) { return emit_constant(scope_, {dtype, {}}, element_bytes(dtype, value)); }

  Value splat_like(const TensorType& type, double value) {
    return emit_constant(scope_, type, normalised_data(type, element_bytes(type.dtype, value)));
  }

  // One number, or one for each index of the quantised dimension.
  template <typename Number>
  Value spread(const TensorType& type, const Quantization& quantization, const std::vector<Number>& numbers) {
    if (!quantization.dimension) return splat_like(type, static_cast<double>(numbers.front()));
    const int64_t dimension = *quantization.dimension;
    if (dimension < 0 || dimension >= type.rank() ||
        type.shape[static_cast<size_t>(dimension)] != static_cast<int64_t>(numbers.size())) {
      lexer_.fail(statement_.where, "the scales do not fit the quantised dimension", std::to_string(numbers.size()),
                  to_string(type));
    }
    const TensorType line{type.dtype, {static_cast<int64_t>(numbers.size())}};
    std::vector<std::byte> data;
    for (const Number number : numbers) {
      const std::vector<std::byte> element = element_bytes(type.dtype, static_cast<double>(number));
      data.insert(data.end(), element.begin(), element.end());
    }
    const Value constant = emit_constant(scope_, line, normalised_data(line, std::move(data)));
    return emit(lexer_, statement_.where, scope_, Op::BroadcastInDim, {constant}, BroadcastAttributes{{dimension}},
                &type)
        .front();
  }

  Value scales(const TensorType& type, const Quantization& quantization) {
    return spread(type, quantization, quantization.scales);
  }
  Value zero_points(const TensorType& type, const Quantization& quantization) {
    return spread(type, quantization, quantization.zero_points);
  }

  const Lexer& lexer_;
  const Statement& statement_;
  Scope& scope_;
};

// What an operation of 8 bits and one of fewer agree about, once the result is wrapped.
bool wraps_faithfully(const std::optional<Op>& op) {
  if (!op) return true;  // spelled with others
  switch (*op) {
    case Op::PopulationCount:
    case Op::CountLeadingZeros:
    case Op::BitcastConvert:
    case Op::ShiftRightLogical:
    case Op::RngBitGenerator: return false;
    default: return true;
  }
}

}  // namespace

bool is_encoded(const Statement& statement, const Scope& scope) {
  const auto encoded = [](const WrittenType& type) { return type.quantization || type.narrow_bits > 0; };
  const std::vector<WrittenType>& results = statement.signature.results;
  if (std::any_of(results.begin(), results.end(), encoded)) return true;
  return std::any_of(statement.operands.begin(), statement.operands.end(), [&](Value value) {
    return scope.quantizations.contains(value.id) || scope.narrow_bits.contains(value.id);
  });
}

std::vector<Value> append_encoded(const Lexer& lexer, Statement& statement, Scope& scope) {
  Speller speller(lexer, statement, scope);
  for (Value& operand : statement.operands) {
    const auto found = scope.quantizations.find(operand.id);
    if (found == scope.quantizations.end()) continue;
    const Quantization quantization = found->second;
    operand = speller.dequantize(operand, quantization);
  }
  const std::vector<WrittenType> written = statement.signature.results;
  bool narrow = false;
  for (WrittenType& type : statement.signature.results) {
    narrow = narrow || type.narrow_bits > 0;
    if (type.quantization) type.type.dtype = type.quantization->expressed;
  }
  for (const Value operand : statement.operands) narrow = narrow || scope.narrow_bits.contains(operand.id);
  if (narrow && !wraps_faithfully(statement.op)) {
    lexer.fail(statement.where, "the operation is not supported on integers of less than 8 bits", statement.name);
  }
  Values results = append_meaning(lexer, statement, scope);
  for (size_t i = 0; i < results.size() && i < written.size(); ++i) {
    if (written[i].quantization) {
      results[i] = speller.quantize(results[i], *written[i].quantization, written[i].type.dtype);
    } else if (written[i].narrow_bits > 0 && statement.op != Op::Constant) {
      results[i] = speller.wrap(results[i], written[i].narrow_bits);
    } else if (written[i].narrow_bits > 0) {
      scope.narrow_bits[results[i].id] = written[i].narrow_bits;
    }
  }
  statement.signature.results = written;
  return results;
}

}  // namespace opentrn::ir::text
