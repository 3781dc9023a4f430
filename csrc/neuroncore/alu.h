// The operations of the engines' arithmetic units, and the function tables of the Scalar engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace opentrn::neuroncore {

/// Operations of tensor_tensor, tensor_scalar, scans and reductions, with NKI's names.
enum class AluOp : uint8_t {
  Bypass,
  // arithmetic
  Add,
  Subtract,
  Multiply,
  Max,
  Min,
  Power,
  IsEqual,
  NotEqual,
  GreaterEqual,
  GreaterThan,
  LessEqual,
  LessThan,
  LogicalAnd,
  LogicalOr,
  LogicalXor,
  Abs,
  Square,
  Relu,
  Rsqrt,
  Reciprocal,
  AbsMax,
  AbsMin,
  // bit patterns
  Invert,
  BitwiseAnd,
  BitwiseOr,
  BitwiseXor,
  ShiftLeft,
  LogicalShiftRight,
  // custom operators of the GpSimd cores: no other engine has a unit for them
  ArithmeticShiftRight,
  Divide,
  Remainder,
  Atan2,
  NextAfter,
};

/// Custom operators run on GpSimd only; their costs are estimates.
enum class AluClass : uint8_t { Arithmetic, Bitvec, Custom };

struct AluOpInfo {
  AluOp op;
  std::string_view name;  // NKI's, e.g. "is_equal"
  AluClass alu_class;
  int operands;  // 1 or 2
  bool reduces;  // may be the operation of a reduction
  bool commutes;
  std::string_view
      engines;         // those with a unit for it, as letters (opcode.h); GpSimd runs the others as custom operators
  int generation = 2;  // first NeuronCore-vN that has it
};

std::span<const AluOpInfo> alu_ops();
const AluOpInfo& info(AluOp op);
std::optional<AluOp> alu_op_from_name(std::string_view name);

/// Functions of `activation`. The first group is in the Scalar engine's tables, the second are custom operators of the
/// GpSimd cores (exact over all of the type, costs are estimates).
enum class ActivationFunction : uint8_t {
  Copy,
  Square,
  Sigmoid,
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  Tanh,
  Softplus,
  Erf,
  Exp,
  Log,
  Sin,
  Arctan,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Sign,
  Abs,
  // custom operators of the GpSimd cores
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atanh,
  Cbrt,
  Ceil,
  Cosh,
  Cosine,
  Digamma,
  ErfInv,
  Erfc,
  ExponentialMinusOne,
  Floor,
  IsFinite,
  Lgamma,
  LogPlusOne,
  PopulationCount,
  RoundNearestAfz,
  RoundNearestEven,
  Sine,  // any argument; the Scalar engine's Sin takes [-pi, pi]
  Sinh,
  Tan,
  TruncateToInt32,  // toward zero; NaN and what an int32 cannot hold give its smallest number
  TruncateToInt64,
};

struct ActivationInfo {
  ActivationFunction function;
  std::string_view name;
  bool custom;             // GpSimd instead of Scalar
  double lowest, highest;  // arguments for which the chip's table is specified; infinite when all are
};

std::span<const ActivationInfo> activation_functions();
const ActivationInfo& info(ActivationFunction function);
std::optional<ActivationFunction> activation_from_name(std::string_view name);

}  // namespace opentrn::neuroncore
