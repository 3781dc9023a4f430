// The operator catalogue: every primitive of the IR, with the facts that all layers share.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace opentrn::ir {

enum class Op {
  // element-wise, one operand
  Abs,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  BesselI1e,
  BitcastConvert,
  Cbrt,
  Ceil,
  Convert,
  Cosh,
  Cosine,
  CountLeadingZeros,
  Digamma,
  Erf,
  ErfInv,
  Erfc,
  Exponential,
  ExponentialMinusOne,
  Floor,
  Imag,
  IsFinite,
  Lgamma,
  Log,
  LogPlusOne,
  Logistic,
  Negate,
  Not,
  PopulationCount,
  Real,
  ReducePrecision,
  RoundNearestAfz,
  RoundNearestEven,
  Rsqrt,
  Sign,
  Sine,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
  // element-wise, two operands
  Add,
  And,
  Atan2,
  Compare,
  Complex,
  Divide,
  Maximum,
  Minimum,
  Multiply,
  NextAfter,
  Or,
  Power,
  Remainder,
  ShiftLeft,
  ShiftRightArithmetic,
  ShiftRightLogical,
  Subtract,
  Xor,
  // element-wise, three operands
  Clamp,
  Select,
  // making and moving data
  BroadcastInDim,
  Concatenate,
  Constant,
  DynamicSlice,
  DynamicUpdateSlice,
  Gather,
  Iota,
  Pad,
  Reshape,
  Reverse,
  Scatter,
  Slice,
  Transpose,
  // contractions, reductions, the rest
  Case,
  Cholesky,
  Convolution,
  CustomCall,
  DotGeneral,
  Fft,
  If,
  Map,
  Reduce,
  ReduceWindow,
  RngBitGenerator,
  SelectAndScatter,
  Sort,
  TriangularSolve,
  While,
};

enum class OpClass { Elementwise, Data, Compute };

struct OpInfo {
  Op op;
  std::string_view name;  // with its dialect: "stablehlo.add", "chlo.erf"
  int operands;           // -1: any number
  OpClass op_class;
};

/// All primitives in the order of the enumeration.
std::span<const OpInfo> catalogue();

const OpInfo& info(Op op);
inline std::string_view name(Op op) { return info(op).name; }
inline bool is_elementwise(Op op) { return info(op).op_class == OpClass::Elementwise; }

/// Finds a primitive by its full name, or nothing.
std::optional<Op> op_from_name(std::string_view name);

}  // namespace opentrn::ir
