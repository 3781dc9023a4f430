#include "neuroncore/alu.h"

#include <array>
#include <limits>
#include <numbers>

namespace opentrn::neuroncore {

namespace {

constexpr AluClass kArithmetic = AluClass::Arithmetic;
constexpr AluClass kBitvec = AluClass::Bitvec;
constexpr AluClass kCustom = AluClass::Custom;

// AWS Neuron documentation, "NKI ISA: supported math operators": classes, engines, reductions; abs_max, abs_min, square
// and relu from NeuronCore-v4 ("Trainium3 Architecture Guide for NKI"). power and rsqrt have a unit on GpSimd alone.
constexpr std::array<AluOpInfo, 34> kOps{{
    // op, name, class, operands, reduces, commutes, engines, generation
    {AluOp::Bypass, "bypass", kArithmetic, 1, false, false, "VSG"},
    {AluOp::Add, "add", kArithmetic, 2, true, true, "VSG"},
    {AluOp::Subtract, "subtract", kArithmetic, 2, true, false, "VG"},
    {AluOp::Multiply, "multiply", kArithmetic, 2, true, true, "VSG"},
    {AluOp::Max, "max", kArithmetic, 2, true, true, "VG"},
    {AluOp::Min, "min", kArithmetic, 2, true, true, "VG"},
    {AluOp::Power, "power", kArithmetic, 2, false, false, "G"},
    {AluOp::IsEqual, "is_equal", kArithmetic, 2, false, true, "VG"},
    {AluOp::NotEqual, "not_equal", kArithmetic, 2, false, true, "VG"},
    {AluOp::GreaterEqual, "greater_equal", kArithmetic, 2, false, false, "VG"},
    {AluOp::GreaterThan, "greater_than", kArithmetic, 2, false, false, "VG"},
    {AluOp::LessEqual, "less_equal", kArithmetic, 2, false, false, "VG"},
    {AluOp::LessThan, "less_than", kArithmetic, 2, false, false, "VG"},
    {AluOp::LogicalAnd, "logical_and", kArithmetic, 2, true, true, "VG"},
    {AluOp::LogicalOr, "logical_or", kArithmetic, 2, true, true, "VG"},
    {AluOp::LogicalXor, "logical_xor", kArithmetic, 2, true, true, "VG"},
    {AluOp::Abs, "abs", kArithmetic, 1, false, false, "VG"},
    {AluOp::Square, "square", kArithmetic, 1, false, false, "VG", 4},
    {AluOp::Relu, "relu", kArithmetic, 1, false, false, "VG", 4},
    {AluOp::Rsqrt, "rsqrt", kArithmetic, 1, false, false, "G"},
    {AluOp::Reciprocal, "reciprocal", kArithmetic, 1, false, false, "VG"},
    {AluOp::AbsMax, "abs_max", kArithmetic, 2, true, true, "VG", 4},
    {AluOp::AbsMin, "abs_min", kArithmetic, 2, true, true, "VG", 4},
    {AluOp::Invert, "invert", kBitvec, 1, false, false, "VG"},
    {AluOp::BitwiseAnd, "bitwise_and", kBitvec, 2, true, true, "VG"},
    {AluOp::BitwiseOr, "bitwise_or", kBitvec, 2, true, true, "VG"},
    {AluOp::BitwiseXor, "bitwise_xor", kBitvec, 2, true, true, "VG"},
    {AluOp::ShiftLeft, "shift_left", kBitvec, 2, false, false, "VG"},
    {AluOp::LogicalShiftRight, "logical_shift_right", kBitvec, 2, false, false, "VG"},
    {AluOp::ArithmeticShiftRight, "arithmetic_shift_right", kCustom, 2, false, false, "G"},
    {AluOp::Divide, "divide", kCustom, 2, false, false, "G"},
    {AluOp::Remainder, "remainder", kCustom, 2, false, false, "G"},
    {AluOp::Atan2, "atan2", kCustom, 2, false, false, "G"},
    {AluOp::NextAfter, "next_after", kCustom, 2, false, false, "G"},
}};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

using F = ActivationFunction;

// AWS Neuron documentation, "NKI ISA: supported activation functions", with the ranges of their tables.
constexpr std::array<ActivationInfo, 44> kFunctions{{
    {F::Copy, "copy", false, -kInfinity, kInfinity},
    {F::Square, "square", false, -kInfinity, kInfinity},
    {F::Sigmoid, "sigmoid", false, -kInfinity, kInfinity},
    {F::Relu, "relu", false, -kInfinity, kInfinity},
    {F::Gelu, "gelu", false, -kInfinity, kInfinity},
    {F::GeluTanh, "gelu_apprx_tanh", false, -kInfinity, kInfinity},
    {F::Silu, "silu", false, -kInfinity, kInfinity},
    {F::Tanh, "tanh", false, -kInfinity, kInfinity},
    {F::Softplus, "softplus", false, -kInfinity, kInfinity},
    {F::Erf, "erf", false, -kInfinity, kInfinity},
    {F::Exp, "exp", false, -kInfinity, kInfinity},
    {F::Log, "log", false, 0x1p-64, 0x1p64},
    {F::Sin, "sin", false, -kPi, kPi},
    {F::Arctan, "arctan", false, -kPi / 2, kPi / 2},
    {F::Sqrt, "sqrt", false, 0x1p-116, 0x1p118},
    {F::Rsqrt, "rsqrt", false, 0x1p-87, 0x1p97},
    {F::Reciprocal, "reciprocal", false, -0x1p42, 0x1p42},  // and no closer to zero than 2^-42
    {F::Sign, "sign", false, -kInfinity, kInfinity},
    {F::Abs, "abs", false, -kInfinity, kInfinity},
    {F::Acos, "acos", true, -kInfinity, kInfinity},
    {F::Acosh, "acosh", true, -kInfinity, kInfinity},
    {F::Asin, "asin", true, -kInfinity, kInfinity},
    {F::Asinh, "asinh", true, -kInfinity, kInfinity},
    {F::Atanh, "atanh", true, -kInfinity, kInfinity},
    {F::Cbrt, "cbrt", true, -kInfinity, kInfinity},
    {F::Ceil, "ceil", true, -kInfinity, kInfinity},
    {F::Cosh, "cosh", true, -kInfinity, kInfinity},
    {F::Cosine, "cosine", true, -kInfinity, kInfinity},
    {F::Digamma, "digamma", true, -kInfinity, kInfinity},
    {F::ErfInv, "erf_inv", true, -kInfinity, kInfinity},
    {F::Erfc, "erfc", true, -kInfinity, kInfinity},
    {F::ExponentialMinusOne, "exponential_minus_one", true, -kInfinity, kInfinity},
    {F::Floor, "floor", true, -kInfinity, kInfinity},
    {F::IsFinite, "is_finite", true, -kInfinity, kInfinity},
    {F::Lgamma, "lgamma", true, -kInfinity, kInfinity},
    {F::LogPlusOne, "log_plus_one", true, -kInfinity, kInfinity},
    {F::PopulationCount, "popcnt", true, -kInfinity, kInfinity},
    {F::RoundNearestAfz, "round_nearest_afz", true, -kInfinity, kInfinity},
    {F::RoundNearestEven, "round_nearest_even", true, -kInfinity, kInfinity},
    {F::Sine, "sine", true, -kInfinity, kInfinity},
    {F::Sinh, "sinh", true, -kInfinity, kInfinity},
    {F::Tan, "tan", true, -kInfinity, kInfinity},
    {F::TruncateToInt32, "truncate_to_int32", true, -kInfinity, kInfinity},
    {F::TruncateToInt64, "truncate_to_int64", true, -kInfinity, kInfinity},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kOps.size(); ++i) {
    if (static_cast<size_t>(kOps[i].op) != i) return false;
  }
  for (size_t i = 0; i < kFunctions.size(); ++i) {
    if (static_cast<size_t>(kFunctions[i].function) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const AluOpInfo> alu_ops() { return kOps; }

const AluOpInfo& info(AluOp op) { return kOps[static_cast<size_t>(op)]; }

std::optional<AluOp> alu_op_from_name(std::string_view name) {
  for (const AluOpInfo& row : kOps) {
    if (row.name == name) return row.op;
  }
  return std::nullopt;
}

std::span<const ActivationInfo> activation_functions() { return kFunctions; }

const ActivationInfo& info(ActivationFunction function) { return kFunctions[static_cast<size_t>(function)]; }

std::optional<ActivationFunction> activation_from_name(std::string_view name) {
  for (const ActivationInfo& row : kFunctions) {
    if (row.name == name) return row.function;
  }
  return std::nullopt;
}

}  // namespace opentrn::neuroncore
