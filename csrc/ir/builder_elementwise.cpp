#include "base/error.h"
#include "ir/builder.h"

namespace opentrn::ir {

namespace {

// Primitives that need more than their operands have methods of their own.
void require_plain(Op op, int operands) {
  const OpInfo& row = info(op);
  const bool plain = row.operands == operands && row.op_class == OpClass::Elementwise && op != Op::Compare &&
                     op != Op::Convert && op != Op::BitcastConvert;
  if (plain) return;
  raise(ErrorKind::Internal, {.where = std::string(row.name),
                              .what = concat("not a plain element-wise primitive of ", operands, " operands"),
                              .action = "use its own builder method"});
}

}  // namespace

Value Builder::unary(Op op, Value operand) {
  require_plain(op, 1);
  return append(op, {operand});
}

Value Builder::binary(Op op, Value lhs, Value rhs) {
  require_plain(op, 2);
  return append(op, {lhs, rhs});
}

Value Builder::compare(ComparisonDirection direction, Value x, Value y) {
  return append(Op::Compare, {x, y}, CompareAttributes{direction});
}

Value Builder::select(Value predicate, Value on_true, Value on_false) {
  return append(Op::Select, {predicate, on_true, on_false});
}

Value Builder::clamp(Value low, Value operand, Value high) { return append(Op::Clamp, {low, operand, high}); }

Value Builder::convert(Value operand, DType dtype) {
  if (type(operand).dtype == dtype) return operand;
  const TensorType declared{dtype, shape(operand)};
  return append(Op::Convert, {operand}, {}, &declared);
}

Value Builder::bitcast_convert(Value operand, DType dtype) {
  if (type(operand).dtype == dtype) return operand;
  const TensorType declared{dtype, {}};
  return append(Op::BitcastConvert, {operand}, {}, &declared);
}

Value Builder::is_nan(Value x) { return compare(ComparisonDirection::NE, x, x); }

}  // namespace opentrn::ir
