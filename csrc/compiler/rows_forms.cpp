// Which primitive is which unit or function, for which types.
#include <array>

#include "compiler/rows_ops.h"
#include "ir/custom_calls.h"

namespace opentrn::compiler::rows {

namespace {

using ir::ComparisonDirection;
using ir::Op;
using neuroncore::ActivationFunction;
using neuroncore::AluOp;
using neuroncore::Engine;

bool is_wide_integer(DType dtype) { return is_integer(dtype) && size_of(dtype) >= 4; }

std::optional<AluOp> logical(Op op) {
  switch (op) {
    case Op::And:
    case Op::Multiply:
    case Op::Minimum: return AluOp::LogicalAnd;
    case Op::Or:
    case Op::Add:
    case Op::Maximum: return AluOp::LogicalOr;
    case Op::Xor: return AluOp::LogicalXor;
    default: return std::nullopt;
  }
}

std::optional<AluOp> bit_pattern(Op op) {
  switch (op) {
    case Op::And: return AluOp::BitwiseAnd;
    case Op::Or: return AluOp::BitwiseOr;
    case Op::Xor: return AluOp::BitwiseXor;
    case Op::ShiftLeft: return AluOp::ShiftLeft;
    case Op::ShiftRightLogical: return AluOp::LogicalShiftRight;
    default: return std::nullopt;
  }
}

std::optional<AluOp> arithmetic(Op op) {
  switch (op) {
    case Op::Add: return AluOp::Add;
    case Op::Subtract: return AluOp::Subtract;
    case Op::Multiply: return AluOp::Multiply;
    case Op::Maximum: return AluOp::Max;
    case Op::Minimum: return AluOp::Min;
    default: return std::nullopt;
  }
}

std::optional<AluOp> custom(Op op) {
  switch (op) {
    case Op::Divide: return AluOp::Divide;
    case Op::Power: return AluOp::Power;
    case Op::Remainder: return AluOp::Remainder;
    case Op::Atan2: return AluOp::Atan2;
    case Op::NextAfter: return AluOp::NextAfter;
    case Op::ShiftRightArithmetic: return AluOp::ArithmeticShiftRight;
    default: return std::nullopt;
  }
}

struct Row {
  Op op;
  ActivationFunction function;
  bool complex;  // defined for complex numbers
};

constexpr std::array kFunctions{
    Row{Op::Abs, ActivationFunction::Abs, true},
    Row{Op::Acos, ActivationFunction::Acos, true},
    Row{Op::Acosh, ActivationFunction::Acosh, true},
    Row{Op::Asin, ActivationFunction::Asin, true},
    Row{Op::Asinh, ActivationFunction::Asinh, true},
    Row{Op::Atan, ActivationFunction::Arctan, true},
    Row{Op::Atanh, ActivationFunction::Atanh, true},
    Row{Op::Cbrt, ActivationFunction::Cbrt, true},
    Row{Op::Ceil, ActivationFunction::Ceil, false},
    Row{Op::Cosh, ActivationFunction::Cosh, true},
    Row{Op::Cosine, ActivationFunction::Cosine, true},
    Row{Op::Digamma, ActivationFunction::Digamma, false},
    Row{Op::Erf, ActivationFunction::Erf, false},
    Row{Op::ErfInv, ActivationFunction::ErfInv, false},
    Row{Op::Erfc, ActivationFunction::Erfc, false},
    Row{Op::Exponential, ActivationFunction::Exp, true},
    Row{Op::ExponentialMinusOne, ActivationFunction::ExponentialMinusOne, true},
    Row{Op::Floor, ActivationFunction::Floor, false},
    Row{Op::IsFinite, ActivationFunction::IsFinite, false},
    Row{Op::Lgamma, ActivationFunction::Lgamma, false},
    Row{Op::Log, ActivationFunction::Log, true},
    Row{Op::LogPlusOne, ActivationFunction::LogPlusOne, true},
    Row{Op::Logistic, ActivationFunction::Sigmoid, true},
    Row{Op::RoundNearestAfz, ActivationFunction::RoundNearestAfz, false},
    Row{Op::RoundNearestEven, ActivationFunction::RoundNearestEven, false},
    Row{Op::Rsqrt, ActivationFunction::Rsqrt, true},
    Row{Op::Sign, ActivationFunction::Sign, true},
    Row{Op::Sine, ActivationFunction::Sine, true},
    Row{Op::Sinh, ActivationFunction::Sinh, true},
    Row{Op::Sqrt, ActivationFunction::Sqrt, true},
    Row{Op::Tan, ActivationFunction::Tan, true},
    Row{Op::Tanh, ActivationFunction::Tanh, true},
};

bool is_reducible(const ir::Graph& graph, const ir::Node& node) {
  const auto& attributes = node.as<ir::ReduceAttributes>();
  const DType dtype = graph.type(node.operands[0]).dtype;
  if (node.operands.size() != 2 || attributes.reducer == Op::Map || graph.type(node.results[0]).dtype != dtype) {
    return false;
  }
  return binary_unit(attributes.reducer, dtype).has_value();
}

bool converts(DType from, DType to) {
  const bool to_integer = is_integer(to) && (is_float(from) || is_complex(from));
  return !to_integer || (to != DType::U64 && !is_complex(from));
}

// Signed arithmetic on what may be unsigned memory has its own forms; all else is in the tables.
bool is_integer_function(Op op) {
  return op == Op::Abs || op == Op::Negate || op == Op::Not || op == Op::PopulationCount || op == Op::Sign;
}

bool unary_has_form(Op op, DType dtype) {
  if (op == Op::Not && is_bool(dtype)) return true;
  if (is_integer(dtype)) return is_integer_function(op);
  return op == Op::Negate || function_of(op, dtype).has_value();
}

}  // namespace

Engine exact_engine(DType dtype) { return is_wide_integer(dtype) ? Engine::GpSimd : Engine::Vector; }

std::optional<ActivationFunction> function_of(Op op, DType dtype) {
  for (const Row& row : kFunctions) {
    if (row.op == op && (row.complex || !is_complex(dtype))) return row.function;
  }
  return std::nullopt;
}

// The neighbour of a narrow float is not that of the float32 it is computed in.
std::optional<Unit> binary_unit(Op op, DType dtype) {
  if (is_bool(dtype)) {
    const auto found = logical(op);
    return found ? std::optional(Unit{*found, Engine::Vector}) : std::nullopt;
  }
  if (is_integer(dtype)) {
    if (const auto found = bit_pattern(op)) return Unit{*found, Engine::Vector};
  }
  if (op == Op::NextAfter && dtype != DType::F32 && dtype != DType::F64) return std::nullopt;
  if (is_complex(dtype) && (op == Op::Maximum || op == Op::Minimum)) return std::nullopt;
  if (const auto found = arithmetic(op)) {
    const bool exact = op == Op::Maximum || op == Op::Minimum ? is_wide_integer(dtype) : is_integer(dtype);
    return Unit{*found, exact ? Engine::GpSimd : Engine::Vector};
  }
  if (const auto found = custom(op)) return Unit{*found, Engine::GpSimd};
  return std::nullopt;
}

std::optional<Unit> comparison_unit(ComparisonDirection direction, DType dtype) {
  const Engine engine = exact_engine(dtype);
  switch (direction) {
    case ComparisonDirection::EQ: return Unit{AluOp::IsEqual, engine};
    case ComparisonDirection::NE: return Unit{AluOp::NotEqual, engine};
    case ComparisonDirection::GE: return Unit{AluOp::GreaterEqual, engine};
    case ComparisonDirection::GT: return Unit{AluOp::GreaterThan, engine};
    case ComparisonDirection::LE: return Unit{AluOp::LessEqual, engine};
    case ComparisonDirection::LT: return Unit{AluOp::LessThan, engine};
  }
  return std::nullopt;
}

bool has_tile_form(const ir::Graph& graph, const ir::Node& node) {
  if (node.results.size() != 1) return false;
  const DType result = graph.type(node.results[0]).dtype;
  if (node.op == Op::Iota) return is_integer(result) || is_float(result);
  if (node.op == Op::Reduce) return is_reducible(graph, node);
  if (node.op == Op::CustomCall) return node.as<ir::CustomCallAttributes>().target == ir::kCheckedIndex;
  if (!ir::is_elementwise(node.op) || node.operands.empty() || node.operands.size() > kMostOperands) return false;
  const DType dtype = graph.type(node.operands[0]).dtype;
  switch (node.op) {
    case Op::BitcastConvert: return false;
    case Op::Convert: return converts(dtype, result);
    case Op::Compare:
    case Op::Select:
    case Op::Complex:
    case Op::Real:
    case Op::Imag: return true;
    case Op::Clamp: return !is_complex(result);
    default: break;
  }
  return node.operands.size() == 1 ? unary_has_form(node.op, dtype) : binary_unit(node.op, dtype).has_value();
}

}  // namespace opentrn::compiler::rows
